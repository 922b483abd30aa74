/** What a push holds is looked at within bounds, whatever it holds. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { broughtFiles } from "../../../src/main/hook/pushed-files.ts";
import { readPushedNotes } from "../../../src/main/hook/pushed-notes.ts";
import { takenIds } from "../../../src/main/hook/taken-ids.ts";
import { removeFolder } from "../../support/daemon.ts";
import { type PushedRepo, pushedRepo, RULES } from "../../support/pushed-repo.ts";

let repo: PushedRepo;
beforeEach(() => {
  repo = pushedRepo();
});
afterEach(() => removeFolder(repo.root));

/** Ten names that are each the tree below, so many times: 10 ** deep files of one blob. */
function bomb(leaf: string, deep: number): string {
  let entry = leaf;
  for (let i = 0; i < deep; i++) {
    const tree = repo.tree(Array.from({ length: 10 }, (_, n) => `${entry}\tf${n}`));
    entry = `040000 tree ${tree}`;
  }
  return entry.split(" ")[2] ?? "";
}

test("trees that would list without end are stopped before they fill the memory, and refused in words", async () => {
  const commit = repo.commit(bomb(`100644 blob ${repo.blob("x")}`, 12));
  const git = await repo.git({ memory: 64 << 20 });
  await expect(broughtFiles(git, [commit])).rejects.toThrow(
    /too much for one look \(git diff-tree needed more than 67108864 bytes of memory\)\. Push it in smaller/,
  );
  await expect(readPushedNotes(git, null, commit, RULES)).rejects.toThrow(/too much for one look/);
});

test("a list that is too long is stopped as well, and so is a Git that is busy for long", async () => {
  const commit = repo.commit(bomb(`100644 blob ${repo.blob("x")}`, 4));
  await expect(broughtFiles(await repo.git({ bytes: 100_000 }), [commit])).rejects.toThrow(
    /git diff-tree printed more than 100000 bytes/,
  );
  const endless = repo.commit(bomb(`040000 tree ${repo.tree([])}`, 12));
  await expect(broughtFiles(await repo.git({ ms: 300 }), [endless])).rejects.toThrow(
    /took longer than 0\.3 s/,
  );
});

test("a note that is too large is refused without being read", async () => {
  const large = repo.blob(Buffer.alloc(4 << 20));
  const notes = repo.tree([
    `100644 blob ${large}\tlarge.md`,
    `100644 blob ${repo.blob("---\nid: own-1\n---\nsmall\n")}\tsmall.md`,
  ]);
  const commit = repo.commit(repo.tree([`040000 tree ${notes}\tnotes`]));
  const read = await readPushedNotes(await repo.git({ bytes: 1 << 20 }), null, commit, RULES);
  expect(read.faults).toMatchObject([
    { where: "notes/large.md", what: expect.stringContaining("4194304 bytes") },
  ]);
  expect(read.ids).toEqual([{ id: "own-1", path: "notes/small.md" }]);
});

test.each([1, 50_000])("an id among %i that another note has is found", async (count) => {
  const blob = repo.blob('---\nid: "mine"\n---\nhere\n');
  const others = [`100644 blob ${blob}\told.md`, `100644 blob ${blob}\tnew.md`];
  const tip = repo.commit(repo.tree([`040000 tree ${repo.tree(others)}\tnotes`]));
  const ids = Array.from({ length: count }, (_, i) => ({
    id: i === 0 ? "mine" : `other-${i}-${"x".repeat(50)}`,
    path: i === 0 ? "notes/new.md" : `notes/${i}.md`,
  }));
  expect(await takenIds(await repo.git(), tip, ids, RULES)).toMatchObject([
    { where: "notes/new.md", what: "has the id mine, which notes/old.md has" },
  ]);
});

test("a search that fails refuses, and is never read as nothing found", async () => {
  const git = await repo.git();
  const ids = [{ id: "mine", path: "notes/new.md" }];
  await expect(takenIds(git, "b".repeat(40), ids, RULES)).rejects.toThrow(/git ls-tree ended with 128/);
});
