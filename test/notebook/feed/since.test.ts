import { expect, test } from "vitest";
import type { CommitId } from "../../../src/domain/note.ts";
import type { Caller } from "../../../src/domain/principal.ts";
import { BEGINNING } from "../../../src/notebook/feed/cursor.ts";
import { cursorSince } from "../../../src/notebook/feed/since.ts";
import { fakeClock } from "../../support/fake-clock.ts";
import { openMemoryStore } from "../../support/memory/memory-store.ts";

const caller: Caller = {
  principal: { kind: "person", name: "Ada", email: "a@b.c" },
  session: null,
  task: null,
};

function asked(last: CommitId | null = null) {
  const clock = fakeClock();
  const store = openMemoryStore({ now: clock.now });
  const commit = store.person.commit({ "notes/a.md": "# A\n" });
  const deps = { store, clock, seen: { last: () => last } };
  return { commit, since: (text: string) => cursorSince(deps, text, caller, commit) };
}

test("a cursor is taken as it is, a commit or a time becomes one", async () => {
  const { commit, since } = asked();
  expect(await since(`${commit}@2+7`)).toBe(`${commit}@2+7`);
  expect(await since(commit.slice(0, 8))).toBe(commit);
  expect(await since("2027-01-01")).toBe(commit);
});

test("a time before the first commit, and the first visit of a caller, are the beginning", async () => {
  expect(await asked().since("2020-01-01")).toBe(BEGINNING);
  expect(await asked(null).since("last")).toBe(BEGINNING);
});

test("an unknown commit answers where to go on from", async () => {
  const { commit, since } = asked();
  await expect(since("abcdef0")).rejects.toMatchObject({
    code: "UNKNOWN_COMMIT",
    data: { resync_from: commit },
  });
  await expect(since("someday")).rejects.toMatchObject({ code: "INVALID_PARAMS" });
});
