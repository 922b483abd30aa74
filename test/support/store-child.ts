/**
 * A process that opens a store, commits, and dies when told: run by the crash tests.
 * `step` mode: commit one chain and die at the nth time a step is reached. `advance` mode: the same while the branch moves
 * to a commit that is there, leaving an edit of one file where it lies when told which. `loop` mode: commit for ever,
 * printing a line for each acknowledged commit.
 */
import { writeSync } from "node:fs";
import { join } from "node:path";
import type { CommitId, RepoPath } from "../../src/domain/note.ts";
import { openGitStore } from "../../src/store/git-store.ts";
import { committed, draft } from "./drafts.ts";

const [mode = "", root = "", step = "", nth = "1", to = "", left = ""] = process.argv.slice(2);

const store = await openGitStore({
  root,
  gitdir: join(root, ".git"),
  branch: "main",
  roots: ["notes", "memory"],
  proofKey: new Uint8Array(32),
  besideGitMs: 0,
  onStep: dieAt(step, Number(nth)),
});

function dieAt(name: string, count: number): (reached: string) => void {
  let left = count;
  return (reached) => {
    if (mode !== "loop" && reached === name && --left === 0) process.kill(process.pid, "SIGKILL");
  };
}

if (mode === "step") {
  await store.commit([
    draft("notes/a.md", "a2\n", "a1\n"),
    draft("notes/new/b.md", "b1\n"),
    draft("notes/c.md", null, "c1\n"),
    draft("notes/d.md", "d by hand\n", "d1\n", { origin: "disk" }),
  ]);
  writeSync(1, "acknowledged\n");
  process.exit(0);
}

if (mode === "advance") {
  const from = await store.tip();
  // Of a commit and a file that the test made.
  const wish = { to: to as CommitId, leave: new Set(left === "" ? [] : [left as RepoPath]) };
  await store.advance({ kind: "forward", from, ...wish, atMs: 1_796_050_000_000, why: "sync" });
  writeSync(1, "acknowledged\n");
  process.exit(0);
}

const tip = await store.tip();
const texts = new Map<string, string>();
for (const { path, blob } of tip === null ? [] : await store.list(tip)) {
  texts.set(path, Buffer.from(await store.readBlob(blob)).toString());
}
for (let n = Number(nth); ; n++) {
  const wishes = [n, n + 7, n + 13].map((k) => `notes/${k % 5}/n${k % 30}.md`);
  const drafts = [...new Set(wishes)].map((path, i) => {
    const before = texts.get(path) ?? null;
    const text =
      before !== null && n % 11 === 0 ? null : `revision ${n}.${i}\n${"x".repeat((n * 37) % 6000)}\n`;
    return { path, text, draft: draft(path, text, before) };
  });
  const { outcomes } = await store.commit(drafts.map((d) => d.draft));
  for (const [i, { path, text }] of drafts.entries()) {
    writeSync(1, `${committed(outcomes[i]).events.commit.id}\n`);
    if (text === null) texts.delete(path);
    else texts.set(path, text);
  }
}
