import { expect, test } from "vitest";
import type { BlobId, NoteId } from "../../src/domain/note.ts";
import type { HistoryRow, Page } from "../../src/index/note-index.ts";
import { lastClean } from "../../src/notebook/last-clean.ts";

const MARKED = "<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n";

/** A history of texts, newest first, one row a page; a null is a deletion. */
function note(texts: readonly (string | null)[]) {
  const index = {
    history(_filter: unknown, _limit: number, cursor: string | null): Page<HistoryRow> {
      const at = Number(cursor ?? 0);
      const revision = texts[at] === null ? null : String(at);
      const nextCursor = at + 1 < texts.length ? String(at + 1) : null;
      // Only the revision is looked at.
      return { items: [{ revision } as HistoryRow], total: texts.length, nextCursor };
    },
  };
  const read = async (revision: BlobId) => texts[Number(revision)] ?? "";
  return lastClean("n" as NoteId, texts[0] ?? "", index, read);
}

test("the newest version without markers is served, past deletions and other marked ones", async () => {
  expect(await note([MARKED, `# T\n${MARKED}`, null, "clean\n", "older\n"])).toEqual({
    revision: "3",
    text: "clean\n",
  });
});

test("a clean note is served as it is, and so is one that never was clean", async () => {
  expect(await note(["clean\n", MARKED])).toBeNull();
  expect(await note([MARKED, MARKED])).toBeNull();
});
