import { expect, test } from "vitest";
import { createNoteIndex } from "../../src/index/create.ts";
import { readHistory } from "../../src/notebook/history.ts";
import { committed, draft, message } from "../support/drafts.ts";
import { openMemoryStore } from "../support/memory/memory-store.ts";

test("entries carry why and what from their commits, page by page", async () => {
  const store = openMemoryStore();
  const index = createNoteIndex();
  const first = draft("notes/a.md", "# A\n");
  const said = message({ action: "update", reason: "Verified.", changes: "status: open → resolved" });
  const second = draft("notes/a.md", "# A\n\nmore\n", "# A\n", { message: said });
  const { outcomes } = await store.commit([first, second]);
  const done = outcomes.map((outcome) => committed(outcome).events);
  await index.apply(done, store.readBlob);
  const theirs = store.person.commit(
    { "notes/b.md": "# B\n" },
    { message: "by hand\n\nNo proof, no reason.\n" },
  );
  for await (const events of store.history(done[1]?.commit.id ?? null, theirs)) {
    await index.apply([events], store.readBlob);
  }

  const page = await readHistory({ index, store }, {}, 2, null);
  expect(
    page.items.map(({ commit, action, reason, changes }) => ({ commit, action, reason, changes })),
  ).toEqual([
    { commit: theirs, action: "create", reason: null, changes: null },
    { commit: done[1]?.commit.id, action: "update", reason: "Verified.", changes: "status: open → resolved" },
  ]);
  const rest = await readHistory({ index, store }, {}, 2, page.nextCursor);
  expect(rest.items.map(({ action, reason }) => ({ action, reason }))).toEqual([
    { action: "create", reason: null },
  ]);
  expect(rest.nextCursor).toBeNull();
});
