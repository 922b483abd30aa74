/**
 * The error of a call whose answer never came. It is no refusal off the wire: it says what is known, which is
 * whether the request left, and how the caller finds out the rest.
 */

/** What is known of a request without an answer: it never left, or it may have been carried out. */
export type Outcome = "not_sent" | "unknown";

interface Unanswered {
  readonly method: string;
  readonly outcome: Outcome;
  /** The key that the write was sent with; null: it has none. */
  readonly idempotencyKey: string | null;
  /** Whether sending it once more does what sending it once does. */
  readonly repeatable: boolean;
}

/** A connection was lost for too long, or ended. `outcome` tells whether the call may have taken effect. */
export class UnansweredError extends Error {
  override readonly name = "UnansweredError";
  readonly code = "UNANSWERED";
  readonly method: string;
  readonly outcome: Outcome;
  /**
   * The same method with the same parameters and this `idempotency_key` takes effect once, however often it is
   * sent, also by another process: its answer tells what became of the first.
   */
  readonly idempotencyKey: string | null;

  /** @param why  a sentence's middle: `the client was closed` */
  constructor(call: Unanswered, why: string, cause?: unknown) {
    super(
      `${call.method} was not answered: ${why}. ${adviceFor(call)}`,
      cause === undefined ? {} : { cause },
    );
    this.method = call.method;
    this.outcome = call.outcome;
    this.idempotencyKey = call.idempotencyKey;
  }
}

function adviceFor({ outcome, idempotencyKey, repeatable }: Unanswered): string {
  if (outcome === "not_sent") return "It was never sent, so nothing was done.";
  if (idempotencyKey !== null) {
    return `Whether it took effect is unknown: send it again with idempotency_key ${JSON.stringify(idempotencyKey)} and the same parameters, which takes effect once.`;
  }
  return repeatable
    ? "It may be sent again as it is."
    : "It may have taken effect: look before you send it again.";
}
