import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { CommitId } from "../../../src/domain/note.ts";
import type { Advance } from "../../../src/store/advance.ts";
import { at, blobOf, committed, draft } from "../../support/drafts.ts";
import { type GitRepo, repoAt, temporaryFolder } from "../../support/git-repo.ts";
import { storeOnGit } from "../../support/store-on-git.ts";

const forward = (from: CommitId | null, to: CommitId): Advance => ({
  kind: "forward",
  from,
  to,
  atMs: 1_796_050_000_000,
  why: "sync: fast-forward from origin",
});

/** A clone in which somebody commits; `bring` fetches it into the store's repository and tells the commit. */
function elsewhere({ root, git }: GitRepo) {
  const folder = temporaryFolder();
  git("clone", "-q", root, folder);
  const clone = repoAt(folder);
  return {
    clone,
    folder,
    bring(): CommitId {
      clone.git("add", "-A");
      clone.git("-c", "user.name=P", "-c", "user.email=p@x", "commit", "-q", "-m", "theirs");
      git("fetch", "-q", folder, "HEAD");
      return git("rev-parse", "FETCH_HEAD") as CommitId;
    },
  };
}

async function begun() {
  const on = await storeOnGit();
  const { outcomes } = await on.store.commit([draft("notes/a.md", "one\n")]);
  return { ...on, tip: committed(outcomes[0]).events.commit.id };
}

const isClean = (repo: GitRepo) => expect(repo.git("status", "--porcelain")).toBe("");

describe("a move of the branch brings files of every kind along", () => {
  test("the permission, also where nothing else changed", async () => {
    const { repo, store, tip } = await begun();
    const { clone, folder, bring } = elsewhere(repo);
    chmodSync(join(folder, "notes/a.md"), 0o755);
    writeFileSync(join(folder, "run.sh"), "#!/bin/sh\n", { mode: 0o755 });
    const to = bring();
    expect(await store.advance(forward(tip, to))).toMatchObject({ kind: "moved", pending: [] });
    expect(statSync(join(repo.root, "notes/a.md")).mode & 0o100).toBe(0o100);
    expect(statSync(join(repo.root, "run.sh")).mode & 0o100).toBe(0o100);
    isClean(repo);
    chmodSync(join(folder, "run.sh"), 0o644);
    clone.git("status");
    await store.advance(forward(to, bring()));
    expect(statSync(join(repo.root, "run.sh")).mode & 0o111).toBe(0);
    isClean(repo);
    await store.close();
  });

  test("links, as they come, turn and go", async () => {
    const { repo, store, tip } = await begun();
    const { folder, bring } = elsewhere(repo);
    symlinkSync("notes/a.md", join(folder, "latest"));
    symlinkSync("nowhere", join(folder, "other"));
    const first = bring();
    await store.advance(forward(tip, first));
    expect(readlinkSync(join(repo.root, "latest"))).toBe("notes/a.md");
    isClean(repo);
    rmSync(join(folder, "latest"));
    symlinkSync("notes", join(folder, "latest"));
    rmSync(join(folder, "other"));
    const second = bring();
    await store.advance(forward(first, second));
    expect(readlinkSync(join(repo.root, "latest"))).toBe("notes");
    expect(() => lstatSync(join(repo.root, "other"))).toThrow(/ENOENT/);
    isClean(repo);
    await store.close();
  });

  test("a link that becomes a file is replaced in the background, and a file that becomes a link at once", async () => {
    const { repo, store, tip, reopen } = await begun();
    const { folder, bring } = elsewhere(repo);
    symlinkSync("notes/a.md", join(folder, "latest"));
    writeFileSync(join(folder, "plain"), "plain\n");
    const first = bring();
    await store.advance(forward(tip, first));
    for (const name of ["latest", "plain"]) rmSync(join(folder, name));
    writeFileSync(join(folder, "latest"), "a file by now\n");
    symlinkSync("notes", join(folder, "plain"));
    const moved = await store.advance(forward(first, bring()));
    expect(moved).toMatchObject({ kind: "moved", pending: ["latest"] });
    expect(readlinkSync(join(repo.root, "plain"))).toBe("notes");
    await store.close();
    await (await reopen()).close();
    expect(lstatSync(join(repo.root, "latest")).isFile()).toBe(true);
    isClean(repo);
  });

  test("a folder in place of a file, and a file in place of a folder", async () => {
    const { repo, store, tip } = await begun();
    const { folder, bring } = elsewhere(repo);
    const write = (path: string, text: string) => writeFileSync(join(folder, path), text);
    write("x", "file\n");
    repoAt(folder).git("mv", "notes/a.md", "y.tmp");
    rmSync(join(folder, "notes"), { recursive: true, force: true });
    write("notes", "a file called notes\n");
    const first = bring();
    expect(await store.advance(forward(tip, first))).toMatchObject({ kind: "moved", pending: [] });
    isClean(repo);
    rmSync(join(folder, "notes"));
    rmSync(join(folder, "x"));
    repoAt(folder).git("checkout", "-q", tip, "--", "notes");
    expect(await store.advance(forward(first, bring()))).toMatchObject({ kind: "moved", pending: [] });
    isClean(repo);
    await store.close();
  });

  test("a large file that is no text, and submodules as empty folders", async () => {
    const { repo, store, tip } = await begun();
    const { clone, folder, bring } = elsewhere(repo);
    writeFileSync(join(folder, "big.bin"), Buffer.alloc(1 << 20, 0xff));
    mkdirSync(join(folder, "sub"));
    clone.git("update-index", "--add", "--cacheinfo", `160000,${"12".repeat(20)},sub`);
    await store.advance(forward(tip, bring()));
    expect(statSync(join(repo.root, "big.bin")).size).toBe(1 << 20);
    expect(lstatSync(join(repo.root, "sub")).isDirectory()).toBe(true);
    expect(repo.git("ls-files", "-s", "sub")).toContain("160000");
    isClean(repo);
    await store.close();
  });
});

