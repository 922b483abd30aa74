/**
 * Keeps answers under 1,000,000 bytes, envelope included: pages end early, long texts are cut.
 * A common client closes the socket at 2^20 bytes, so an answer over it would be lost and its socket with it.
 */

/** Bytes that an action's own result may take; the rest is for the envelope and the action's other members. */
export const RESULT_BYTES = 900_000;

/** Bytes of a value's JSON. */
export const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? "");

/** How many of the leading rows fit into `maxBytes` of JSON; at least one when there are any. */
export function rowsThatFit(rows: readonly unknown[], maxBytes: number = RESULT_BYTES): number {
  let bytes = 0;
  for (const [index, row] of rows.entries()) {
    bytes += jsonBytes(row) + 1;
    if (bytes > maxBytes) return Math.max(1, index);
  }
  return rows.length;
}

/** The first `most` characters (code points) of a text. */
export function cutCharacters(text: string, most: number): { text: string; cut: boolean } {
  if (text.length <= most) return { text, cut: false };
  const head = [...text.slice(0, most * 2)].slice(0, most).join("");
  return { text: head, cut: head.length < text.length };
}

/** The longest beginning of a text whose JSON takes at most `maxBytes`; no surrogate pair is split. */
export function cutJsonBytes(text: string, maxBytes: number): { text: string; cut: boolean } {
  if (text.length * 6 + 2 <= maxBytes || jsonBytes(text) <= maxBytes) return { text, cut: false };
  let fits = 0;
  let tooLong = Math.min(text.length, maxBytes);
  while (tooLong - fits > 1) {
    const middle = (fits + tooLong) >> 1;
    if (jsonBytes(text.slice(0, middle)) <= maxBytes) fits = middle;
    else tooLong = middle;
  }
  const code = text.charCodeAt(fits - 1);
  return { text: text.slice(0, code >= 0xd800 && code <= 0xdbff ? fits - 1 : fits), cut: true };
}
