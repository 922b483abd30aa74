/** Bytes written one after the other into a buffer that grows. What they mean is the caller's to know. */

export interface ByteWriter {
  /** Bytes written so far: where the next one goes. */
  readonly length: number;
  byte(value: number): void;
  bytes(content: Uint8Array): void;
  /** Big endian. */
  uint32(value: number): void;
  /** What was written from `from` on. A view: the next write may leave it behind. */
  since(from: number): Buffer;
  /** Everything written, as a view that may be written into. */
  all(): Buffer;
}

/** @param capacity bytes to begin with */
export function byteWriter(capacity: number): ByteWriter {
  let buffer = Buffer.allocUnsafe(capacity);
  let length = 0;
  const reserve = (more: number) => {
    if (length + more <= buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(buffer.length * 2, length + more));
    buffer.copy(larger, 0, 0, length);
    buffer = larger;
  };
  return {
    get length() {
      return length;
    },
    byte(value) {
      reserve(1);
      buffer[length++] = value;
    },
    bytes(content) {
      reserve(content.length);
      buffer.set(content, length);
      length += content.length;
    },
    uint32(value) {
      reserve(4);
      length = buffer.writeUInt32BE(value, length);
    },
    since: (from) => buffer.subarray(from, length),
    all: () => buffer.subarray(0, length),
  };
}
