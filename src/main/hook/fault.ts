/** What a push is refused for, as its pusher reads it in the terminal. */

export interface Fault {
  /** A file, with `:line` where one is to blame, or a ref. */
  readonly where: string;
  readonly what: string;
  /** What to do, as an imperative. */
  readonly remedy: string;
}

const MOST = 20;

/** The refusal: each fault with its place and remedy, remedies that are the same once. */
export function refusalOf(faults: readonly Fault[]): string {
  const lines = ["notesd refused this push; nothing was changed."];
  const shown = faults.slice(0, MOST);
  for (const [i, { where, what, remedy }] of shown.entries()) {
    lines.push(`  ${plain(where)}: ${plain(what)}`);
    if (shown[i + 1]?.remedy !== remedy) lines.push(`      ${plain(remedy)}`);
  }
  if (faults.length > MOST) lines.push(`  and ${faults.length - MOST} more`);
  return `${lines.join("\n")}\n`;
}

/** Names come from the pusher, and go to a terminal. */
const plain = (text: string) => text.replace(/[\p{Cc}\p{Cf}]/gu, (char) => JSON.stringify(char).slice(1, -1));
