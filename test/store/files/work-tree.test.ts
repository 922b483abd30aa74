import { execFileSync } from "node:child_process";
import { linkSync, mkdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openBaseTable } from "../../../src/store/files/base-table.ts";
import { lookAt } from "../../../src/store/files/disk-look.ts";
import { signatureOf, signatureText } from "../../../src/store/files/file-signature.ts";
import { at, blobOf, committed, draft } from "../../support/drafts.ts";
import { temporaryFolder } from "../../support/git-repo.ts";
import { storeOnGit } from "../../support/store-on-git.ts";

const rules = (root: string, over: object = {}) => ({
  root,
  maxBytes: 1_000,
  isPrepared: () => false,
  nowMs: Date.now,
  ...over,
});
const old = new Date(Date.now() - 60_000);

test("what is no plain file of a person's own is unfit, each with its reason", () => {
  const root = temporaryFolder();
  const outside = temporaryFolder();
  writeFileSync(join(outside, "secret.md"), "secret\n");
  mkdirSync(join(root, "notes"));
  symlinkSync(join(outside, "secret.md"), join(root, "notes/link.md"));
  symlinkSync("nowhere", join(root, "notes/dangling.md"));
  symlinkSync(outside, join(root, "notes/folder"));
  execFileSync("mkfifo", [join(root, "notes/fifo.md")]);
  mkdirSync(join(root, "notes/folder.md"));
  writeFileSync(join(root, "notes/big.md"), "x".repeat(1_001));
  writeFileSync(join(root, "notes/latin.md"), Buffer.from([0xe4]));
  writeFileSync(join(root, "notes/hard.md"), "x\n");
  linkSync(join(root, "notes/hard.md"), join(outside, "other.md"));
  const reason = (path: string) => lookAt(rules(root), at(path), null);
  expect(reason("notes/link.md")).toEqual({ kind: "unfit", reason: "is a symbolic link" });
  expect(reason("notes/dangling.md")).toEqual({ kind: "unfit", reason: "is a symbolic link" });
  expect(reason("notes/folder/secret.md")).toEqual({ kind: "unfit", reason: "lies behind a symbolic link" });
  expect(reason("notes/fifo.md")).toEqual({ kind: "unfit", reason: "is no regular file" });
  expect(reason("notes/folder.md")).toEqual({ kind: "absent" });
  expect(reason("notes/big.md")).toEqual({ kind: "unfit", reason: "is larger than 1000 bytes" });
  expect(reason("notes/latin.md")).toEqual({ kind: "unfit", reason: "is not UTF-8 text" });
  expect(reason("notes/hard.md")).toEqual({ kind: "unfit", reason: "has hard links" });
  const prepared = lookAt(rules(root, { isPrepared: () => true }), at("notes/hard.md"), null);
  expect(prepared).toMatchObject({ kind: "file", blob: blobOf("x\n") });
  expect(reason("notes/none/x.md")).toEqual({ kind: "absent" });
  expect(reason("notes/big.md/x.md")).toEqual({ kind: "absent" });
});

test("a known signature spares the reading, but not of a young file", () => {
  const root = temporaryFolder();
  const file = join(root, "a.md");
  writeFileSync(file, "one\n");
  utimesSync(file, old, old);
  const later = rules(root, { nowMs: () => Date.now() + 10_000 });
  const first = lookAt(later, at("a.md"), null);
  if (first.kind !== "file") throw new Error("no file");
  expect(first.settled).toBe(true);
  const known = { signature: signatureText(signatureOf(first.stat)), blob: blobOf("remembered\n") };
  expect(lookAt(later, at("a.md"), known)).toMatchObject({ blob: known.blob, bytes: null });
  // Changed less than two seconds ago: read, whatever is known.
  expect(lookAt(rules(root), at("a.md"), known)).toMatchObject({ blob: blobOf("one\n"), settled: false });
  writeFileSync(file, "two\n");
  utimesSync(file, old, old);
  expect(lookAt(later, at("a.md"), known)).toMatchObject({ blob: blobOf("two\n") });
});

test("a scan enters no link, no dot folder and no node_modules, and finds base paths that are gone", async () => {
  const on = await storeOnGit();
  on.save("notes/a.md", "a\n");
  on.save("notes/.obsidian/b.md", "b\n");
  on.save("notes/node_modules/c.md", "c\n");
  on.save("elsewhere/d.md", "d\n");
  symlinkSync(join(on.repo.root, "elsewhere"), join(on.repo.root, "notes/link"));
  on.store.workTree.accept(at("notes/gone.md"), blobOf("gone\n"));
  expect((await on.store.workTree.scan()).map((f) => `${f.kind} ${f.path}`)).toEqual([
    "file notes/a.md",
    "absent notes/gone.md",
  ]);
  await on.store.close();
});

