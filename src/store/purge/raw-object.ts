/** Commits and tags as their headers and their message, cut and put together again byte for byte. */
import type { Rewriting } from "./rewriting.ts";

export interface RawHeader {
  readonly name: string;
  /** With its folded lines and its line end. */
  readonly bytes: Buffer;
}

export interface CutObject {
  readonly headers: readonly RawHeader[];
  /** Behind the blank line; null: there is no blank line. */
  readonly message: Buffer | null;
}

/** Cut at the blank line behind the headers. */
export function cutObject(raw: Buffer): CutObject {
  const blank = raw.indexOf("\n\n", 0, "latin1");
  const end = blank < 0 ? raw.length : blank + 1;
  const headers: RawHeader[] = [];
  for (let start = 0; start < end; ) {
    let next = raw.indexOf(0x0a, start) + 1;
    while (next > 0 && next < end && raw[next] === 0x20) next = raw.indexOf(0x0a, next) + 1;
    if (next === 0 || next > end) next = end;
    const bytes = raw.subarray(start, next);
    headers.push({ name: /^[^ \n]*/.exec(bytes.toString("latin1", 0, 64))?.[0] ?? "", bytes });
    start = next;
  }
  return { headers, message: blank < 0 ? null : raw.subarray(blank + 2) };
}

export function joinObject(headers: readonly Buffer[], message: Buffer | null): Buffer {
  return message === null ? Buffer.concat(headers) : Buffer.concat([...headers, Buffer.from("\n"), message]);
}

/** Whether an object's own text would change, whatever it points to. */
export function holdsItself(raw: Buffer, rewriting: Pick<Rewriting, "header" | "message">): boolean {
  const { headers, message } = cutObject(raw);
  return (
    headers.some(({ bytes }) => rewriting.header(bytes) !== bytes) ||
    (message !== null && rewriting.message(message) !== message)
  );
}

/** What a tag points to. @throws Error it is no tag */
export function tagTarget(raw: Buffer): { readonly id: string; readonly kind: string } {
  const [, id, kind] = /^object ([0-9a-f]{40})\ntype ([a-z]+)\n/.exec(raw.toString("latin1", 0, 100)) ?? [];
  if (id === undefined || kind === undefined) throw new Error("a tag is malformed");
  return { id, kind };
}
