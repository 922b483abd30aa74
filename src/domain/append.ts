/** Appending to a body: at its end, or at the end of one heading's section. Line ends follow the body's. */

import { inStyleOf } from "./note-text.ts";
import { findSection } from "./section.ts";

/**
 * A body with text appended on lines of its own.
 *
 * @param heading  a heading's text, with or without its `#`s; null: the end of the body
 * @throws NotesError INVALID_PARAMS  no such heading; `data.headings` has those there are
 */
export function appendTo(
  body: string,
  content: string,
  heading: string | null,
  fileEol: "\n" | "\r\n",
): string {
  const eol = inStyleOf(body, "\n", fileEol);
  const text = inStyleOf(body, content, fileEol);
  if (heading === null) return body + (body === "" || body.endsWith("\n") ? "" : eol) + text;
  const { heading: found, end } = findSection(body, heading);
  const last = lastTextEnd(body, found.end, end);
  const [before, after] = [body.slice(0, last), body.slice(last)];
  const ended = before.endsWith("\n") ? before : before + eol;
  // Under a heading with nothing below it, a blank line comes first, as people write it.
  const gap = last === found.end ? eol : "";
  if (after.trim() === "" && end === body.length) return ended + gap + text;
  const closed = text.endsWith("\n") ? text : text + eol;
  return ended + gap + closed + after.replace(/^\r?\n/, (blank) => (before.endsWith("\n") ? blank : ""));
}

/** Just after the last line of a stretch that isn't blank, its line end left out; its start when all are blank. */
function lastTextEnd(body: string, start: number, end: number): number {
  let last = end;
  while (last > start) {
    const lineStart = Math.max(start, body.lastIndexOf("\n", last - 1) + 1);
    if (body.slice(lineStart, last).trim() !== "") return last;
    if (lineStart === start) return start;
    last = lineStart - 1;
    if (body[last - 1] === "\r") last--;
  }
  return start;
}
