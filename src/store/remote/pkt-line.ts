/** Lines of Git's protocol: four hex digits of length before each. @see gitprotocol-common(5) */

export const FLUSH = "0000";

/** One line as bytes. */
export function pktLine(text: string | Uint8Array): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, "0")), bytes]);
}

/**
 * Lines in a whole answer; null: a flush.
 * @throws Error what is no line
 */
export function* pktLines(bytes: Buffer): Generator<Buffer | null> {
  for (let at = 0; at < bytes.length; ) {
    const digits = bytes.toString("latin1", at, at + 4);
    const length = /^[0-9a-f]{4}$/i.test(digits) ? Number.parseInt(digits, 16) : Number.NaN;
    if (Number.isNaN(length) || at + length > bytes.length)
      throw new Error("the answer is cut short, or no Git protocol");
    if (length < 4) {
      yield null;
      at += 4;
      continue;
    }
    yield bytes.subarray(at + 4, at + length);
    at += length;
  }
}