test("what a person staged or has in another file refuses the move; a file that is gone comes back", async () => {
  const { repo, store, save, tip, text } = await begun();
  const { folder, bring } = elsewhere(repo);
  writeFileSync(join(folder, "other.txt"), "one\n");
  writeFileSync(join(folder, "gone.txt"), "one\n");
  const first = bring();
  await store.advance(forward(tip, first));
  writeFileSync(join(folder, "other.txt"), "two\n");
  writeFileSync(join(folder, "gone.txt"), "two\n");
  writeFileSync(join(folder, "notes/a.md"), "two\n");
  const second = bring();
  save("other.txt", "mine\n");
  expect(await store.advance(forward(first, second))).toEqual({ kind: "dirty", paths: ["other.txt"] });
  save("other.txt", "one\n");
  save("notes/a.md", "staged\n");
  repo.git("add", "notes/a.md");
  save("notes/a.md", "one\n");
  expect(await store.advance(forward(first, second))).toEqual({ kind: "dirty", paths: ["notes/a.md"] });
  repo.git("reset", "-q", "notes/a.md");
  save("gone.txt", null);
  expect(await store.advance(forward(first, second))).toMatchObject({ kind: "moved" });
  expect([text("other.txt"), text("gone.txt"), text("notes/a.md")]).toEqual(["two\n", "two\n", "two\n"]);
  isClean(repo);
  await store.close();
});

