/**
 * After a receive-pack that was killed between its two halves: it brings working tree and Git index to the new commit
 * first and moves the branch last. What stands complete is completed, what doesn't is taken back, so that the next
 * push finds a clean tree. Native Git does it; without it there was no push.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { COMMITTER } from "../../domain/commit-message.ts";
import { blobIdOf } from "../../domain/identity.ts";
import type { CommitId } from "../../domain/note.ts";
import { gitEnvironment } from "../../lib/git-environment.ts";
import { readHead } from "../refs/refs.ts";

const EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
const FREE_WITHIN_MS = 2_000;
const LOOK_MS = 20;
const MAX_BYTES = 1 << 28;

interface Place {
  readonly root: string;
  readonly gitdir: string;
  /** Full name of the branch. */
  readonly ref: string;
}

/**
 * @param from  what the branch holds still; null: unborn
 * @param to    what the push was to bring; checked by the hook already
 * @returns whether the branch was moved there
 * @throws Node errors when Git fails, e.g. on a lock that the killed one left
 */
export async function finishPush(place: Place, from: CommitId | null, to: CommitId): Promise<boolean> {
  const head = readHead(place.gitdir);
  if (head.kind !== "branch" || head.ref !== place.ref) return false;
  await indexFree(place);
  if (await holds(place, to)) {
    await git(place, ["update-ref", "-m", "push: finished", place.ref, to, from ?? "0".repeat(40)]);
    return true;
  }
  const left = await broughtAlready(place, from, to);
  if (left.length > 0) await git(place, ["checkout-index", "-q", "-f", "-u", "--", ...left]);
  return false;
}

/** What the killed one had started may still be at work. */
async function indexFree({ gitdir }: Place): Promise<void> {
  for (let waited = 0; waited < FREE_WITHIN_MS && existsSync(join(gitdir, "index.lock")); waited += LOOK_MS)
    await pause(LOOK_MS);
}

/** Whether the whole index is that commit's: then the files are too, for it is written after them. */
async function holds(place: Place, commit: CommitId): Promise<boolean> {
  try {
    await git(place, ["diff-index", "--cached", "--quiet", commit, "--"]);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === 1) return false;
    throw error;
  }
}

/** Tracked files that hold the new text already while the index has the old. */
async function broughtAlready(place: Place, from: CommitId | null, to: CommitId): Promise<string[]> {
  const listed = await git(place, [
    "diff-tree",
    "-r",
    "-z",
    "--no-abbrev",
    "--no-renames",
    from ?? EMPTY_TREE,
    to,
  ]);
  const fields = listed.split("\0");
  const found: string[] = [];
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const [, , , after = "", status = ""] = (fields[i] ?? "").split(" ");
    const path = fields[i + 1] ?? "";
    if (status !== "M" && status !== "D") continue;
    const bytes = await readFile(join(place.root, path)).catch(() => null);
    const isNew = bytes === null ? status === "D" : blobIdOf(bytes) === after;
    if (isNew) found.push(path);
  }
  return found;
}

async function git({ root, gitdir }: Place, args: readonly string[]): Promise<string> {
  const { name, email } = COMMITTER;
  const env = gitEnvironment(process.env, { "user.name": name, "user.email": email });
  const at = ["--git-dir", gitdir, "--work-tree", root];
  const { stdout } = await promisify(execFile)("git", [...at, ...args], {
    cwd: root,
    env: { ...env, GIT_LITERAL_PATHSPECS: "1" },
    maxBuffer: MAX_BYTES,
  });
  return stdout;
}
