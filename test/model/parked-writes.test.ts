/**
 * Why agents' writes are refused while a person's rebase is under way, and not parked on a ref of their own to be joined
 * after it: each way of joining breaks something that is promised. docs/decisions/0010 tells the whole.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { CommitId } from "../../src/domain/note.ts";
import { type GitRepo, gitRepo } from "../support/git-repo.ts";
import { asInitLeavesIt, type NotebookOnGit, notebookOnGit } from "../support/notebook-on-git.ts";
import { PERSON } from "../support/open-notebook.ts";
import { saveFile } from "../support/save-file.ts";
import { plumbCommit } from "../support/store-on-git.ts";

let on: NotebookOnGit | null = null;
afterEach(async () => {
  await on?.close();
  on = null;
});

const PAGE = "notes/page.md";
const HOW = {
  author: { name: "notesd", email: "notesd@notesd.invalid" },
  via: "sync",
  reason: null,
  from: "that were parked",
} as const;

function commit(repo: GitRepo, path: string, text: string): CommitId {
  saveFile(repo.root, path, text);
  repo.git("add", "-A");
  repo.git("commit", "-q", "-m", `${path}: ${text.slice(-12)}`);
  return repo.git("rev-parse", "HEAD") as CommitId;
}

/** A person's interactive rebase of the last two commits. @param todo what becomes of them, a line each */
function rebase(repo: GitRepo, todo: readonly string[]): void {
  const editor = join(repo.gitdir, "todo.sh");
  const script = todo.map((word, i) => `${i + 1}s/^pick/${word}/`).join(";");
  writeFileSync(editor, `#!/bin/sh\nsed -i '${script}' "$1"\n`, { mode: 0o755 });
  repo.git("-c", `sequence.editor=${editor}`, "rebase", "-q", "-i", `HEAD~${todo.length}`);
}

/** What an agent would have written on top of the branch while the rebase was stopped. */
const parked = (repo: GitRepo, on: CommitId) =>
  plumbCommit(repo, { "notes/agent.md": "# Agent\n\nparked\n" }, [on], Date.UTC(2026, 10, 30));

async function started() {
  const repo = gitRepo();
  asInitLeavesIt(repo);
  commit(repo, PAGE, "# Page\n\none\n");
  on = await notebookOnGit(repo);
  await on.driven(on.disk.scanAll("start"));
  return { notes: on, repo };
}

async function seen(notes: NotebookOnGit): Promise<void> {
  await notes.driven(notes.disk.headMoved());
  await notes.settle();
}

test("joined by a merge, a commit that the person's rebase dropped is back on the branch", async () => {
  const { notes, repo } = await started();
  commit(repo, "notes/secret.md", "# Password\n\nhunter2\n");
  const before = commit(repo, PAGE, "# Page\n\none\n\ntwo\n");
  await seen(notes);
  rebase(repo, ["drop", "pick"]);
  const chain = parked(repo, before);
  await seen(notes);
  expect(repo.git("ls-tree", "-r", "--name-only", "main")).not.toContain("secret");
  await notes.driven(notes.notebook.join(chain, HOW));
  expect(repo.git("ls-tree", "-r", "--name-only", "main")).toContain("secret");
});

test("joined by a merge, a text that the person reworked in the rebase comes back as a conflict", async () => {
  const { notes, repo } = await started();
  const first = commit(repo, PAGE, "# Page\n\none\n\nfirst try\n");
  await seen(notes);
  repo.git("reset", "-q", "--hard", "HEAD~1");
  commit(repo, PAGE, "# Page\n\none\n\nas it was rebased\n");
  const chain = parked(repo, first);
  await seen(notes);
  const joined = await notes.driven(notes.notebook.join(chain, HOW));
  expect(joined.conflicts).toMatchObject([{ path: PAGE }]);
  expect(readFileSync(join(repo.root, PAGE), "utf8")).toContain("as it was rebased");
});

test("carried over without their history, acknowledged commits are not on the branch, so a start forgets their requests", async () => {
  const { notes, repo } = await started();
  const before = commit(repo, PAGE, "# Page\n\none\n\ntwo\n");
  await seen(notes);
  const key = { key: "once", hash: "a".repeat(64) };
  const change = {
    kind: "create",
    title: "Parked",
    content: "parked",
    noteType: "general",
    tags: [],
    extra: {},
    pinned: false,
    expiresInHours: null,
    folder: null,
  } as const;
  const write = (of: NotebookOnGit) =>
    of.driven(of.notebook.write({ change, reason: null, idempotency: key }, PERSON));
  const acknowledged = await write(notes);
  // The rebase ends, and what was parked is applied on top of it as one commit with one parent.
  repo.git("reset", "-q", "--hard", before);
  repo.git("commit", "-q", "--amend", "-m", "rebased");
  const text = repo.git("cat-file", "blob", `${acknowledged.commit}:${acknowledged.path}`);
  const applied = plumbCommit(
    repo,
    { [acknowledged.path ?? ""]: `${text}\n` },
    [repo.git("rev-parse", "HEAD") as CommitId],
    Date.UTC(2026, 10, 30),
  );
  repo.git("reset", "-q", "--hard", applied);
  on = await notes.reopen();
  await on.driven(on.disk.scanAll("start"));
  const again = await write(on);
  expect(again.replayed).toBe(false);
  expect(again.noteId).not.toBe(acknowledged.noteId);
});

test("a join waits for what a person has staged, and until then either their work or an acknowledged write can't be read", async () => {
  const { notes, repo } = await started();
  const before = repo.git("rev-parse", "HEAD") as CommitId;
  commit(repo, "notes/merged.md", "# Merged\n\nby the person\n");
  const text = "# Page\n\none, parked\n";
  const chain = plumbCommit(repo, { [PAGE]: text }, [before], Date.UTC(2026, 10, 30));
  saveFile(repo.root, PAGE, "# Page\n\none, staged\n");
  repo.git("add", PAGE);
  await seen(notes);
  await expect(notes.driven(notes.notebook.join(chain, HOW))).rejects.toMatchObject({ code: "CONFLICT" });
  const has = (commitId: string) => repo.tryGit("merge-base", "--is-ancestor", commitId, "main").status === 0;
  expect([has(chain), repo.tryGit("cat-file", "-e", `${chain}:notes/merged.md`).status === 0]).toEqual([
    false,
    false,
  ]);
});

test("so a write is refused while the rebase is stopped, and sent again it lands once, on what the rebase left", async () => {
  const { notes, repo } = await started();
  commit(repo, "notes/secret.md", "# Password\n\nhunter2\n");
  commit(repo, PAGE, "# Page\n\none\n\ntwo\n");
  rebase(repo, ["drop", "edit"]);
  await seen(notes);
  await expect(notes.create("Agent", "text")).rejects.toMatchObject({
    code: "REPO_BUSY",
    data: { state: "rebase" },
  });
  repo.git("-c", "core.editor=true", "rebase", "--continue");
  await seen(notes);
  const made = await notes.create("Agent", "text");
  expect(repo.git("rev-parse", "main")).toBe(made.commit);
  expect(repo.git("log", "--format=%H", "main", "--", "notes/secret.md")).toBe("");
  expect(repo.git("status", "--porcelain")).toBe("");
});
