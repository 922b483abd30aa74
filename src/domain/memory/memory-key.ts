/**
 * What a memory may be called: its key, and the thread or person that it is about. Which path and id follow from
 * them is `note-path.ts` and `identity.ts`. Invariant: what passes here is NFC, one line, and has a path of its own.
 */
import type { MemoryKey } from "../identity.ts";
import type { Scope } from "../note.ts";
import { checkLine, refuseParam } from "../plan-values.ts";

/** Longest key and longest ref, in characters; a path holds a part of a long one, the file all of it. */
export const NAME_MAX_CHARS = 512;
/** Keys that begin so are the program's own: callers neither save nor see them. */
export const RESERVED = "__";
/** Rules of behaviour, kept apart from facts, are memory under keys that begin so. */
export const FEEDBACK = "__feedback__";

/** Whether callers never see a key. */
export const isReservedKey = (key: string): boolean => key.startsWith(RESERVED);

/** Whether a scope is of one thread or person, which must be named. */
const hasRef = (scope: Scope): boolean => scope === "thread" || scope === "person";

/**
 * The four names of a memory, in NFC.
 * @throws NotesError INVALID_PARAMS  a blank, too long or broken name, a ref that is missing or in the way
 */
export function checkMemoryKey({ scope, ref, agent, key }: MemoryKey): MemoryKey {
  const isRule = key.startsWith(FEEDBACK);
  if (isReservedKey(key) && !isRule) {
    throw refuseParam("key", `begins with ${RESERVED}, which is reserved`, "Choose another key.");
  }
  const own = checkName("key", isRule ? key.slice(FEEDBACK.length) : key);
  return {
    scope,
    key: isRule ? `${FEEDBACK}${own}` : own,
    ref: checkRef(scope, ref),
    agent: scope === "workspace" ? null : agent,
  };
}

function checkRef(scope: Scope, ref: string | null): string | null {
  if (!hasRef(scope)) {
    if (ref === null) return null;
    throw refuseParam(
      "scope_ref_id",
      `is for the scopes thread and person, not for ${scope}`,
      "Leave it out, or choose one of these scopes.",
    );
  }
  if (ref !== null) return checkName("scope_ref_id", ref);
  throw refuseParam(
    "scope_ref_id",
    `is needed for the scope ${scope}`,
    `Name the ${scope} that this is about.`,
  );
}

function checkName(path: string, text: string): string {
  const advice = `Give 1 to ${NAME_MAX_CHARS} characters on one line.`;
  if (text.trim() === "") throw refuseParam(path, "is empty", advice);
  if (Array.from(text).length > NAME_MAX_CHARS)
    throw refuseParam(path, `is longer than ${NAME_MAX_CHARS} characters`, advice);
  checkLine(path, text, advice);
  return text.normalize("NFC");
}
