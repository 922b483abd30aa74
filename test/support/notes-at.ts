/** An index over a few notes, for tests of queries. */

import { MemoryIndex } from "../../src/index/memory-index.ts";
import type { Viewer } from "../../src/index/note-index.ts";
import { HistoryBuilder } from "./history-builder.ts";
import { plainParse } from "./plain-parse.ts";

export const PERSON: Viewer = { kind: "person" };
export const AT_S = 1_800_000_000;

/** Front matter in the manner of `plainParse`. */
export function noteText(keys: Readonly<Record<string, string>>, body = ""): string {
  const lines = Object.entries(keys).map(([key, value]) => `${key}: ${value}\n`);
  return `---\n${lines.join("")}---\n${body}`;
}

/** One commit a file, a minute apart from `AT_S` on, so later files are newer. */
export async function indexOf(files: Readonly<Record<string, string>>) {
  const builder = new HistoryBuilder();
  const index = new MemoryIndex({ parse: plainParse, isNotePath: () => true, fingerprint: "plain" });
  const put = async (changes: Readonly<Record<string, string | null>>, minute: number) => {
    const to = builder.change(index.head, changes, { at: AT_S + minute * 60 });
    return index.apply(builder.history(index.head, to), builder.read);
  };
  let minute = 0;
  for (const [path, text] of Object.entries(files)) await put({ [path]: text }, minute++);
  return { index, builder, put };
}
