/**
 * Conflict markers that somebody committed: what Git leaves in a file when a merge needs a person. Pure.
 * A note that only talks about markers (in a code fence, indented, or fewer than all three) has none.
 */

const OURS = /^<{7}(?: |$)/;
const MIDDLE = /^={7}$/;
const THEIRS = /^>{7}(?: |$)/;
/** A fence opens with at least three of one character, indented by at most three spaces. */
const FENCE = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/;

/**
 * The 1-based line of the first complete set of markers (ours, middle, theirs in this order, at column 0,
 * outside of code fences), or null.
 * @cost one pass over the lines
 */
export function conflictMarkers(text: string): number | null {
  if (!text.includes("<<<<<<<")) return null;
  let fence: string | null = null;
  let oursAt: number | null = null;
  let middle = false;
  for (const [i, raw] of text.split("\n").entries()) {
    const line = raw.replace(/\r$/, "");
    if (fence !== null) {
      if (closes(line, fence)) fence = null;
      continue;
    }
    if (OURS.test(line)) [oursAt, middle] = [i + 1, false];
    else if (MIDDLE.test(line)) middle = oursAt !== null;
    else if (THEIRS.test(line) && middle) return oursAt;
    // Between markers a fence may open on one side and close on the other: it hides nothing there.
    else if (oursAt === null) fence = FENCE.exec(line)?.[1] ?? null;
  }
  return null;
}

function closes(line: string, fence: string): boolean {
  const text = line.trim();
  return (
    text.length >= fence.length && text === (fence[0] ?? "").repeat(text.length) && /^ {0,3}\S/.test(line)
  );
}
