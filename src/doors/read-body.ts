/** A request's body as text, with a bound on its size and on the time that it takes. */
import type { IncomingMessage } from "node:http";

const WITHIN_MS = 300_000;

/** The body as text; bytes that are no UTF-8 make it no JSON either. */
export async function readBody(
  request: IncomingMessage,
  maxBytes: number,
): Promise<{ text: string } | "too large" | "broken"> {
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) return "too large";
  const chunks: Buffer[] = [];
  let bytes = 0;
  const late = setTimeout(() => request.destroy(), WITHIN_MS).unref();
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      // Without an encoding set, a request's chunks are buffers.
      chunks.push(chunk as Buffer);
      bytes += (chunk as Buffer).length;
      if (bytes > maxBytes) return "too large";
    }
  } catch {
    // The client went away in the middle; there is nobody to answer.
    return "broken";
  } finally {
    clearTimeout(late);
  }
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks)) };
  } catch {
    return { text: "" };
  }
}
