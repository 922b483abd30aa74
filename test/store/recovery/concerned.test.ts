import { expect, test } from "vitest";
import type { CommitId } from "../../../src/domain/note.ts";
import type { OpenIntent } from "../../../src/store/commit/intents.ts";
import { concerned } from "../../../src/store/recovery/concerned.ts";
import { at, blobOf } from "../../support/drafts.ts";

/** @param files  path → the texts before and after; null is absence */
function intent(number: number, files: Readonly<Record<string, readonly [string | null, string | null]>>) {
  const blob = (text: string | null) => (text === null ? null : blobOf(text));
  const open: OpenIntent = {
    name: `${number}`.padStart(12, "0"),
    placed: true,
    rebooted: false,
    intent: {
      format: 1,
      ref: "refs/heads/main",
      from: null,
      to: "1".repeat(40) as CommitId,
      files: Object.entries(files).map(([path, [before, after]]) => {
        return {
          path: at(path),
          before: blob(before),
          after: blob(after),
          replaced: null,
          prepared: null,
          aside: "",
        };
      }),
    },
  };
  return open;
}
const holding = (texts: Readonly<Record<string, string>>) => (path: string) => {
  const text = texts[path];
  return text === undefined ? null : blobOf(text);
};
const shown = (open: readonly OpenIntent[]) =>
  open.map(({ name, intent: { files } }) => [Number(name), files.map(({ path }) => path)]);

const [first, second, third] = [
  intent(1, { "notes/a.md": [null, "a1"], "notes/b.md": [null, "b1"] }),
  intent(2, { "notes/a.md": ["a1", "a2"], "notes/c.md": [null, "c1"] }),
  intent(3, { "notes/a.md": ["a2", "a3"] }),
];

test("files that the table knows in their places are not looked at", () => {
  const base = holding({ "notes/a.md": "a3", "notes/b.md": "b1", "notes/c.md": "c1" });
  expect(concerned([], [first, second, third], base)).toEqual([]);
});

test("of a publication that was cut short every file is looked at, with what earlier ones did to it, and no other", () => {
  const base = holding({ "notes/a.md": "a2", "notes/b.md": "b1", "notes/c.md": "c1" });
  expect(shown(concerned([third], [first, second], base))).toEqual([
    [1, ["notes/a.md"]],
    [2, ["notes/a.md"]],
    [3, ["notes/a.md"]],
  ]);
});

test("a file of which the table still says what was replaced is looked at; what somebody did since is not undone", () => {
  const lost = holding({ "notes/a.md": "a1", "notes/b.md": "b1", "notes/c.md": "theirs" });
  expect(shown(concerned([], [first, second, third], lost))).toEqual([
    [1, ["notes/a.md"]],
    [2, ["notes/a.md"]],
    [3, ["notes/a.md"]],
  ]);
});
