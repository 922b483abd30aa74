/** What expiry leaves in a real repository, as native Git shows it, and beside a person at work there. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { gitRepo } from "../../support/git-repo.ts";
import { asInitLeavesIt, type NotebookOnGit, notebookOnGit } from "../../support/notebook-on-git.ts";
import { agent } from "../../support/open-notebook.ts";
import { saveFile } from "../../support/save-file.ts";
import { until } from "../../support/wait.ts";

const HOUR_MS = 3_600_000;
let on: NotebookOnGit | null = null;
afterEach(async () => {
  await on?.close();
  on = null;
});

async function opened(): Promise<NotebookOnGit> {
  const repo = gitRepo();
  asInitLeavesIt(repo);
  on = await notebookOnGit(repo);
  return on;
}

const short = (notebook: NotebookOnGit, title: string) =>
  notebook.change(
    {
      ...{ kind: "create", title, content: `text of ${title}`, noteType: "blocker", tags: [], extra: {} },
      ...{ pinned: false, expiresInHours: 1, folder: null },
    },
    agent("planner"),
  );
const gone = (notebook: NotebookOnGit, noteId: string) =>
  until(`${noteId} to be removed`, () => {
    notebook.clock.advance(250);
    return notebook.notebook.metadata(noteId) === null;
  });

test("each is one commit of the daemon's, which native Git reads, and leaves nothing behind", async () => {
  const notebook = await opened();
  const { repo } = notebook;
  await notebook.create("Stays", "x");
  const [first, second] = [await short(notebook, "First"), await short(notebook, "Second")];
  const at = notebook.notebook.metadata(first.noteId)?.expires_at;
  notebook.clock.advance(HOUR_MS + 2_000);
  await gone(notebook, first.noteId);
  await gone(notebook, second.noteId);
  const log = repo.git("log", "--format=%s", "-2").split("\n").sort();
  expect(log).toEqual(["expire(blocker): First", "expire(blocker): Second"]);
  const [commit] = repo.git("log", "--format=%H", "-1", "--", first.path ?? "").split("\n");
  const shown = (format: string) => repo.git("log", "-1", `--format=${format}`, commit ?? "");
  expect(shown("%an <%ae> %cn <%ce>")).toBe("notesd <notesd@notesd.invalid> notesd <notesd@notesd.invalid>");
  expect(shown("%b").split("\n")[0]).toBe(`expired ${at}`);
  const trailer = (key: string) => shown(`%(trailers:key=${key},valueonly)`).trim();
  expect(["Note-Id", "Note-Action", "Note-Source", "Agent"].map(trailer)).toEqual([
    ...[first.noteId, "expire", "api", ""],
  ]);
  expect(repo.git("show", "--name-status", "--format=", commit ?? "")).toBe(`D\t${first.path}`);
  expect(existsSync(join(repo.root, first.path ?? ""))).toBe(false);
  expect(repo.git("status", "--porcelain")).toBe("");
  expect((await notebook.driven(notebook.notebook.verify())).equal).toBe(true);
});

test("while a person's merge is under way nothing is removed; their edit of the file is not lost either", async () => {
  const notebook = await opened();
  const { repo } = notebook;
  const { noteId, path } = await short(notebook, "Waits");
  const file = path ?? "";
  repo.git("branch", "side");
  repo.git("commit", "-q", "--allow-empty", "-m", "ours");
  repo.git("checkout", "-q", "side");
  repo.git("commit", "-q", "--allow-empty", "-m", "theirs");
  repo.git("checkout", "-q", "main");
  repo.git("merge", "-q", "--no-commit", "--no-ff", "side");
  expect(existsSync(join(repo.gitdir, "MERGE_HEAD"))).toBe(true);
  notebook.clock.advance(HOUR_MS);
  for (let i = 0; i < 40; i++) {
    notebook.clock.advance(5_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(repo.git("ls-tree", "-r", "--name-only", "main")).toContain(file);
  repo.git("commit", "-q", "-m", "merged");
  await notebook.driven(notebook.disk.headMoved());
  // Saved just before the sweep that is due, and not committed yet.
  const text = readFileSync(join(repo.root, file), "utf8");
  saveFile(repo.root, file, `${text}by hand\n`);
  await notebook.driven(notebook.disk.hint([file]));
  notebook.clock.advance(9_000);
  expect(readFileSync(join(repo.root, file), "utf8")).toContain("by hand");
  await notebook.settle();
  await gone(notebook, noteId);
  expect(repo.git("log", "-p", "--format=%s", "-2", "--", file)).toMatch(/^\+by hand$/m);
  expect(repo.git("log", "-1", "--format=%s", "--", file)).toBe("expire(blocker): Waits");
});

test("a person whose HEAD is on another branch keeps its files; ours loses the note all the same", async () => {
  const notebook = await opened();
  const { repo } = notebook;
  const { noteId, path } = await short(notebook, "Elsewhere");
  repo.git("checkout", "-q", "-b", "topic");
  await notebook.driven(notebook.disk.headMoved());
  notebook.clock.advance(HOUR_MS);
  await gone(notebook, noteId);
  expect(existsSync(join(repo.root, path ?? ""))).toBe(true);
  repo.git("checkout", "-q", "main");
  await notebook.driven(notebook.disk.headMoved());
  expect(existsSync(join(repo.root, path ?? ""))).toBe(false);
  expect(repo.git("status", "--porcelain")).toBe("");
});

test("what expired while no daemon ran is hidden from the start on and removed a little later", async () => {
  const notebook = await opened();
  const { noteId } = await short(notebook, "Overnight");
  await notebook.driven(notebook.notebook.close());
  notebook.clock.advance(12 * HOUR_MS);
  on = await notebookOnGit(notebook.repo, notebook.clock);
  expect(on.notebook.summary({ kind: "person" }).total_notes).toBe(0);
  expect(on.notebook.metadata(noteId)).not.toBeNull();
  await gone(on, noteId);
});
