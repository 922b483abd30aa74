import fs, { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import * as git from "isomorphic-git";
import { afterEach, expect, test } from "vitest";
import type { BlobId } from "../../../src/domain/note.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { type GitIndex, gitIndex, over, readIndex } from "../../../src/store/git-index/git-index.ts";
import { emptyIndex, parseIndex } from "../../../src/store/git-index/index-bytes.ts";
import { sharedName } from "../../../src/store/git-index/split-index.ts";
import { unsplitIndex } from "../../../src/store/git-index/unsplit.ts";
import { standOn, wholeIndex } from "../../../src/store/git-index/whole-index.ts";
import { cacheTreeFaults } from "../../support/cache-tree-truth.ts";
import { at, blobOf, committed, draft } from "../../support/drafts.ts";
import { fakeClock } from "../../support/fake-clock.ts";
import type { GitRepo } from "../../support/git-repo.ts";
import { saveFile } from "../../support/save-file.ts";
import { type StoreOnGit, storeOnGit } from "../../support/store-on-git.ts";
import { until } from "../../support/wait.ts";

const MINUTE_MS = 60_000;

let open: StoreOnGit[] = [];
afterEach(async () => {
  for (const on of open) await on.store.close();
  open = [];
});

async function start(splitIndexFrom = 1, clock = fakeClock()): Promise<StoreOnGit> {
  const on = await storeOnGit({ splitIndexFrom, clock });
  open.push(on);
  await on.store.close();
  on.repo.git("config", "notesd.splitIndex", "true");
  await on.reopen();
  return on;
}

const sharedIn = ({ gitdir }: GitRepo) =>
  readdirSync(gitdir).filter((name) => name.startsWith("sharedindex."));
const standsOn = ({ gitdir }: GitRepo) => {
  const file = join(gitdir, "index");
  return existsSync(file) ? sharedName(parseIndex(readFileSync(file))) : null;
};
const commit = async (on: StoreOnGit, ...drafts: ReturnType<typeof draft>[]) => {
  for (const outcome of (await on.store.commit(drafts)).outcomes) committed(outcome);
};

/** Commit until the index stands on another shared one. */
async function grow(on: StoreOnGit, folder: string): Promise<void> {
  const before = standsOn(on.repo);
  let n = 0;
  await until("another shared index", async () => {
    await commit(on, draft(`notes/${folder}/${n++}.md`, folder));
    return standsOn(on.repo) !== before;
  });
}

test("an index of many entries stands on a shared one, and Git sees what it saw", async () => {
  const on = await start();
  await grow(on, "a");
  const count = on.repo.git("ls-files").split("\n").length;
  await commit(
    on,
    draft("notes/a/0.md", "changed", "a"),
    draft("notes/new.md", "new"),
    draft("notes/a/1.md", null, "a"),
  );
  expect(on.repo.git("ls-files").split("\n").length).toBe(count);
  expect(on.repo.git("status", "--porcelain")).toBe("");
  expect(on.repo.git("rev-parse", ":notes/a/0.md")).toBe(blobOf("changed"));
  expect(cacheTreeFaults(on.repo)).toEqual([]);
  on.repo.git("fsck", "--strict");
});

test("what a person stages meanwhile stays, whatever form their Git leaves the index in", async () => {
  const on = await start();
  await grow(on, "a");
  for (const [n, args] of [
    [],
    ["-c", "core.splitIndex=false"],
    ["-c", "splitIndex.maxPercentChange=0"],
  ].entries()) {
    on.save(`notes/staged${n}.md`, "theirs");
    on.repo.git(...args, "add", `notes/staged${n}.md`);
    await commit(on, draft(`notes/b/${n}.md`, "b"));
    expect(on.repo.git("status", "--porcelain")).toBe(
      Array.from({ length: n + 1 }, (_, k) => `A  notes/staged${k}.md`).join("\n"),
    );
    expect(standsOn(on.repo)).not.toBeNull();
  }
  on.repo.git("commit", "-qm", "theirs");
  await commit(on, draft("notes/b/0.md", "c", "b"));
  expect(on.repo.git("status", "--porcelain")).toBe("");
});

test("with many changes a new shared index is made; an old one of ours goes when no command can hold it, a person's never", async () => {
  // Git's own hand freshens them by the machine's clock.
  const clock = fakeClock(Date.now());
  const on = await start(1, clock);
  await grow(on, "a");
  const [first = ""] = sharedIn(on.repo);
  on.save("code/x", "x");
  on.repo.git("add", "code/x");
  on.repo.git("-c", "splitIndex.maxPercentChange=0", "commit", "-qm", "theirs");
  const ours = readdirSync(join(on.repo.gitdir, "notesd/shared")).map((name) => `sharedindex.${name}`);
  const theirs = sharedIn(on.repo).filter((name) => !ours.includes(name));
  expect(theirs.length).toBeGreaterThan(0);
  for (const folder of ["b", "c", "d"]) {
    clock.advance(10 * MINUTE_MS);
    await grow(on, folder);
  }
  await until("the first gone", async () => {
    clock.advance(10 * MINUTE_MS);
    await grow(on, `e${clock.now()}`);
    return !existsSync(join(on.repo.gitdir, first));
  });
  expect(sharedIn(on.repo)).toEqual(expect.arrayContaining(theirs));
  expect(sharedIn(on.repo)).toContain(`sharedindex.${standsOn(on.repo)}`);
  expect(on.repo.git("status", "--porcelain")).toBe("");
});

test("after a restart the index is carried on from, and one whose shared index is lost is an error with the way out", async () => {
  const on = await start();
  await grow(on, "a");
  await on.store.close();
  await on.reopen();
  await commit(on, draft("notes/b.md", "b"));
  expect(on.repo.git("status", "--porcelain")).toBe("");
  await on.store.close();
  for (const name of sharedIn(on.repo)) rmSync(join(on.repo.gitdir, name));
  await on.reopen();
  await expect(on.store.commit([draft("notes/c.md", "c")])).rejects.toMatchObject({
    code: "STORAGE",
    message: expect.stringMatching(/is missing.*git read-tree HEAD/),
  });
  rmSync(join(on.repo.gitdir, "index"));
  on.repo.git("read-tree", "HEAD");
  await commit(on, draft("notes/c.md", "c"));
  expect(on.repo.git("status", "--porcelain")).toBe("");
});

test("a shared index that the disk refuses is told of, and commits go on with a whole index", async () => {
  const warned: string[] = [];
  const on = await start();
  await on.store.close();
  saveFile(on.repo.gitdir, "notesd/shared", "a file where the folder should be");
  await on.reopen({ warn: (what) => warned.push(what) });
  await commit(on, draft("notes/a.md", "a"));
  await until("the warning", () => warned.includes("a shared Git index could not be written"));
  await commit(on, draft("notes/b.md", "b"));
  expect([standsOn(on.repo), sharedIn(on.repo)]).toEqual([null, []]);
  expect(on.repo.git("status", "--porcelain")).toBe("");
});

test("a small index, and one without notesd.splitIndex, stay whole", async () => {
  const on = await start(10);
  for (let n = 0; n < 5; n++) await commit(on, draft(`notes/${n}.md`, "x"));
  await on.store.close();
  on.repo.git("config", "--unset", "notesd.splitIndex");
  await on.reopen({ splitIndexFrom: 1 });
  for (let n = 5; n < 15; n++) await commit(on, draft(`notes/${n}.md`, "x"));
  await on.store.close();
  expect([standsOn(on.repo), sharedIn(on.repo)]).toEqual([null, []]);
  expect(readFileSync(join(on.repo.gitdir, "index")).readUInt32BE(4)).toBe(2);
  await on.reopen();
});

test("made whole again it is what any program reads, and our shared indexes are gone", async () => {
  const on = await start();
  await grow(on, "a");
  on.save("notes/staged.md", "x");
  on.repo.git("add", "notes/staged.md");
  await commit(on, draft("notes/b.md", "b"));
  await on.store.close();
  const before = on.repo.git("ls-files", "-s");
  expect(await unsplitIndex(on.repo.gitdir, systemClock, 1000)).toBe(true);
  expect(await unsplitIndex(on.repo.gitdir, systemClock, 1000)).toBe(false);
  expect(on.repo.git("ls-files", "-s")).toBe(before);
  expect(on.repo.git("status", "--porcelain")).toBe("A  notes/staged.md");
  expect([standsOn(on.repo), readdirSync(join(on.repo.gitdir, "notesd/shared"))]).toEqual([null, []]);
  const files = await git.listFiles({ fs, dir: on.repo.root });
  expect(files.join("\n")).toBe(on.repo.git("ls-files"));
  expect(readIndex(on.repo.gitdir).index.count).toBe(before.split("\n").length);
  expect(readFileSync(join(on.repo.gitdir, "index")).readUInt32BE(4)).toBe(2);
  await on.reopen();
});

const path = fc
  .array(fc.constantFrom("a", "a.b", "a-b", "b"), { minLength: 1, maxLength: 3 })
  .map((parts) => parts.join("/"));
const round = fc.array(fc.tuple(path, fc.option(fc.nat(2))), { minLength: 1, maxLength: 6 });
const lines = (index: GitIndex) => [...index.entries()].map((entry) => JSON.stringify(entry));

test("any series of edits gives on a shared index what it gives on a whole one, written and read again", () => {
  fc.assert(
    fc.property(fc.array(round, { minLength: 2, maxLength: 8 }), fc.nat(7), (rounds, splitAt) => {
      let plain = gitIndex(emptyIndex());
      const own: { split: GitIndex | null } = { split: null };
      let shared = { name: "", run: plain.image.run };
      for (const [n, wishes] of rounds.entries()) {
        const edits = [...new Map(wishes)].map(([one, content]) => ({
          path: at(one),
          // Entries are blobs here.
          expected: (plain.at(at(one))[0]?.id ?? null) as BlobId | null,
          blob: content === null ? null : blobOf(String(content)),
          stat: null,
        }));
        const together = edits.filter(
          ({ path: a, blob }) =>
            blob === null || !edits.some((b) => b.blob !== null && b.path.startsWith(`${a}/`)),
        );
        const edited = plain.edit(together);
        plain = edited.index;
        const next: { index: GitIndex; bytes: Buffer; left: readonly string[] } | undefined =
          own.split?.edit(together);
        if (next !== undefined) {
          expect(next.left).toEqual(edited.left);
          expect(lines(next.index)).toEqual(lines(plain));
          const again = gitIndex(next.bytes, () => shared.run);
          expect(lines(again)).toEqual(lines(plain));
          expect(wholeIndex(again.image).bytes.equals(edited.bytes)).toBe(true);
          own.split = n % 2 === 0 ? again : next.index;
        }
        if (n === splitAt % rounds.length || n % 4 === 3) {
          const made = wholeIndex(plain.image, false);
          shared = { name: made.bytes.toString("hex", made.bytes.length - 20), run: made.image.run };
          own.split = over(standOn((own.split ?? plain).image, shared.name, shared.run));
          expect(own.split.image.changes).toEqual([]);
        }
      }
      if (own.split === null) return;
      const old = gitIndex(emptyIndex()).image.run;
      expect(lines(over(standOn(own.split.image, "f".repeat(40), old)))).toEqual(lines(plain));
    }),
  );
});
