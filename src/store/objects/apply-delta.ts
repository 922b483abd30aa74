/** Git's deltas: an object as copies from another one and bytes of its own. @see gitformat-pack(5) */

/**
 * Apply a Git delta.
 * @param roomFor  gives the room for the object, of exactly so many bytes
 * @throws Error when it doesn't fit its base
 */
export function applyDelta(base: Buffer, delta: Buffer, roomFor: (bytes: number) => Buffer): Buffer {
  let at = 0;
  const next = () => {
    const byte = delta[at++];
    if (byte === undefined) throw new Error("a delta is cut short");
    return byte;
  };
  const size = () => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = next();
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  };
  if (size() !== base.length) throw new Error("a delta doesn't fit its base");
  const out = roomFor(size());
  let filled = 0;
  while (at < delta.length) {
    const op = next();
    if (op === 0) throw new Error("a delta holds a reserved instruction");
    const isCopy = op >= 128;
    let from = isCopy ? 0 : at;
    let length = isCopy ? 0 : op;
    if (isCopy) {
      for (let bit = 0; bit < 4; bit++) if (op & (1 << bit)) from += next() * 2 ** (8 * bit);
      for (let bit = 0; bit < 3; bit++) if (op & (16 << bit)) length += next() * 2 ** (8 * bit);
      length ||= 0x10000;
    } else at += op;
    const source = isCopy ? base : delta;
    if (from + length > source.length || filled + length > out.length)
      throw new Error("a delta reaches outside its base");
    if (isCopy) source.copy(out, filled, from, from + length);
    else for (let i = 0; i < length; i++) out[filled + i] = source[from + i] ?? 0;
    filled += length;
  }
  if (filled !== out.length) throw new Error("a delta made too few bytes");
  return out;
}
