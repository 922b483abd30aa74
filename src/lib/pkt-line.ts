/** Git's pkt-line framing: four hex digits of length, themselves included, then the payload; `0000` is a flush. */

/** One packet; null: a flush. */
export type Packet = string | null;

/** A packet of a line of text, its LF added. */
export function pktLine(text: string): string {
  const payload = `${text}\n`;
  return (Buffer.byteLength(payload) + 4).toString(16).padStart(4, "0") + payload;
}

export const FLUSH = "0000";

/**
 * The packets of a stream, as they come; a last LF of each is left out.
 * @throws SyntaxError what is no pkt-line
 * @see gitprotocol-common(5)
 */
export async function* readPackets(stream: AsyncIterable<unknown>): AsyncGenerator<Packet> {
  let bytes = Buffer.alloc(0);
  for await (const chunk of stream) {
    // Without an encoding set, chunks are buffers.
    bytes = Buffer.concat([bytes, chunk as Buffer]);
    for (;;) {
      if (bytes.length < 4) break;
      const digits = bytes.toString("latin1", 0, 4);
      const length = Number.parseInt(digits, 16);
      if (!/^[0-9a-f]{4}$/i.test(digits) || (length > 0 && length < 4))
        throw new SyntaxError(`${JSON.stringify(digits)} is no length of a pkt-line`);
      if (bytes.length < Math.max(4, length)) break;
      yield length === 0 ? null : bytes.toString("utf8", 4, length).replace(/\n$/, "");
      bytes = bytes.subarray(Math.max(4, length));
    }
  }
}