describe("a deletion that a person staged stays staged", () => {
  test.each(["README.txt", "notes/a.md"])("%s, which the others changed, refuses the move", async (path) => {
    const { repo, store, tip, text } = await begun();
    const { folder, bring } = elsewhere(repo);
    writeFileSync(join(folder, "README.txt"), "one\n");
    const first = bring();
    await store.advance(forward(tip, first));
    writeFileSync(join(folder, path), "two\n");
    const second = bring();
    repo.git("rm", "-q", path);
    expect(await store.advance(forward(first, second))).toEqual({ kind: "dirty", paths: [path] });
    expect(text(path)).toBeNull();
    expect(repo.git("status", "--porcelain")).toBe(`D  ${path}`);
    await store.close();
  });

  test("a file that the person keeps untracked is not taken away where the others deleted it", async () => {
    const { repo, store, tip, text } = await begun();
    const { folder, bring } = elsewhere(repo);
    writeFileSync(join(folder, "README.txt"), "one\n");
    const first = bring();
    await store.advance(forward(tip, first));
    rmSync(join(folder, "README.txt"));
    const second = bring();
    repo.git("rm", "-q", "--cached", "README.txt");
    expect(await store.advance(forward(first, second))).toEqual({ kind: "dirty", paths: ["README.txt"] });
    expect(text("README.txt")).toBe("one\n");
    await store.close();
  });

  test("what both deleted is deleted", async () => {
    const { repo, store, tip, text } = await begun();
    const { folder, bring } = elsewhere(repo);
    writeFileSync(join(folder, "README.txt"), "one\n");
    const first = bring();
    await store.advance(forward(tip, first));
    rmSync(join(folder, "README.txt"));
    const second = bring();
    repo.git("rm", "-q", "README.txt");
    expect(await store.advance(forward(first, second))).toMatchObject({ kind: "moved", pending: [] });
    expect(text("README.txt")).toBeNull();
    isClean(repo);
    await store.close();
  });
});

test("while HEAD is elsewhere the branch moves alone", async () => {
  const { repo, store, tip, text } = await begun();
  const { folder, bring } = elsewhere(repo);
  writeFileSync(join(folder, "notes/a.md"), "two\n");
  const to = bring();
  repo.git("checkout", "-q", "-b", "side");
  expect(await store.advance(forward(tip, to))).toMatchObject({ kind: "moved" });
  expect(repo.git("rev-parse", "main")).toBe(to);
  expect(text("notes/a.md")).toBe("one\n");
  isClean(repo);
  await store.close();
});

test("a path that is Git's own, or leaves the repository, is placed by nobody", async () => {
  const { repo, store, tip } = await begun();
  const blob = repo.gitBytes(["hash-object", "-w", "--stdin"], "[core]\n").toString().trim();
  for (const name of [".git", ".GIT", "git~1"]) {
    const tree = repo.gitBytes(["mktree"], `100644 blob ${blob}\t${name}x\n`).toString().trim();
    const raw = repo.gitBytes(["cat-file", "tree", tree]);
    const forged = Buffer.from(raw.toString("latin1").replace(`${name}x`, name), "latin1");
    const id = repo
      .gitBytes(["hash-object", "-w", "-t", "tree", "--literally", "--stdin"], forged)
      .toString()
      .trim();
    const to = repo.git("-c", "user.name=P", "-c", "user.email=p@x", "commit-tree", "-p", tip, "-m", "x", id);
    expect(await store.advance(forward(tip, to as CommitId))).toMatchObject({ kind: "blocked", path: name });
  }
  expect(await store.tip()).toBe(tip);
  await store.close();
});

test("the reflog tells of the move, and an index entry of another kind is edited whole", async () => {
  const { repo, store, tip } = await begun();
  const { folder, bring } = elsewhere(repo);
  writeFileSync(join(folder, "notes/b.md"), "b\n");
  const to = bring();
  await store.advance(forward(tip, to));
  expect(repo.git("reflog", "-1", "--format=%gs")).toBe("sync: fast-forward from origin");
  expect(repo.git("ls-files", "-s", "notes/b.md")).toContain(`100644 ${blobOf("b\n")} 0`);
  expect(await store.entryAt(to, at("notes"))).toBeNull();
  await store.close();
});
