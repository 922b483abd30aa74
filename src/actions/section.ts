/**
 * Headings of a Markdown text and the section under one. Knows ATX headings and code fences, since a `#`
 * inside a fence is code; setext headings (underlined) count as text.
 */

export interface Heading {
  /** 1..6. */
  readonly level: number;
  readonly text: string;
  /** Offset of its line's first character. */
  readonly start: number;
}

/** All headings outside code fences, in order. Cost: one pass over the lines. */
export function headingsOf(markdown: string): Heading[] {
  const found: Heading[] = [];
  let fence: string | null = null;
  let start = 0;
  for (const line of markdown.split("\n")) {
    const marker = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence !== null) {
      if (marker?.startsWith(fence) && /^[\s`~]*$/.test(line)) fence = null;
    } else if (marker !== undefined) {
      fence = marker;
    } else {
      const heading = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/.exec(line.endsWith("\r") ? line.slice(0, -1) : line);
      if (heading) {
        const text = (heading[2] ?? "").replace(/(^|[ \t])#+[ \t]*$/, "").trim();
        found.push({ level: heading[1]?.length ?? 1, text, start });
      }
    }
    start += line.length + 1;
  }
  return found;
}

/**
 * The section under a heading, its heading line included, up to the next heading of its level or higher.
 *
 * @param wanted  the heading's text; leading `#` signs, if given, ask for that level
 * @returns null when there is no such heading; the first when there are several
 */
export function sectionOf(markdown: string, wanted: string): string | null {
  const asked = /^(#{1,6})[ \t]+(.*)$/.exec(wanted.trim());
  const text = (asked?.[2] ?? wanted).trim();
  const headings = headingsOf(markdown);
  const index = headings.findIndex(
    (heading) => heading.text === text && (asked === null || heading.level === asked[1]?.length),
  );
  const heading = headings[index];
  if (heading === undefined) return null;
  const next = headings.slice(index + 1).find((other) => other.level <= heading.level);
  return markdown.slice(heading.start, next?.start ?? markdown.length);
}
