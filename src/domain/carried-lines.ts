/** Which lines of a text were in an earlier one already, and the words in which two texts differ. Pure. */
import { diffArrays } from "diff";

const MAX_EDIT_LENGTH = 2_000;

/**
 * For each line of `after`, the line of `before` that it is; -1: a new one.
 * @cost a line diff; over 2,000 edits every line counts as new
 */
export function carriedLines(before: readonly string[], after: readonly string[]): Int32Array {
  const from = new Int32Array(after.length).fill(-1);
  const parts = diffArrays([...before], [...after], { maxEditLength: MAX_EDIT_LENGTH });
  let [old, now] = [0, 0];
  for (const { added, removed, count = 0 } of parts ?? []) {
    if (!added && !removed) for (let i = 0; i < count; i++) from[now + i] = old + i;
    if (!added) old += count;
    if (!removed) now += count;
  }
  return from;
}

/** A piece of the one text, the other, or both. */
export interface WordPart {
  readonly kind: "same" | "gone" | "come";
  readonly text: string;
}

const WORDS = new Intl.Segmenter("und", { granularity: "word" });
const cut = (text: string) => [...WORDS.segment(text)].map(({ segment }) => segment);

/** How two texts differ, word by word; over 2,000 edits as two wholes. */
export function wordDiff(before: string, after: string): readonly WordPart[] {
  const parts = diffArrays(cut(before), cut(after), { maxEditLength: MAX_EDIT_LENGTH });
  if (parts === undefined) {
    return [
      { kind: "gone", text: before },
      { kind: "come", text: after },
    ];
  }
  const kinds = parts.map(
    ({ added, removed, value }): WordPart => ({
      kind: added ? "come" : removed ? "gone" : "same",
      text: value.join(""),
    }),
  );
  return joinedRuns(kinds);
}

/** Blanks between two changed words belong to the change: `one hour` became `15 minutes`, not two words each. */
function joinedRuns(parts: readonly WordPart[]): WordPart[] {
  const runs: WordPart[] = [];
  let [gone, come] = ["", ""];
  const flush = () => {
    if (gone !== "") runs.push({ kind: "gone", text: gone });
    if (come !== "") runs.push({ kind: "come", text: come });
    [gone, come] = ["", ""];
  };
  for (const [at, { kind, text }] of parts.entries()) {
    if (kind === "gone") gone += text;
    else if (kind === "come") come += text;
    else if (gone !== "" && come !== "" && /^[ \t]+$/.test(text) && at + 1 < parts.length) {
      gone += text;
      come += text;
    } else {
      flush();
      runs.push({ kind, text });
    }
  }
  flush();
  return runs;
}
