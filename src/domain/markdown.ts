/**
 * As much of Markdown as notes need: which lines are headings, which lie in a code fence.
 * Links and rendering are elsewhere. Offsets are UTF-16 units of the given text.
 */

interface MarkdownLine {
  /** Where the line starts, and where it ends without its line end. */
  readonly start: number;
  readonly end: number;
  /** Inside a code fence, or one of its two marks. */
  readonly fenced: boolean;
}

export interface Heading {
  readonly level: number;
  readonly text: string;
  /** Start of the heading's first line. */
  readonly start: number;
  /** Just after the heading's last line, line end included. */
  readonly end: number;
}

/** The lines of a text. An unclosed fence reaches to the end. @cost linear */
export function* markdownLines(text: string): Generator<MarkdownLine> {
  let fence: string | null = null;
  for (let start = 0; start < text.length; ) {
    const at = text.indexOf("\n", start);
    const next = at < 0 ? text.length : at + 1;
    let end = at < 0 ? text.length : at;
    if (end > start && text[end - 1] === "\r") end--;
    const mark = /^ {0,3}(`{3,}|~{3,})(.*)$/s.exec(text.slice(start, Math.min(end, start + 4096)));
    const run = mark?.[1];
    const fenced = fence !== null;
    if (fence === null) {
      if (run !== undefined && !(run.startsWith("`") && mark?.[2]?.includes("`"))) fence = run;
    } else if (run?.startsWith(fence) && mark?.[2]?.trim() === "") {
      fence = null;
    }
    yield { start, end, fenced: fenced || fence !== null };
    start = next;
  }
}

/** Headings in text order: ATX (`## x`) and setext (underlined), not inside fences. @cost linear */
export function headings(text: string): Heading[] {
  const found: Heading[] = [];
  let above: MarkdownLine | null = null;
  for (const line of markdownLines(text)) {
    const source = text.slice(line.start, line.end);
    const end = afterLine(text, line.end);
    const atx = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/s.exec(source);
    const setext = above !== null && /^ {0,3}(?:=+|-+)[ \t]*$/.test(source);
    if (line.fenced) {
      above = null;
    } else if (atx?.[1] !== undefined) {
      const title = (atx[2] ?? "").replace(/(?:^|[ \t]+)#+[ \t]*$/, "").trim();
      found.push({ level: atx[1].length, text: title, start: line.start, end });
      above = null;
    } else if (setext && above !== null) {
      const title = text.slice(above.start, above.end).trim();
      found.push({ level: source.includes("=") ? 1 : 2, text: title, start: above.start, end });
      above = null;
    } else {
      above = /^(?: {0,3}(?:[^\s>*+-]|[*+-]\S))/.test(source) ? line : null;
    }
  }
  return found;
}

function afterLine(text: string, end: number): number {
  if (text[end] === "\r" && text[end + 1] === "\n") return end + 2;
  return Math.min(end + 1, text.length);
}
