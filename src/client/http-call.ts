/** One JSON-RPC call by HTTP POST, for callers that need a single answer and no socket. */
import { z } from "zod";
import { ERRORS, type ErrorCode, NotesError } from "../domain/errors.ts";

const Reply = z.object({
  result: z.unknown().optional(),
  error: z
    .object({ code: z.number(), message: z.string(), data: z.record(z.string(), z.unknown()).optional() })
    .optional(),
});

/** An error off the wire as the error it was. What has no code of ours is INTERNAL, with its number kept. */
export function errorFromWire(error: {
  code: number;
  message: string;
  data?: Record<string, unknown> | undefined;
}): NotesError {
  const { code, ...data } = error.data ?? {};
  const known = typeof code === "string" && Object.hasOwn(ERRORS, code);
  // Checked: the table has it.
  if (known) return new NotesError(code as ErrorCode, error.message, data);
  const byNumber = Object.entries(ERRORS).find(([, row]) => row.number === error.code)?.[0];
  // A key of the table.
  return new NotesError((byNumber ?? "INTERNAL") as ErrorCode, error.message, {
    ...data,
    number: error.code,
  });
}

/**
 * @param url `http://HOST:PORT`
 * @throws NotesError what the daemon answered, UNAUTHENTICATED and FORBIDDEN of the door among it
 */
export async function callOverHttp(
  url: string,
  token: string,
  method: string,
  params: Readonly<Record<string, unknown>>,
): Promise<unknown> {
  const response = await fetch(new URL("/rpc", url), {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    redirect: "error",
    signal: AbortSignal.timeout(60_000),
  });
  const text = await response.text();
  if (response.status === 401) {
    throw new NotesError("UNAUTHENTICATED", "The daemon doesn't know this token. Was it revoked?");
  }
  let reply: z.infer<typeof Reply>;
  try {
    reply = Reply.parse(JSON.parse(text));
  } catch (error) {
    const code = response.status === 403 ? "FORBIDDEN" : "INTERNAL";
    throw new NotesError(code, `The daemon answered HTTP ${response.status} and no JSON-RPC.`, {}, error);
  }
  if (reply.error) throw errorFromWire(reply.error);
  return reply.result;
}
