/**
 * A random history of notes, the same for one seed: creations, updates, deletions and renames in many folders by
 * several authors, and what each commit does as lines of a `git fast-import` stream.
 */
import type { Author } from "../../src/domain/event.ts";
import type { Draft } from "../../src/store/note-store.ts";
import { at, blobOf, draft, message } from "./drafts.ts";
import { wholeFrom } from "./random.ts";

interface Planned {
  readonly draft: Draft;
  /** `M …` and `D …` commands. */
  readonly commands: string;
}

const AUTHORS: readonly Author[] = [
  { name: "planner", email: "planner@agents.notesd.invalid" },
  { name: "reviewer", email: "reviewer@agents.notesd.invalid" },
  { name: "Zoë Ann 字", email: "zoe@example.org" },
];

export const data = (text: string | Uint8Array) =>
  Buffer.concat([Buffer.from(`data ${Buffer.byteLength(text)}\n`), Buffer.from(text), Buffer.from("\n")]);

const modify = (path: string, text: string) => `M 100644 inline ${path}\n${data(text).toString()}`;
const remove = (path: string) => `D ${path}\n`;

/**
 * Plan a history of so many commits.
 * @returns one draft for each, every one on top of those before
 */
export function randomHistory(seed: number, count: number): Planned[] {
  const whole = wholeFrom(seed);
  const texts = new Map<string, string>();
  const planned: Planned[] = [];
  let atMs = 1_796_000_000_000;

  const newPath = (n: number) =>
    `notes/2026/${1 + whole(12)}/${1 + whole(28)}/note-${n}${whole(9) === 0 ? " 字" : ""}.md`;
  const newText = (n: number) => `# Note ${n}\n\n${"A line of it.\n".repeat(whole(40))}${whole(1_000)}\n`;
  const anyPath = () => [...texts.keys()][whole(texts.size)] ?? "";

  function plan(n: number): Planned {
    const author = AUTHORS[whole(AUTHORS.length)] ?? {
      name: "planner",
      email: "planner@agents.notesd.invalid",
    };
    atMs += whole(90) * 1_000;
    const over = { author, atMs, message: message({ title: `Note ${n} of ${author.name}` }) };
    const kind = texts.size < 20 ? 0 : whole(10);
    if (kind < 4) {
      const [path, text] = [newPath(n), newText(n)];
      texts.set(path, text);
      return { draft: draft(path, text, null, over), commands: modify(path, text) };
    }
    const path = anyPath();
    const before = texts.get(path) ?? "";
    if (kind < 7) {
      const text = `${before}More, ${n}.\n`;
      texts.set(path, text);
      return { draft: draft(path, text, before, over), commands: modify(path, text) };
    }
    texts.delete(path);
    if (kind === 7) return { draft: draft(path, null, before, over), commands: remove(path) };
    const to = newPath(n);
    texts.set(to, before);
    const files = [
      { path: at(path), expected: blobOf(before), bytes: null },
      { path: at(to), expected: null, bytes: Buffer.from(before) },
    ];
    return {
      draft: draft(path, null, before, { ...over, files }),
      commands: `${remove(path)}${modify(to, before)}`,
    };
  }

  for (let n = 0; n < count; n++) planned.push(plan(n));
  return planned;
}
