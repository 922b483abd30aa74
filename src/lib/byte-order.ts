/** The order of Git and of the digest: strings by their UTF-8 bytes. JavaScript's own order differs above U+FFFF. */

/** Compare as UTF-8 bytes. */
export function byBytes(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    // Surrogates stand for what is above U+FFFF: last in UTF-8, but before U+E000 as UTF-16 units.
    if (x !== y) return rank(x) - rank(y);
  }
  return a.length - b.length;
}

function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
