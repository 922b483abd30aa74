/**
 * Bytes of a note file to text and back, and the body inside: after the front matter, without the one
 * blank line that parts them and without the last line end. So a body of any text comes back as it was,
 * and files still end in a newline. Invariant: an unchanged body keeps its bytes.
 */
import { type FrontMatter, readFrontMatter, Unreadable } from "./front-matter.ts";

type Decoded =
  | { readonly kind: "text"; readonly text: string }
  /** `text` is a best reading, for search alone. */
  | {
      readonly kind: "foreign";
      readonly reason: string;
      readonly line: number | null;
      readonly text: string;
    };

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Decode a file. UTF-8 is text; UTF-16 and other bytes are named. */
export function decodeNote(bytes: Uint8Array): Decoded {
  const wide = wideEncoding(bytes);
  if (wide !== null) {
    const text = new TextDecoder(wide).decode(bytes);
    const reason = `the file is ${wide === "utf-16le" ? "UTF-16 (little endian)" : "UTF-16 (big endian)"}; save it as UTF-8`;
    return { kind: "foreign", reason, line: null, text };
  }
  try {
    return { kind: "text", text: strict.decode(bytes) };
  } catch {
    // Trigger: bytes that are no UTF-8. Why: one such file must not stop others. Outcome: named, with its line.
    const text = new TextDecoder("utf-8").decode(bytes);
    return {
      kind: "foreign",
      reason: "the file is not UTF-8; save it as UTF-8",
      line: foreignLine(bytes),
      text,
    };
  }
}

function wideEncoding(bytes: Uint8Array): "utf-16le" | "utf-16be" | null {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  const head = bytes.subarray(0, 512);
  if (head.length < 4) return null;
  let [even, odd] = [0, 0];
  for (let i = 0; i < head.length; i++) {
    if (head[i] !== 0) continue;
    if (i % 2 === 0) even++;
    else odd++;
  }
  if (odd > head.length / 4 && even === 0) return "utf-16le";
  return even > head.length / 4 && odd === 0 ? "utf-16be" : null;
}

function foreignLine(bytes: Uint8Array): number {
  let line = 1;
  for (let start = 0; start < bytes.length; line++) {
    const at = bytes.indexOf(0x0a, start);
    const end = at < 0 ? bytes.length : at + 1;
    try {
      strict.decode(bytes.subarray(start, end));
    } catch {
      // Trigger: the bytes looked for. Why: this is the search. Outcome: its line.
      return line;
    }
    start = end;
  }
  return line;
}

/** The bytes of a note's text: UTF-8, a byte order mark kept. */
export function encodeNote(text: string): Uint8Array {
  return Buffer.from(text, "utf8");
}

interface BodyPlace {
  readonly content: string;
  /** UTF-16 offset of `content` in the whole text. */
  readonly offset: number;
}

/** The body of a text whose front matter is cut already. */
export function bodyOf(front: FrontMatter): BodyPlace {
  const { lead, content } = partBody(front);
  const head = front.bom.length + front.open.length + (front.block?.length ?? 0) + front.close.length;
  return { content, offset: head + lead.length };
}

function partBody({ block, body }: FrontMatter): { lead: string; content: string; trail: string } {
  const lead = block === null ? "" : (/^\r?\n/.exec(body)?.[0] ?? "");
  const trail = /\r?\n$/.exec(body.slice(lead.length))?.[0] ?? "";
  return { lead, content: body.slice(lead.length, body.length - trail.length), trail };
}

/** Text with the line ends of the body it goes into: CRLF where the body, or a file of one line, has nothing else. */
export function inStyleOf(body: string, text: string, fileEol: "\n" | "\r\n"): string {
  const crlf = body.includes("\n") ? !/(?:^|[^\r])\n/.test(body) : fileEol === "\r\n";
  return crlf && !text.includes("\r\n") ? text.replaceAll("\n", "\r\n") : text;
}

/**
 * Put another body into a text.
 * The author's blank line, last line end and CRLF are kept as far as the new body allows.
 * @throws Unreadable  the text's front matter can't be read
 */
export function withBody(text: string, content: string): string {
  const front = readFrontMatter(text);
  const old = partBody(front);
  const wanted = inStyleOf(old.content, content, front.eol);
  if (wanted === old.content) return text;
  const empty = old.content === "";
  const head = front.bom + front.open + (front.block ?? "") + front.close;
  const closed = front.block === null || head.endsWith("\n") ? head : head + front.eol;
  const lead = front.block === null ? "" : empty || /^\r?\n/.test(wanted) ? old.lead || front.eol : old.lead;
  const end = empty || /\n$/.test(wanted) ? old.trail || front.eol : old.trail;
  // A carriage return that ends the body must not become half of the line end.
  const trail = end === "\n" && wanted.endsWith("\r") ? "\r\n" : end;
  const body = wanted === "" ? "" : lead + wanted + trail;
  const made = closed + body;
  if (front.block !== null || isAllBody(made)) return made;
  // The new body begins like front matter: an empty block before it says that it is none.
  return `${front.bom}---${front.eol}---${front.eol}${front.eol}${body}`;
}

function isAllBody(text: string): boolean {
  try {
    return readFrontMatter(text).block === null;
  } catch (error) {
    // Trigger: a body that reads as a broken block. Why: then it is not all body. Outcome: it gets a block before it.
    if (error instanceof Unreadable) return false;
    throw error;
  }
}
