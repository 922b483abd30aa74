/**
 * After a receive-pack that was killed between its two halves: it brings working tree and Git index to the new commit
 * first and moves the branch last. Where the whole index is the pushed commit's, the branch follows. Nothing else is
 * touched: a push that was merely refused leaves the index as it was, and what a half one brought of files looks like
 * a person's edit and is treated as one. Native Git does it; without it there was no push.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { COMMITTER } from "../../domain/commit-message.ts";
import type { CommitId } from "../../domain/note.ts";
import { gitEnvironment } from "../../lib/git-environment.ts";
import { readHead } from "../refs/refs.ts";

const FREE_WITHIN_MS = 2_000;
const LOOK_MS = 20;
/** Writes wait meanwhile. */
const GIT_WITHIN_MS = 10_000;

interface Place {
  readonly root: string;
  readonly gitdir: string;
  /** Full name of the branch. */
  readonly ref: string;
}

/**
 * @param from  what the branch holds still; null: unborn
 * @param to    what the push was to bring; checked by the hook already
 * @param env   of the daemon, for Git
 * @returns whether the branch was moved there
 * @throws Node errors when Git fails, or takes longer than ten seconds
 */
export async function finishPush(
  place: Place,
  from: CommitId | null,
  to: CommitId,
  env: Readonly<Record<string, string | undefined>>,
): Promise<boolean> {
  const head = readHead(place.gitdir);
  if (head.kind !== "branch" || head.ref !== place.ref) return false;
  await indexFree(place);
  const git = gitAt(place, env);
  // Refused before its objects were taken in.
  if (!(await git.holds(["rev-parse", "--verify", "--quiet", "--end-of-options", `${to}^{commit}`])))
    return false;
  // With the same tree the index says nothing of a push.
  if (from !== null && (await git.holds(["diff-tree", "--quiet", from, to]))) return false;
  // It is written after the files.
  if (!(await git.holds(["diff-index", "--cached", "--quiet", to, "--"]))) return false;
  await git.run(["update-ref", "-m", "push: finished", place.ref, to, from ?? "0".repeat(40)]);
  return true;
}

/** What the killed one had started may still be at work. */
async function indexFree({ gitdir }: Place): Promise<void> {
  for (let waited = 0; waited < FREE_WITHIN_MS && existsSync(join(gitdir, "index.lock")); waited += LOOK_MS)
    await pause(LOOK_MS);
}

function gitAt({ root, gitdir }: Place, around: Readonly<Record<string, string | undefined>>) {
  const { name, email } = COMMITTER;
  const env = gitEnvironment(around, { "user.name": name, "user.email": email });
  const run = (args: readonly string[]) =>
    promisify(execFile)("git", ["--git-dir", gitdir, "--work-tree", root, ...args], {
      cwd: root,
      env: { ...env, GIT_LITERAL_PATHSPECS: "1" },
      timeout: GIT_WITHIN_MS,
    });
  return {
    run,
    /** Exit 1 is no. */
    async holds(args: readonly string[]): Promise<boolean> {
      try {
        await run(args);
        return true;
      } catch (error) {
        if (error instanceof Error && "code" in error && error.code === 1) return false;
        throw error;
      }
    },
  };
}