test("base outlives a kill and a close, and a torn line costs only itself", async () => {
  const folder = temporaryFolder();
  const table = openBaseTable(folder);
  table.setBase(at("notes/a.md"), blobOf("a\n"));
  table.setBase(at('notes/ü \n".md'), blobOf("b\n"));
  table.write();
  await table.flush();
  table.setBase(at("notes/a.md"), null);
  table.setBase(at("notes/c.md"), blobOf("c\n"));
  table.write();
  const again = openBaseTable(folder);
  expect([...again.paths()].sort()).toEqual(["notes/c.md", 'notes/ü \n".md']);
  const log = join(folder, "base.log");
  writeFileSync(log, readFileSync(log, "utf8").slice(0, -20));
  const torn = openBaseTable(folder);
  torn.setBase(at("notes/d.md"), blobOf("d\n"));
  torn.write();
  const last = openBaseTable(folder);
  expect(last.base(at("notes/a.md"))).toBeNull();
  expect(last.base(at("notes/c.md"))).toBeNull();
  expect(last.base(at("notes/d.md"))).toBe(blobOf("d\n"));
});

test("what changes while a flush is writing is in the table afterwards", async () => {
  const folder = temporaryFolder();
  const table = openBaseTable(folder);
  table.setBase(at("notes/a.md"), blobOf("a\n"));
  const flushing = table.flush();
  table.setBase(at("notes/b.md"), blobOf("b\n"));
  table.write();
  await flushing;
  expect(openBaseTable(folder).base(at("notes/b.md"))).toBe(blobOf("b\n"));
});

test("a file brought forward leaves what a person staged, and its Git index entry level", async () => {
  const on = await storeOnGit();
  const { store, repo } = on;
  await store.commit([draft("notes/a.md", "one\n"), draft("notes/b.md", "b\n")]);
  on.save("notes/b.md", "staged\n");
  repo.git("add", "notes/b.md");
  const tree = repo.git("write-tree");
  repo.git("read-tree", "HEAD");
  // Another clone's commit arrives at the ref alone.
  const blob = repo.gitBytes(["hash-object", "-w", "--stdin"], "pulled\n").toString().trim();
  repo.git("update-index", "--cacheinfo", `100644,${blob},notes/a.md`);
  const pulled = repo.git("commit-tree", "-p", "HEAD", "-m", "pulled", repo.git("write-tree"));
  repo.git("read-tree", tree);
  repo.git("update-ref", "refs/heads/main", pulled);
  expect([...(await store.staged())]).toEqual(["notes/b.md"]);
  expect(await store.workTree.bringForward(at("notes/a.md"), blobOf("pulled\n"), blobOf("one\n"))).toBe(true);
  expect(on.text("notes/a.md")).toBe("pulled\n");
  expect(repo.git("status", "--porcelain")).toBe("M  notes/b.md");
  repo.git("checkout", "-q", "--detach");
  expect(await store.workTree.bringForward(at("notes/a.md"), blobOf("one\n"), blobOf("pulled\n"))).toBe(
    false,
  );
  await store.close();
});

test("the other side of a kept conflict outlives gc, and its commit shows all three sides", async () => {
  const on = await storeOnGit();
  const { store, repo } = on;
  const made = committed((await store.commit([draft("notes/a.md", "ours\n")])).outcomes[0]);
  const theirs = Buffer.from("theirs, of no commit\n");
  const conflict = {
    note_id: "note_1",
    path: at("notes/a.md"),
    base: null,
    ours: blobOf("ours\n"),
    theirs: blobOf(theirs),
    since: made.events.commit.at,
  };
  await expect(store.keepConflict(conflict, Buffer.from("others"))).rejects.toMatchObject({
    code: "INVALID_PARAMS",
  });
  await store.keepConflict(conflict, theirs);
  repo.git("gc", "-q", "--prune=now");
  expect(Buffer.from(await store.readBlob(blobOf(theirs))).toString()).toBe("theirs, of no commit\n");
  expect(await store.conflicts()).toEqual([conflict]);
  const [ref = ""] = repo.git("for-each-ref", "--format=%(refname)", "refs/notesd/conflicts").split("\n");
  expect(ref).toMatch(new RegExp(`^refs/notesd/conflicts/[0-9a-f]{40}/${blobOf(theirs)}$`));
  expect(repo.git("ls-tree", "--name-only", ref).split("\n")).toEqual(["note.json", "ours", "theirs"]);
  await store.dropConflicts("note_1");
  expect(repo.git("for-each-ref", "refs/notesd/conflicts")).toBe("");
  repo.git("gc", "-q", "--prune=now");
  const resolved = "refs/notesd/backup/conflicts";
  expect(repo.git("show", `${resolved}:theirs`)).toBe("theirs, of no commit");
  expect(repo.git("log", "--format=%s", resolved)).toBe("resolved: notes/a.md");

  const second = { ...conflict, theirs: blobOf("another\n") };
  await store.keepConflict(second, Buffer.from("another\n"));
  // As when it was killed between the two.
  const kept = repo.git("for-each-ref", "--format=%(objectname)", "refs/notesd/conflicts");
  const tree = repo.git("rev-parse", `${kept}^{tree}`);
  const cut = repo.git("commit-tree", "-p", resolved, "-m", "resolved: notes/a.md", tree);
  repo.git("update-ref", resolved, cut);
  await store.dropConflicts("note_1");
  expect(await store.conflicts()).toEqual([]);
  repo.git("gc", "-q", "--prune=now");
  expect(repo.git("rev-parse", resolved)).toBe(cut);
  expect(repo.git("show", `${resolved}:theirs`, `${resolved}~:theirs`)).toContain("another");
  expect(repo.tryGit("fsck", "--strict", "--no-dangling")).toMatchObject({ status: 0 });
  await store.close();
});
