/** Hand edits beside a person's native Git: a real repository, real watchers, time held for what settles. */
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type DiskDoor, startDisk } from "../../../src/doors/disk.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import type { GitStore } from "../../../src/store/git-store.ts";
import { temporaryFolder } from "../../support/git-repo.ts";
import { type StoreOnGit, storeOnGit } from "../../support/store-on-git.ts";
import { until } from "../../support/wait.ts";
import { at, type Harness, harness } from "./reconcile-harness.ts";

let on: StoreOnGit;
let h: Harness & { store: GitStore };
let door: DiskDoor;

beforeEach(async () => {
  on = await storeOnGit();
  h = harness(() => on.store);
  await h.reconciler.scanAll("start");
  door = await startDisk({
    root: on.repo.root,
    gitDir: on.repo.gitdir,
    commonDir: on.repo.gitdir,
    roots: ["notes", "memory"],
    clock: systemClock,
    folders: () => ["notes"],
    noteCount: () => 0,
    hint: (paths) => h.reconciler.hint(paths),
    scanAll: (reason) => h.reconciler.scanAll(reason),
    headMoved: () => h.reconciler.onHeadMoved(),
    failed: (error) => h.failures.push(error),
  });
});
afterEach(async () => {
  await door.close();
  await h.reconciler.close();
  await on.store.close();
  expect(h.failures).toEqual([]);
});

const file = (name: string) => join(on.repo.root, at(name));
const git = (...args: string[]) => on.repo.git(...args);
const adopted = () => h.commits.filter(({ draft }) => draft.message.source === "disk");
const shown = (name: string) => on.repo.tryGit("show", `main:${at(name)}`).stdout;
const unsettled = (...names: string[]) =>
  until(`${names} to be unsettled`, () => names.every((name) => h.reconciler.dirty(at(name))));
/** Nothing waits any more: the watchers told everything, and it was looked at. */
async function calm(): Promise<void> {
  await h.reconciler.scanAll("asked");
  await h.rest();
}
/** Let what is unsettled settle, and wait until it is committed. */
async function settled(): Promise<void> {
  h.clock.advance(12_000);
  await until("everything to settle", () => h.reconciler.unsettled().length === 0);
  // The branch has it a moment before the commit's own promise is kept.
  await h.rest();
}

test("Markdown outside of the roots is nobody's note: edited, hinted or asked for, it is never committed", async () => {
  writeFileSync(join(on.repo.root, "README.md"), "the project's own\n");
  mkdirSync(join(on.repo.root, "docs"));
  writeFileSync(join(on.repo.root, "docs/guide.md"), "the project's own\n");
  await h.reconciler.hint(["README.md", "docs/guide.md", "docs"]);
  await calm();
  h.clock.advance(1_000_000);
  await calm();
  expect(
    await h.reconciler.settle(["README.md", "docs/guide.md", "../outside.md"] as never, "all", "person"),
  ).toEqual([]);
  expect(h.commits).toEqual([]);
  expect(h.reconciler.unsettled()).toEqual([]);
});

test("every way that editors save becomes one adopted edit, and the file is never written by us", async () => {
  const ways: Record<string, (path: string) => void> = {
    inPlace: (path) => writeFileSync(path, "in place\n"),
    renameOver(path) {
      writeFileSync(`${path}.tmp`, "renamed over\n");
      renameSync(`${path}.tmp`, path);
    },
    backup(path) {
      renameSync(path, `${path}~`);
      writeFileSync(path, "backup and write\n");
      unlinkSync(`${path}~`);
    },
    deleteAndCreate(path) {
      unlinkSync(path);
      writeFileSync(path, "deleted and created\n");
    },
    append: (path) => appendFileSync(path, "appended\n"),
  };
  for (const name of Object.keys(ways)) await h.agent(at(name), "one\n");
  for (const [name, save] of Object.entries(ways)) save(file(name));
  await unsettled(...Object.keys(ways));
  const before = Object.keys(ways).map((name) => lstatSync(file(name), { bigint: true }));
  const texts = Object.keys(ways).map((name) => readFileSync(file(name), "utf8"));
  await settled();
  expect(adopted()).toHaveLength(1);
  expect(Object.keys(ways).map((name) => `${shown(name)}`)).toEqual(texts);
  await calm();
  h.clock.advance(1_000_000);
  await calm();
  const after = Object.keys(ways).map((name) => lstatSync(file(name), { bigint: true }));
  expect(after.map((s) => [s.ino, s.mtimeNs, s.ctimeNs])).toEqual(
    before.map((s) => [s.ino, s.mtimeNs, s.ctimeNs]),
  );
  expect(adopted()).toHaveLength(1);
  expect(git("status", "--porcelain")).toBe("");
});

