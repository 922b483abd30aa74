/** Git's pkt-line framing: four hex digits of length, themselves included, then the payload; `0000` is a flush. */

/** One packet; null: a flush. */
export type Packet = string | null;

/** A packet of a text as it is. */
export const pktText = (payload: string): string =>
  (Buffer.byteLength(payload) + 4).toString(16).padStart(4, "0") + payload;

/** A packet of a line of text, its LF added. */
export const pktLine = (text: string): string => pktText(`${text}\n`);

export const FLUSH = "0000";

/**
 * The payloads of a stream, as they come; null: a flush.
 * @throws SyntaxError what is no pkt-line, or is cut short
 * @see gitprotocol-common(5)
 */
export async function* readPayloads(
  stream: AsyncIterable<unknown> | Iterable<unknown>,
): AsyncGenerator<Buffer | null> {
  let bytes = Buffer.alloc(0);
  for await (const chunk of stream) {
    // Without an encoding set, chunks are bytes.
    bytes =
      bytes.length === 0 ? Buffer.from(chunk as Uint8Array) : Buffer.concat([bytes, chunk as Uint8Array]);
    for (;;) {
      if (bytes.length < 4) break;
      const digits = bytes.toString("latin1", 0, 4);
      const length = Number.parseInt(digits, 16);
      if (!/^[0-9a-f]{4}$/i.test(digits) || (length > 0 && length < 4))
        throw new SyntaxError(`${JSON.stringify(digits)} is no length of a pkt-line`);
      if (bytes.length < Math.max(4, length)) break;
      yield length === 0 ? null : bytes.subarray(4, length);
      bytes = bytes.subarray(Math.max(4, length));
    }
  }
  if (bytes.length > 0) throw new SyntaxError("a pkt-line is cut short");
}

/**
 * The packets of a stream, as they come; a last LF of each is left out.
 * @throws SyntaxError what is no pkt-line, or is cut short
 */
export async function* readPackets(
  stream: AsyncIterable<unknown> | Iterable<unknown>,
): AsyncGenerator<Packet> {
  for await (const payload of readPayloads(stream))
    yield payload === null ? null : payload.toString("utf8").replace(/\n$/, "");
}
