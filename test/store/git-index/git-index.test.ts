import { lstatSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { BlobId, RepoPath } from "../../../src/domain/note.ts";
import {
  type GitIndex,
  gitIndex,
  type IndexEdit,
  indexMode,
  indexSignature,
  readIndex,
  stagedPaths,
} from "../../../src/store/git-index/git-index.ts";
import { blobId } from "../../../src/store/objects/object-id.ts";
import { type GitRepo, gitRepo } from "../../support/git-repo.ts";

const at = (path: string) => path as RepoPath;
const idOf = (text: string) => blobId(Buffer.from(text));

function put(repo: GitRepo, path: string, text: string): void {
  mkdirSync(dirname(join(repo.root, path)), { recursive: true });
  writeFileSync(join(repo.root, path), text);
}

/** A repository with these files committed, each holding its own name. */
function repoWith(...paths: string[]): GitRepo {
  const repo = gitRepo();
  for (const path of paths) put(repo, path, path);
  repo.git("add", "-A");
  repo.git("commit", "-q", "-m", "first");
  return repo;
}

/** Write a file and store its blob, as a publication does, and say how the index is to change. */
function placed(repo: GitRepo, path: string, text: string, expected: string | null): IndexEdit {
  put(repo, path, text);
  repo.gitBytes(["hash-object", "-w", "--stdin"], text);
  const stat = lstatSync(join(repo.root, path), { bigint: true });
  return { path: at(path), expected: expected === null ? null : idOf(expected), blob: idOf(text), stat };
}

const removal = (path: string): IndexEdit => ({
  path: at(path),
  expected: idOf(path),
  blob: null,
  stat: null,
});

function edit(repo: GitRepo, edits: readonly IndexEdit[]): readonly RepoPath[] {
  const { bytes, left } = readIndex(repo.gitdir).index.edit(edits);
  writeFileSync(join(repo.gitdir, "index"), bytes);
  return left;
}

test("after create, update and delete Git's index is what git add would have made, without hashing again", () => {
  const repo = repoWith("notes/a.md", "notes/b.md", "notes/b/c.md", "z");
  repo.git("config", "core.trustctime", "false");
  repo.git("write-tree");
  rmSync(join(repo.root, "notes/b.md"));
  const edits = [
    placed(repo, "notes/new/字.md", "new", null),
    placed(repo, "notes/a.md", "changed", "notes/a.md"),
    removal("notes/b.md"),
  ];
  expect(edit(repo, edits)).toEqual([]);
  expect(repo.git("diff-files", "--name-only")).toBe("");
  expect(repo.git("-c", "core.quotePath=false", "status", "--porcelain", "-uall")).toBe(
    "M  notes/a.md\nD  notes/b.md\nA  notes/new/字.md",
  );
  const tree = repo.git("write-tree");
  rmSync(join(repo.gitdir, "index"));
  repo.git("add", "-A");
  expect(tree).toBe(repo.git("write-tree"));
  expect(repo.git("fsck", "--strict")).not.toMatch(/error|missing/);
});

test("an absent index is one without entries, and the first edit makes a good one", () => {
  const repo = gitRepo();
  expect([indexSignature(repo.gitdir), indexMode(repo.gitdir)]).toEqual(["absent", 0o644]);
  expect(readIndex(repo.gitdir).index.count).toBe(0);
  edit(repo, [placed(repo, "notes/a.md", "x", null)]);
  expect(repo.git("status", "--porcelain")).toBe("A  notes/a.md");
  expect(repo.git("diff-files")).toBe("");
});

test("the signature changes with every write by Git, also of the same size in the same moment", () => {
  const repo = repoWith("a.md");
  const seen = new Set([indexSignature(repo.gitdir)]);
  for (const text of ["one", "two", "six"]) {
    put(repo, "a.md", text);
    repo.git("add", "a.md");
    seen.add(indexSignature(repo.gitdir));
  }
  expect(seen.size).toBe(4);
  expect(readIndex(repo.gitdir).signature).toBe(indexSignature(repo.gitdir));
});

test("what a person staged is left alone and reported: content, deletion, addition, conflict, mode", () => {
  const repo = repoWith("changed.md", "deleted.md", "same.md", "exec.md", "fight.md", "link.md");
  put(repo, "changed.md", "staged");
  put(repo, "added.md", "staged");
  repo.git("add", "changed.md", "added.md");
  repo.git("rm", "-q", "--cached", "deleted.md");
  repo.git("update-index", "--chmod=+x", "exec.md");
  const one = idOf("fight.md");
  repo.gitBytes(
    ["update-index", "--index-info"],
    [
      `0 ${"0".repeat(40)}\tfight.md\n`,
      ...[1, 2, 3].map((stage) => `100644 ${one} ${stage}\tfight.md\n`),
    ].join(""),
  );
  repo.git("update-index", "--cacheinfo", `120000,${one},link.md`);
  const before = repo.git("ls-files", "-s");
  const paths = ["changed.md", "deleted.md", "fight.md", "link.md"];
  const edits = [
    ...paths.map((path) => placed(repo, path, "ours", path)),
    placed(repo, "added.md", "ours", null),
  ];
  expect([...edit(repo, edits)].sort()).toEqual([...paths, "added.md"].sort());
  expect(edit(repo, paths.filter((path) => path !== "deleted.md").map(removal)).length).toBe(3);
  expect(repo.git("ls-files", "-s")).toBe(before);
  // A staged mode is theirs too, and stays while the content follows; the same content staged is no obstacle.
  put(repo, "same.md", "ours");
  repo.git("add", "same.md");
  expect(
    edit(repo, [placed(repo, "exec.md", "ours", "exec.md"), placed(repo, "same.md", "ours", "same.md")]),
  ).toEqual([]);
  expect(repo.git("ls-files", "-s", "exec.md", "same.md")).toBe(
    `100755 ${idOf("ours")} 0\texec.md\n100644 ${idOf("ours")} 0\tsame.md`,
  );
});

test("intent-to-add becomes a real entry when the file is committed, and stays where a deletion is staged", () => {
  const repo = repoWith("old.md");
  put(repo, "new.md", "theirs");
  put(repo, "other.md", "theirs");
  repo.git("rm", "-q", "--cached", "old.md");
  repo.git("add", "-N", "new.md", "other.md", "old.md");
  const index = readIndex(repo.gitdir).index;
  expect([...index.entries()].map((entry) => [entry.path, entry.intentToAdd])).toEqual([
    ["new.md", true],
    ["old.md", true],
    ["other.md", true],
  ]);
  expect(edit(repo, [placed(repo, "new.md", "theirs", null), placed(repo, "old.md", "x", "old.md")])).toEqual(
    ["old.md"],
  );
  expect(repo.git("status", "--porcelain")).toBe("A  new.md\nDA old.md\n A other.md");
  expect(readIndex(repo.gitdir).index.at(at("other.md"))[0]?.intentToAdd).toBe(true);
});

test("skip-worktree, assume-unchanged and every foreign entry keep their flags", () => {
  const repo = repoWith("skip.md", "assume.md", "plain.md", "other/skip", "other/assume", "other/ita");
  put(repo, "other/new-ita", "");
  repo.git("add", "-N", "other/new-ita");
  repo.git("update-index", "--skip-worktree", "skip.md", "other/skip");
  repo.git("update-index", "--assume-unchanged", "assume.md", "other/assume");
  const flags = repo.git("ls-files", "-v", "-t");
  edit(
    repo,
    ["skip.md", "assume.md", "plain.md"].map((path) => placed(repo, path, "new", path)),
  );
  expect(repo.git("ls-files", "-v", "-t")).toBe(flags);
  expect(repo.git("rev-parse", ":skip.md", ":assume.md", ":plain.md").split("\n")).toEqual(
    Array(3).fill(idOf("new")),
  );
});

test("entries that no edit names stay byte for byte", () => {
  const repo = repoWith("a/1", "a/2", "b", "c");
  const file = join(repo.gitdir, "index");
  const before = readFileSync(file);
  edit(repo, [placed(repo, "a/15", "x", null), removal("b")]);
  const after = readFileSync(file);
  for (const path of ["a/1", "a/2", "c"]) {
    const nameAt = (bytes: Buffer) => bytes.indexOf(`${path}\0`);
    const [from, to] = [nameAt(before), nameAt(after)];
    expect(
      after.subarray(to - 62, to + path.length).equals(before.subarray(from - 62, from + path.length)),
    ).toBe(true);
  }
  expect([...gitIndex(after).entries()].map((entry) => entry.path)).toEqual(["a/1", "a/15", "a/2", "c"]);
});

test("a file where a folder stands, and a folder where a file stands, are left alone unless the same edit clears them", () => {
  const repo = repoWith("a/x", "b");
  const add = (path: string): IndexEdit => ({ path: at(path), expected: null, blob: idOf("b"), stat: null });
  expect(edit(repo, [add("a"), add("b/c")])).toEqual(["a", "b/c"]);
  expect(edit(repo, [add("a"), removal("a/x"), add("b/c"), removal("b")])).toEqual([]);
  expect(repo.git("ls-files")).toBe("a\nb/c");
  expect(repo.git("write-tree")).toMatch(/^[0-9a-f]{40}$/);
});

test("names over 4095 bytes and beyond ASCII are found and edited", () => {
  const long = `${"d".repeat(200)}/`.repeat(25);
  const repo = gitRepo();
  repo.gitBytes(
    ["update-index", "--index-info"],
    `100644 ${idOf("x")}\t${long}x\n100644 ${idOf("x")}\tä/字\n`,
  );
  const wish = (path: string): IndexEdit => ({
    path: at(path),
    expected: idOf("x"),
    blob: idOf("y"),
    stat: null,
  });
  expect(edit(repo, [wish(`${long}x`), wish("ä/字")])).toEqual([]);
  expect(repo.git("-c", "core.quotePath=false", "ls-files", "-s")).toBe(
    `100644 ${idOf("y")} 0\t${long}x\n100644 ${idOf("y")} 0\tä/字`,
  );
});

test.each([
  ["version 4", ["update-index", "--index-version", "4"], /--index-version 2/],
  ["a split index", ["update-index", "--split-index"], /--no-split-index/],
])("%s is refused with the way out", (_, args, advice) => {
  const repo = repoWith("a.md", "b.md");
  repo.git(...args);
  expect(() => readIndex(repo.gitdir)).toThrow(
    expect.objectContaining({ code: "STORAGE", message: expect.stringMatching(advice) }),
  );
});

test("a damaged, cut or empty index and an unknown required extension are errors", () => {
  const repo = repoWith("a.md");
  const good = readFileSync(join(repo.gitdir, "index"));
  const flipped = Buffer.from(good);
  flipped[40] = (flipped[40] ?? 0) ^ 1;
  const required = Buffer.concat([good.subarray(0, -20), Buffer.from("abcd\0\0\0\0"), Buffer.alloc(20)]);
  const cut = Buffer.concat([good.subarray(0, 40), Buffer.alloc(20)]);
  for (const bytes of [flipped, good.subarray(0, -1), Buffer.alloc(0), required, cut])
    expect(() => gitIndex(bytes)).toThrow(expect.objectContaining({ code: "STORAGE" }));
  expect(() => gitIndex(required)).toThrow(/"abcd"/);
});

test("Git's caches don't lie after an edit: untracked cache, resolve-undo, offsets", () => {
  const repo = repoWith("notes/a.md", "notes/b.md");
  for (const setting of ["core.untrackedCache=true", "index.threads=4"])
    repo.git("config", ...setting.split("="), "--replace-all");
  put(repo, "notes/new.md", "new");
  repo.git("status", "--porcelain");
  repo.git("status", "--porcelain");
  expect(readFileSync(join(repo.gitdir, "index")).includes("UNTR")).toBe(true);
  edit(repo, [placed(repo, "notes/new.md", "new", null)]);
  expect(repo.git("status", "--porcelain")).toBe("A  notes/new.md");
});

test("any series of edits equals git update-index, cache-tree included", () => {
  const repo = gitRepo();
  const blobs = ["", "x", "y"].map(
    (text) => repo.gitBytes(["hash-object", "-w", "--stdin"], text).toString().trim() as BlobId,
  );
  const path = fc
    .array(fc.constantFrom("a", "a.b", "a-b", "a0", "ä"), { minLength: 1, maxLength: 3 })
    .map((p) => p.join("/"));
  const wishes = fc.array(fc.tuple(path, fc.constantFrom(0, 1, 2, null)), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(fc.array(wishes, { minLength: 1, maxLength: 4 }), (rounds) => {
      rmSync(join(repo.gitdir, "index"), { force: true });
      const model = new Map<string, BlobId>();
      for (const round of rounds) {
        const { index } = readIndex(repo.gitdir);
        const named = [...new Map(round)].filter(
          // A folder and a file of one name can't be asked for together.
          ([one, n]) => n === null || !round.some(([two, m]) => m !== null && two.startsWith(`${one}/`)),
        );
        const edits = named.map(([one, n]): IndexEdit => {
          const blob = n === null ? null : (blobs[n] ?? null);
          return { path: at(one), expected: model.get(one) ?? null, blob, stat: null };
        });
        const { bytes, left } = index.edit(edits);
        for (const { path: one, blob } of edits) {
          if (left.includes(one)) continue;
          if (blob === null) model.delete(one);
          else model.set(one, blob);
        }
        writeFileSync(join(repo.gitdir, "index"), bytes);
        const ours = repo.git("write-tree");
        const lines = [...model].map(([one, blob]) => `100644 ${blob}\t${one}\n`).join("");
        rmSync(join(repo.gitdir, "index"));
        repo.gitBytes(["update-index", "--add", "--index-info"], lines);
        expect(repo.git("write-tree")).toBe(ours);
        writeFileSync(join(repo.gitdir, "index"), bytes);
        repo.git("write-tree");
      }
    }),
    { numRuns: 15 },
  );
});

test("staged paths are those where index and tip differ, as git diff --cached says", async () => {
  const repo = repoWith("notes/a.md", "notes/b.md", "notes/c.md", "code.ts");
  const blobs = repo.git("ls-tree", "-r", "HEAD").split("\n");
  const tip = blobs
    .map((line) => ({ path: at(line.split("\t")[1] ?? ""), blob: line.slice(12, 52) as BlobId }))
    .filter((file) => file.path.endsWith(".md"));
  const isNote = (path: RepoPath) => path.endsWith(".md");
  const staged = async (index: GitIndex) => [...(await stagedPaths(index, tip, isNote))].sort();
  expect(await staged(readIndex(repo.gitdir).index)).toEqual([]);
  put(repo, "notes/a.md", "x");
  put(repo, "notes/new.md", "x");
  put(repo, "notes/intended.md", "x");
  put(repo, "code.ts", "x");
  repo.git("add", "notes/a.md", "notes/new.md", "code.ts");
  repo.git("add", "-N", "notes/intended.md");
  repo.git("rm", "-q", "--cached", "notes/c.md");
  expect(await staged(readIndex(repo.gitdir).index)).toEqual(["notes/a.md", "notes/c.md", "notes/new.md"]);
  expect(repo.git("diff", "--cached", "--name-only", "--", "*.md").split("\n")).toEqual(
    await staged(readIndex(repo.gitdir).index),
  );
  expect(statSync(join(repo.gitdir, "index")).isFile()).toBe(true);
});

test("the folders of an index are those with an entry that ends so", () => {
  const repo = repoWith(
    "a.md",
    "notes/b.md",
    "notes/deep/c.md",
    "notes/deep.md",
    "other/d.txt",
    "notes/deep/e.txt",
  );
  const { index } = readIndex(repo.gitdir);
  expect([...index.folders(".md")].sort()).toEqual(["", "notes", "notes/deep"]);
  expect([...index.folders(".txt")].sort()).toEqual(["notes/deep", "other"]);
  expect([...index.folders(".png")]).toEqual([]);
});
