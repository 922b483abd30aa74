/** Which refs a push may move at all, before any of its objects is looked at. */
import { markName } from "../../domain/identity.ts";
import type { CommitId } from "../../domain/note.ts";
import type { PushRules } from "../../doors/hook.ts";
import type { Fault } from "./fault.ts";
import type { HookGit } from "./hook-git.ts";

/** One line of what Git tells a hook; null: no such ref before or after. */
export interface RefUpdate {
  readonly from: CommitId | null;
  readonly to: CommitId | null;
  readonly ref: string;
}

const MARKS = "refs/notesd/review/";
const LINE = /^([0-9a-f]{40}) ([0-9a-f]{40}) (.+)$/;
const ZERO = /^0{40}$/;
/** What Git itself obeys (refs/replace) and what others keep (refs/notes) is none of these. */
const PUSHABLE = /^refs\/(?:heads\/.|tags\/.|for\/.|notesd\/review\/[a-z2-7]{16}$)/;

/** The updates of a push. @param input the hook's standard input */
export function parseUpdates(input: string): RefUpdate[] {
  return input.split("\n").flatMap((line) => {
    const [, from = "", to = "", ref = ""] = LINE.exec(line) ?? [];
    return ref === "" ? [] : [{ from: idOf(from), to: idOf(to), ref }];
  });
}

// The pattern holds 40 hex digits.
const idOf = (hex: string) => (ZERO.test(hex) ? null : (hex as CommitId));

/**
 * What is wrong with the refs of a push.
 * @param pusher  address of the person whose token it came with; null: who may write the folder pushes by its path
 */
export async function refFaults(
  git: HookGit,
  updates: readonly RefUpdate[],
  { branch }: PushRules,
  pusher: string | null,
): Promise<Fault[]> {
  const faults: Fault[] = [];
  const found = (ref: string, what: string, remedy: string) => faults.push({ where: ref, what, remedy });
  for (const { from, to, ref } of updates) {
    if (!PUSHABLE.test(ref))
      found(
        ref,
        "is none that a push may move",
        `Push branches and tags alone: git push origin HEAD:${branch}`,
      );
    else if (pusher !== null && ref.startsWith(MARKS) && ref !== MARKS + markName(pusher))
      found(
        ref,
        "is another person's mark of reviews",
        `Yours, as ${pusher}, is ${MARKS}${markName(pusher)}.`,
      );
    else if (ref.startsWith("refs/for/") && (ref !== `refs/for/${branch}` || to === null))
      found(ref, "is no branch that takes merges", `Push to refs/for/${branch}, which the daemon merges.`);
    else if (to === null && ref.startsWith("refs/heads/"))
      found(
        ref,
        "a push deletes no branch here",
        "Delete notes in a commit and push that; a branch is deleted in the repository itself.",
      );
    else if (to !== null && !(await isCommit(git, to)))
      found(ref, "points to no commit", "Push commits, or tags of commits.");
    else if (from !== null && to !== null && ref.startsWith("refs/heads/") && !(await follows(git, from, to)))
      found(
        ref,
        "is not ahead of the branch here, and history is never replaced",
        `Fetch first (git pull --rebase), or let the daemon merge: git push origin HEAD:refs/for/${branch}`,
      );
  }
  const merging = updates.some(({ ref }) => ref.startsWith("refs/for/"));
  if (merging && updates.some(({ ref }) => ref === `refs/heads/${branch}`))
    found(`refs/for/${branch}`, "comes together with the branch itself", "Push one of the two.");
  return faults;
}

async function isCommit(git: HookGit, id: CommitId): Promise<boolean> {
  try {
    await git.text(["rev-parse", "--verify", "--quiet", "--end-of-options", `${id}^{commit}`]);
    return true;
  } catch {
    // Exit 1: another kind of object. A missing one Git itself refuses before.
    return false;
  }
}

/** The old one may be a commit that isn't here: then the pusher believes in another branch than ours. */
async function follows(git: HookGit, from: CommitId, to: CommitId): Promise<boolean> {
  return git.holds(["merge-base", "--is-ancestor", from, to]).catch(() => false);
}
