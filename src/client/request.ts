/** A request on its way: its frame, what is known of it, and the error that it ends in without an answer. */
import { NotesError } from "../domain/errors.ts";
import { type Outcome, UnansweredError } from "./unanswered.ts";

export interface Request {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Whether it may be sent again when the answer was lost. */
  readonly resendable: boolean;
  /** Sent while the link is being opened, before others. */
  readonly first?: boolean;
  /** Called with the result before any later message is looked at. */
  readonly settled?: (result: unknown) => void;
}

export interface Pending extends Request {
  readonly id: number;
  /** The frame. */
  readonly text: string;
  /** Sent on the connection that there is. */
  sent: boolean;
  /** Sent on some connection, so the daemon may have it. */
  left: boolean;
  /** When it stops waiting for a connection, by the clock; null: it never had to. */
  untilMs: number | null;
  stopWaiting(): void;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** What the daemon takes in one frame; a larger one would cost the connection, each time anew. */
const FRAME_BYTES = 1 << 20;

/** The frame of a request. @throws NotesError TOO_LARGE */
export function frameOf(id: number, { method, params }: Request): string {
  const text = JSON.stringify({ jsonrpc: "2.0", id, method, params });
  const bytes = Buffer.byteLength(text);
  if (bytes <= FRAME_BYTES) return text;
  throw new NotesError(
    "TOO_LARGE",
    `${method} has ${bytes} bytes as a request, and the daemon takes ${FRAME_BYTES} in one. Send it in parts.`,
    { bytes, limit: FRAME_BYTES },
  );
}

/** Whether nobody can tell if it was carried out: it was sent, and it writes or can't be sent again. */
export const mayHaveTakenEffect = ({ left, resendable, params }: Pending): boolean =>
  left && (!resendable || params["idempotency_key"] !== undefined);

/** What a request without an answer is rejected with. @param why as `UnansweredError` has it */
export function unanswered(wish: Request, outcome: Outcome, why: string, cause?: unknown): UnansweredError {
  const key = wish.params["idempotency_key"];
  const idempotencyKey = typeof key === "string" ? key : null;
  const { method, resendable: repeatable } = wish;
  return new UnansweredError({ method, outcome, idempotencyKey, repeatable }, why, cause);
}

/** A link was closed because its owner wanted it. */
export class ClosedByCaller extends Error {}

/** What a request is rejected with that comes after the end of its link. */
export const refusedBy = (closed: Error, wish: Request): Error =>
  closed instanceof ClosedByCaller ? unanswered(wish, "not_sent", CLOSED) : closed;

export const CLOSED = "the client was closed";
