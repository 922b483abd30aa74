/** The section under one heading of a body. What a heading is, is `markdown.ts`. */
import { NotesError } from "./errors.ts";
import { type Heading, headings } from "./markdown.ts";

interface Section {
  readonly heading: Heading;
  /** Where the next heading of its level or above starts; the end of the text when there is none. */
  readonly end: number;
}

/**
 * The section under the first heading with a text; signs before it (`## x`) ask for that level. Where no heading
 * has exactly that text, upper and lower case are not told apart.
 *
 * @throws NotesError INVALID_PARAMS no such heading; `data.headings` has those there are, each with its signs
 */
export function findSection(text: string, wanted: string): Section {
  const all = headings(text);
  const [, marks = "", words = ""] = /^(?:(#{1,6})\s+)?(.*?)\s*$/s.exec(wanted.trim()) ?? [];
  const fits = all.filter(({ level }) => marks === "" || level === marks.length);
  const heading =
    fits.find((one) => one.text === words) ??
    fits.find((one) => one.text.toLowerCase() === words.toLowerCase());
  if (heading === undefined) throw unknownHeading(all, wanted);
  const below = all.slice(all.indexOf(heading) + 1);
  return { heading, end: below.find(({ level }) => level <= heading.level)?.start ?? text.length };
}

function unknownHeading(all: readonly Heading[], wanted: string): NotesError {
  const known = all.map(({ level, text }) => `${"#".repeat(level)} ${text}`.slice(0, 200));
  const message = `there is no heading ${JSON.stringify(wanted.slice(0, 80))} in the note`;
  const advice =
    known.length === 0
      ? "It has no headings; leave heading out."
      : `It has: ${known.slice(0, 20).join(", ")}.`;
  return new NotesError("INVALID_PARAMS", `${message}. ${advice}`, {
    issues: [{ path: "heading", message }],
    headings: known.slice(0, 100),
  });
}