test("delete, 250 ms, create; and a slow writer: each one commit of the last text", async () => {
  await h.agent(at("x"), "one\n");
  await h.agent(at("slow"), "one\n");
  unlinkSync(file("x"));
  await unsettled("x");
  h.clock.advance(250);
  writeFileSync(file("x"), "two\n");
  for (let part = 0; part < 5; part++) {
    appendFileSync(file("slow"), `part ${part}\n`);
    await h.reconciler.hint([at("x"), at("slow")]);
    h.clock.advance(3_000);
    await h.rest();
  }
  await settled();
  expect([shown("x"), shown("slow").split("\n").length]).toEqual(["two\n", 7]);
  expect(
    adopted()
      .flatMap(({ draft }) => draft.files.map((f) => f.path))
      .sort(),
  ).toEqual([at("slow"), at("x")]);
});

test("500 files at once are one commit; the same bytes written again are none", async () => {
  mkdirSync(join(on.repo.root, "notes"), { recursive: true });
  const all = Array.from({ length: 500 }, (_, i) => `n${i}`);
  for (const name of all) writeFileSync(file(name), `# ${name}\n`);
  await until("all to be seen", () => h.reconciler.unsettled().length === 500);
  await settled();
  expect(adopted()).toHaveLength(1);
  for (const name of all) writeFileSync(file(name), `# ${name}\n`);
  await calm();
  h.clock.advance(60_000);
  await calm();
  expect([adopted().length, h.reconciler.unsettled()]).toEqual([1, []]);
  expect(git("log", "-1", "--format=%s%n%an <%ae>", "main")).toBe("adopt: 500 notes\nPat <pat@example.org>");
});

test("a renamed folder of files without ids keeps every id, and git follows each", async () => {
  for (const name of ["a/x", "a/y"]) await h.agent(at(name), `# ${name}\n`);
  const ids = [h.ids.get(at("a/x")), h.ids.get(at("a/y"))];
  renameSync(join(on.repo.root, "notes/a"), join(on.repo.root, "notes/b"));
  await unsettled("a/x", "a/y", "b/x", "b/y");
  await settled();
  expect([h.ids.get(at("b/x")), h.ids.get(at("b/y"))]).toEqual(ids);
  expect(git("diff-tree", "--name-status", "-M100%", "-r", "main~", "main")).toMatch(/^R100.*\nR100.*$/);
});

test("what a person staged rides on no commit of ours, and waits for theirs", async () => {
  await h.agent(at("x"), "one\n");
  await h.agent(at("y"), "one\n");
  writeFileSync(file("x"), "staged\n");
  git("add", at("x"));
  writeFileSync(file("y"), "saved\n");
  await unsettled("x", "y");
  h.clock.advance(12_000);
  await until("the save to be adopted", () => adopted().length === 1);
  await h.agent(at("z"), "by agent\n");
  expect([shown("x"), shown("y"), git("diff", "--cached", "--name-only")]).toEqual([
    "one\n",
    "saved\n",
    at("x"),
  ]);
  git("commit", "-qm", "mine");
  expect(git("show", "--stat", "--format=", "main").split("\n")[0]).toContain(at("x"));
  await until("the commit to be seen", () => h.reconciler.unsettled().length === 0);
  expect([shown("y"), shown("z"), adopted().length]).toEqual(["saved\n", "by agent\n", 1]);
  expect(git("status", "--porcelain")).toBe("");
});

test("git stash takes an edit away before it settles, and brings it back to settle", async () => {
  await h.agent(at("x"), "one\n");
  writeFileSync(file("x"), "two\n");
  await unsettled("x");
  git("stash", "-q");
  await until("the edit to be gone", () => !h.reconciler.dirty(at("x")));
  h.clock.advance(60_000);
  await calm();
  expect(adopted()).toEqual([]);
  git("stash", "pop", "-q");
  await unsettled("x");
  await settled();
  expect(shown("x")).toBe("two\n");
});

test("a checkout of another branch with 500 notes, agents writing meanwhile, and back: nothing is adopted", async () => {
  for (let i = 0; i < 500; i++) on.save(at(`n${i}`), `text ${i}\n`);
  await h.reconciler.settle();
  git("checkout", "-q", "-b", "other");
  for (let i = 0; i < 500; i++) on.save(at(`n${i}`), `other ${i}\n`);
  git("add", ".");
  git("commit", "-qm", "other");
  const before = h.commits.length;
  await until("the edits to be let go", () => h.reconciler.unsettled().length === 0);
  h.clock.advance(60_000);
  await calm();
  await h.agent(at("n7"), "by agent\n");
  expect([shown("n7"), readFileSync(file("n7"), "utf8")]).toEqual(["by agent\n", "other 7\n"]);
  git("checkout", "-q", "main");
  await calm();
  h.clock.advance(60_000);
  await calm();
  expect([h.commits.length - before, readFileSync(file("n7"), "utf8"), git("status", "--porcelain")]).toEqual(
    [1, "by agent\n", ""],
  );
  on.save(at("n8"), "after\n");
  await unsettled("n8");
  await settled();
  expect(shown("n8")).toBe("after\n");
});

