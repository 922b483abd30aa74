import { expect, test } from "vitest";
import type { BlobId } from "../../../src/domain/note.ts";
import { judge } from "../../../src/notebook/reconcile/three-trees.ts";

// Three letters suffice: a verdict depends on which of the three are equal and which are absent.
const [A, B, C] = ["a", "b", "c"].map((x) => x.repeat(40) as BlobId) as [BlobId, BlobId, BlobId];

/** base, tip, disk, verdict, what happened. Every pattern of equal, different and absent is here. */
const TABLE: readonly (readonly [BlobId | null, BlobId | null, BlobId | null, string, string])[] = [
  [null, null, null, "level", "there never was a file"],
  [A, A, A, "level", "nothing happened"],
  [null, null, A, "adopt", "a person made a file"],
  [A, A, B, "adopt", "a person edited"],
  [A, A, null, "adopt", "a person deleted"],
  [null, A, null, "bring-forward", "the branch gained a note"],
  [A, B, A, "bring-forward", "the branch moved on under an untouched file"],
  [A, null, A, "bring-forward", "the branch lost a note whose file is untouched"],
  [null, A, A, "accept", "both gained the same file (a checkout, a pull)"],
  [A, B, B, "accept", "both moved to the same text"],
  [A, null, null, "accept", "both lost it"],
  [A, B, null, "bring-forward", "a person deleted what the branch edited: the edit stays"],
  [A, null, B, "adopt", "a person edited what the branch deleted: the edit stays"],
  [null, A, B, "merge", "both made a file at one path"],
  [A, B, C, "merge", "both edited"],
];

for (const [base, tip, disk, kind, story] of TABLE) {
  test(`${story}: ${kind}`, () => expect(judge(base, tip, disk)).toEqual({ kind }));
}

const everyCase = [null, A, B, C].flatMap((base) =>
  [null, A, B, C].flatMap((tip) => [null, A, B, C].map((disk) => [base, tip, disk] as const)),
);

test("the table covers every pattern there is", () => {
  const pattern = (t: readonly (BlobId | null)[]) => t.map((x) => (x === null ? "-" : t.indexOf(x))).join("");
  const covered = new Set(TABLE.map(([base, tip, disk]) => pattern([base, tip, disk])));
  expect(everyCase.filter((t) => !covered.has(pattern(t)))).toEqual([]);
});

test("a text that only the disk holds is never overwritten unmerged", () => {
  for (const [base, tip, disk] of everyCase) {
    const onlyThere = disk !== null && disk !== base && disk !== tip;
    if (onlyThere) expect(["adopt", "merge"]).toContain(judge(base, tip, disk).kind);
  }
});
