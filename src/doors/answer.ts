/**
 * One member of a frame, answered: what HTTP and WebSocket share. Errors become what the wire may show,
 * and every answer stays under 1,000,000 bytes.
 */
import { randomBytes } from "node:crypto";
import type { Registry } from "../actions/action.ts";
import { type CallContext, invoke } from "../actions/invoke.ts";
import { ERRORS, NotesError } from "../domain/errors.ts";
import {
  errorReply,
  type Frame,
  type Member,
  type RequestId,
  type RpcError,
  resultReply,
} from "../lib/jsonrpc.ts";
import { errorFields, type Log } from "../lib/log.ts";

/** Bytes that an answer must stay under, envelope included. */
const ANSWER_BYTES = 1_000_000;

export interface AnswerOptions {
  readonly registry: Registry;
  readonly log: Log;
  /** A short text that ties an INTERNAL error to its log entry. */
  readonly newRef?: () => string;
}

/** Carry out one member. @returns the reply's text, or null for a notification; never throws */
export async function answer(
  member: Member,
  context: CallContext,
  options: AnswerOptions,
): Promise<string | null> {
  if (member.kind === "invalid") return errorReply(member.id, member.error);
  const { method, params } = member;
  try {
    const result = await invoke(options.registry, { method, params }, context);
    if (member.kind === "notification") return null;
    const reply = resultReply(member.id, result);
    if (Buffer.byteLength(reply) < ANSWER_BYTES) return reply;
    throw new NotesError(
      "TOO_LARGE",
      "The answer is over 1,000,000 bytes. Ask for less: a smaller limit, or a part.",
    );
  } catch (error) {
    const shown = rpcError(error, method, options);
    if (member.kind === "request") return boundedError(member.id, shown);
    options.log.info("a notification failed", { method: method.slice(0, 80), code: shown.code });
    return null;
  }
}

/** What the wire may show of an error. What is no refusal of ours is logged, and only its reference shown. */
function rpcError(error: unknown, method: string, { log, newRef = randomRef }: AnswerOptions): RpcError {
  if (error instanceof NotesError && error.code !== "INTERNAL") {
    return {
      code: ERRORS[error.code].number,
      message: error.message,
      data: { code: error.code, ...error.data },
    };
  }
  const ref = newRef();
  log.error("an action failed", { ref, method: method.slice(0, 80), ...errorFields(error) });
  return {
    code: ERRORS.INTERNAL.number,
    message: `Something went wrong here that is not your request's fault; the daemon's log has it under ${ref}.`,
    data: { code: "INTERNAL", ref },
  };
}

const randomRef = () => randomBytes(6).toString("hex");

/** An error reply under the limit: its largest data members give way first, and `data.truncated` says so. */
function boundedError(id: RequestId, error: RpcError): string {
  const data: Record<string, unknown> = { ...error.data };
  for (;;) {
    const reply = errorReply(id, { ...error, data });
    if (Buffer.byteLength(reply) < ANSWER_BYTES) return reply;
    const size = (name: string) => JSON.stringify(data[name])?.length ?? 0;
    const largest = Object.keys(data)
      .filter((name) => name !== "code" && name !== "truncated")
      .sort((a, b) => size(b) - size(a))[0];
    if (largest === undefined)
      return errorReply(id, {
        ...error,
        message: error.message.slice(0, 1000),
        data: { code: data["code"] },
      });
    delete data[largest];
    data["truncated"] = true;
  }
}

/**
 * Answer a whole frame, each member by `one`.
 *
 * @returns the text to send, or null when nothing is to be said
 */
export async function answerFrame(
  frame: Frame,
  one: (member: Member) => Promise<string | null>,
): Promise<string | null> {
  let kept = 0;
  const replies = await Promise.all(
    frame.members.map(async (member) => {
      const id = member.kind === "notification" ? null : member.id;
      const text = await one(member);
      // What can't fit any more is let go at once: a hundred large answers are not held together.
      if (text === null || !frame.batch || text.length <= SMALL_BYTES) return { id, text };
      kept += text.length;
      return { id, text: kept > ANSWER_BYTES ? errorReply(id, DOES_NOT_FIT) : text };
    }),
  );
  const said = replies.flatMap(({ id, text }) => (text === null ? [] : [{ id, text }]));
  const [only] = said;
  if (only === undefined) return null;
  return frame.batch ? joinBatch(said) : only.text;
}

/**
 * Put the answers of a batch together, in order, under the limit: small ones always fit, and a large one
 * that doesn't is answered by an error that asks to send it alone.
 */
function joinBatch(replies: readonly { readonly id: RequestId; readonly text: string }[]): string {
  const sized = replies.map((reply) => ({ ...reply, bytes: Buffer.byteLength(reply.text) + 1 }));
  const reserved = ({ bytes }: { bytes: number }) => (bytes <= SMALL_BYTES ? bytes : REFUSED_BYTES);
  let left = ANSWER_BYTES - 3;
  for (const reply of sized) left -= reserved(reply);
  const texts = sized.map((reply) => {
    const more = reply.bytes - reserved(reply);
    if (more > left) return errorReply(reply.id, DOES_NOT_FIT);
    left -= more;
    return reply.text;
  });
  return `[${texts.join(",")}]`;
}

/** 100 members of this size fit into one answer; so every write is answered. */
const SMALL_BYTES = 8_000;
/** DOES_NOT_FIT with the longest id. */
const REFUSED_BYTES = 2_000;
const DOES_NOT_FIT = {
  code: ERRORS.TOO_LARGE.number,
  message: "This answer doesn't fit into the batch's 1,000,000 bytes. Send the request alone.",
  data: { code: "TOO_LARGE" },
} as const;
