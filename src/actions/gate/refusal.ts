/** A request that was refused, as the log has it: who, what, why in one word; no content, parameter or token. */
import { type ErrorCode, NotesError } from "../../domain/errors.ts";
import { principalKey } from "../../domain/identity.ts";
import type { Principal } from "../../domain/principal.ts";

export interface Refusal {
  /** `agent:<folded name>` or `person:<email>`. */
  readonly principal: string;
  /** The method, or what was asked of another door: `git push`. */
  readonly action: string;
  readonly code: ErrorCode;
  /** One word of ours, e.g. `read_only`; null: the code says it all. */
  readonly reason: string | null;
}

/** Refusals of somebody or of what they bring; other errors are answers. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set([
  "UNAUTHENTICATED",
  "FORBIDDEN",
  "OVERLOADED",
  "SECRET_REFUSED",
]);

/** What the log has of an error of an action; null: it is no refusal. */
export function refusalOf(error: unknown, principal: Principal, action: string): Refusal | null {
  if (!(error instanceof NotesError) || !REFUSALS.has(error.code)) return null;
  const { reason } = error.data;
  const kind = typeof reason === "string" && /^[a-z_]{1,40}$/.test(reason) ? reason : null;
  return { principal: principalKey(principal), action, code: error.code, reason: kind };
}
