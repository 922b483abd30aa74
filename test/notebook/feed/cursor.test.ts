import { expect, test } from "vitest";
import type { CommitId } from "../../../src/domain/note.ts";
import { formatCursor, parseCursor } from "../../../src/notebook/feed/cursor.ts";

const A = "a".repeat(40) as CommitId;
const B = "b".repeat(40) as CommitId;

test.each([
  [A, { commit: A, n: null, skip: 0 }],
  [`${A}@7`, { commit: A, n: 7, skip: 0 }],
  [`${A}+3`, { commit: A, n: null, skip: 3 }],
  [`${A}@7+3`, { commit: A, n: 7, skip: 3 }],
  [`${A}..${B}@2+12`, { squashedFrom: A, commit: B, n: 2, skip: 12 }],
  [`${"0".repeat(40)}..${B}+1`, { squashedFrom: null, commit: B, n: null, skip: 1 }],
  ["0".repeat(40), { commit: null, n: null, skip: 0 }],
])("%s is read and written alike", (text, cursor) => {
  expect(parseCursor(text)).toEqual(cursor);
  expect(formatCursor(cursor)).toBe(text);
});

test.each(["", "last", "7d", "abcdef1", `${A}+`, `${A}@x`, `${A}..`, A.toUpperCase(), `${A}0`, `${A}\n`])(
  "%j is no cursor",
  (text) => expect(parseCursor(text)).toBeNull(),
);
