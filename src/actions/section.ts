/** The section under one heading of a Markdown text. What a heading is, is the domain's. */
import { headings } from "../domain/markdown.ts";

/**
 * The section under a heading, its heading line included, up to the next heading of its level or higher.
 *
 * @param wanted  the heading's text; leading `#` signs, if given, ask for that level
 * @returns null when there is no such heading; the first when there are several
 */
export function sectionOf(markdown: string, wanted: string): string | null {
  const asked = /^(#{1,6})[ \t]+(.*)$/.exec(wanted.trim());
  const text = (asked?.[2] ?? wanted).trim();
  const all = headings(markdown);
  const index = all.findIndex(
    (heading) => heading.text === text && (asked === null || heading.level === asked[1]?.length),
  );
  const heading = all[index];
  if (heading === undefined) return null;
  const next = all.slice(index + 1).find((other) => other.level <= heading.level);
  return markdown.slice(heading.start, next?.start ?? markdown.length);
}