test("a branch without any notes folder, and back, then an edit", async () => {
  await h.agent(at("x"), "one\n");
  git("checkout", "-q", "--orphan", "bare");
  git("rm", "-qrf", ".");
  git("commit", "-q", "--allow-empty", "-m", "nothing");
  await calm();
  h.clock.advance(60_000);
  await calm();
  expect([shown("x"), h.reconciler.unsettled()]).toEqual(["one\n", []]);
  git("checkout", "-q", "main");
  await calm();
  on.save(at("x"), "two\n");
  await unsettled("x");
  await settled();
  expect([shown("x"), adopted().length]).toEqual(["two\n", 1]);
});

test("while a rebase is stopped nothing is adopted; afterwards everything is level", async () => {
  await h.agent(at("x"), "one\n");
  git("checkout", "-q", "-b", "topic");
  on.save(at("x"), "topic\n");
  git("commit", "-qam", "topic");
  git("checkout", "-q", "main");
  on.save(at("x"), "main\n");
  git("commit", "-qam", "main");
  on.repo.tryGit("rebase", "topic");
  on.save(at("y"), "written while it is open\n");
  await calm();
  h.clock.advance(60_000);
  await calm();
  expect([adopted(), await h.store.state()]).toMatchObject([[], { state: "rebase" }]);
  on.save(at("x"), "both\n");
  git("add", at("x"));
  git("-c", "core.editor=true", "rebase", "--continue");
  await unsettled("y");
  await settled();
  expect([shown("x"), shown("y"), adopted().length]).toEqual(["both\n", "written while it is open\n", 1]);
  expect(git("status", "--porcelain")).toBe("");
});

test("a soft and a mixed reset leave what was committed in the files, to be committed again", async () => {
  await h.agent(at("x"), "one\n");
  on.save(at("x"), "two\n");
  git("commit", "-qam", "too early");
  await calm();
  git("reset", "-q", "--soft", "HEAD~");
  await calm();
  h.clock.advance(60_000);
  await calm();
  expect([readFileSync(file("x"), "utf8"), shown("x"), h.reconciler.held(at("x"))]).toEqual([
    "two\n",
    "one\n",
    "staged",
  ]);
  git("reset", "-q");
  await until("the file to settle", () => {
    h.clock.advance(12_000);
    return shown("x") === "two\n";
  });
});

test("a pulled change lies in history and files, an edit beside it is merged, and one against it is kept", async () => {
  await h.agent(at("x"), "a\nb\nc\n");
  await h.agent(at("y"), "one\n");
  git("branch", "pulled");
  git("worktree", "add", "-q", "--force", join(temporaryFolder(), "w"), "pulled");
  const other = git("worktree", "list", "--porcelain").split("worktree ")[2]?.split("\n")[0] ?? "";
  writeFileSync(join(other, at("x")), "A\nb\nc\n");
  writeFileSync(join(other, at("y")), "ours\n");
  execFileSync("git", ["-C", other, "-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qam", "theirs"]);
  on.save(at("x"), "a\nb\nC\n");
  on.save(at("y"), "by hand\n");
  await unsettled("x", "y");
  git("update-ref", "refs/heads/main", "pulled");
  await calm();
  h.clock.advance(12_000);
  await until("the merge", () => shown("x") === "A\nb\nC\n");
  await until("the conflict", () => h.reconciler.held(at("y")) === "conflict");
  expect([readFileSync(file("x"), "utf8"), readFileSync(file("y"), "utf8"), shown("y")]).toEqual([
    "A\nb\nC\n",
    "by hand\n",
    "ours\n",
  ]);
  const [kept] = await h.store.conflicts();
  expect(git("cat-file", "blob", kept?.theirs ?? "")).toBe("by hand");
});

test("links and pipes are reported and never followed, committed or waited for", async () => {
  const outside = temporaryFolder();
  writeFileSync(join(outside, "secret.md"), "secret\n");
  mkdirSync(join(on.repo.root, "notes"), { recursive: true });
  symlinkSync(join(outside, "secret.md"), file("link"));
  symlinkSync("/nowhere", file("dangling"));
  symlinkSync(outside, join(on.repo.root, "notes/folder"));
  execFileSync("mkfifo", [file("note")]);
  on.save(at("plain"), "plain\n");
  await unsettled("plain");
  await calm();
  await settled();
  expect(git("ls-tree", "-r", "--name-only", "main")).toBe(at("plain"));
  expect(
    h.reconciler
      .reported()
      .map(({ path }) => path)
      .sort(),
  ).toEqual([at("dangling"), at("link"), at("note")]);
  rmSync(file("link"));
  await calm();
  expect(h.reconciler.reported()).toHaveLength(2);
});

test("edits made while nobody watched are found at the start, and base outlives the daemon", async () => {
  await h.agent(at("x"), "one\n");
  await h.agent(at("y"), "one\n");
  await door.close();
  await h.reconciler.close();
  await on.store.close();
  on.save(at("x"), "edited meanwhile\n");
  const store = await on.reopen();
  h = harness(() => store, {}, await store.tip());
  await h.reconciler.scanAll("start");
  expect(h.reconciler.unsettled()).toEqual([at("x")]);
  await settled();
  expect(shown("x")).toBe("edited meanwhile\n");
});
