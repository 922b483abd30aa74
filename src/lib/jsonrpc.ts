/**
 * JSON-RPC 2.0 as text: a frame in, its members out, and replies written. No sockets, no methods.
 * Invariant: an id is echoed exactly or refused; no frame, however deep or long, throws or overflows.
 *
 * @see https://www.jsonrpc.org/specification · spec: protocol, sections 1 and 5
 */
import { isDeeperThan } from "./json-walk.ts";

export type RequestId = string | number | null;

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** One member of a frame. `invalid` is answered with its error, whatever it was meant to be. */
export type Member =
  | { readonly kind: "request"; readonly id: RequestId; readonly method: string; readonly params: Params }
  | { readonly kind: "notification"; readonly method: string; readonly params: Params }
  | { readonly kind: "invalid"; readonly id: RequestId; readonly error: RpcError };

/** By name, by position, or absent (also when sent as null, as some clients do). */
export type Params = Readonly<Record<string, unknown>> | readonly unknown[] | undefined;

export interface Frame {
  /** True when the answers go into one array. */
  readonly batch: boolean;
  readonly members: readonly Member[];
}

const LIMITS = { batchMembers: 100, depth: 64, idChars: 256, methodChars: 256 } as const;

const invalidRequest = (message: string, id: RequestId = null): Member => ({
  kind: "invalid",
  id,
  error: { code: -32600, message, data: { code: "INVALID_REQUEST" } },
});

const alone = (member: Member): Frame => ({ batch: false, members: [member] });

/** Read one frame. Never throws: what is wrong comes back as `invalid` members. */
export function parseFrame(text: string): Frame {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    const error = { code: -32700, message: "The frame is not valid JSON.", data: { code: "PARSE_ERROR" } };
    return alone({ kind: "invalid", id: null, error });
  }
  if (!Array.isArray(value)) return alone(parseMember(value));
  if (value.length === 0)
    return alone(invalidRequest("A batch needs at least one member; this one is empty."));
  if (value.length > LIMITS.batchMembers) {
    return alone(
      invalidRequest(
        `A batch holds at most ${LIMITS.batchMembers} members; this one has ${value.length}. Send several.`,
      ),
    );
  }
  return { batch: true, members: value.map(parseMember) };
}

function parseMember(value: unknown): Member {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return invalidRequest("A request is a JSON object with jsonrpc, method, params and id.");
  }
  const own = (key: string): unknown =>
    Object.hasOwn(value, key) ? Object.getOwnPropertyDescriptor(value, key)?.value : undefined;
  const rawId = own("id");
  const idProblem = rawId === undefined ? null : problemOfId(rawId);
  if (idProblem !== null) return invalidRequest(idProblem);
  // Checked by problemOfId: a string, a safe number or null.
  const id = rawId as RequestId | undefined;
  const refuse = (message: string) => invalidRequest(message, id ?? null);

  if (own("jsonrpc") !== "2.0") return refuse('The member jsonrpc must be exactly "2.0".');
  const method = own("method");
  if (typeof method !== "string") return refuse("The member method must be a string.");
  if (method.length > LIMITS.methodChars) {
    return refuse(`A method name has at most ${LIMITS.methodChars} characters.`);
  }
  const params = own("params") ?? undefined;
  if (params !== undefined && typeof params !== "object") {
    return refuse("The member params must be an object or an array; leave it out when there are none.");
  }
  if (isDeeperThan(params, LIMITS.depth)) {
    return refuse(`Parameters nest at most ${LIMITS.depth} levels deep; these go deeper.`);
  }
  // JSON.parse makes nothing but records and arrays of what is an object.
  const given = params as Params;
  return id === undefined
    ? { kind: "notification", method, params: given }
    : { kind: "request", id, method, params: given };
}

function problemOfId(id: unknown): string | null {
  if (id === null) return null;
  if (typeof id === "string") {
    return id.length <= LIMITS.idChars ? null : `An id has at most ${LIMITS.idChars} characters.`;
  }
  if (typeof id !== "number") return "An id is a string, a number or null.";
  const exact = Number.isInteger(id) ? Number.isSafeInteger(id) : Number.isFinite(id);
  return exact ? null : "A numeric id lies within ±(2^53 - 1), or it can't be echoed exactly. Send a string.";
}

/** The text of a successful answer. `result` must be JSON; undefined becomes null. */
export function resultReply(id: RequestId, result: unknown): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${JSON.stringify(result ?? null)}}`;
}

/** The text of an answer that is an error. */
export function errorReply(id: RequestId, error: RpcError): string {
  return JSON.stringify({ jsonrpc: "2.0", id, error });
}

/** A message to the client that asks for no answer. */
export function notification(method: string, params: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({ jsonrpc: "2.0", method, params });
}
