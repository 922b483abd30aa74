/**
 * Writes that a person's `git reset --hard` or `git stash` took off the branch by losing a race: they were
 * acknowledged, so they are brought back by one merge commit whose second parent is the tip that was lost. Where
 * the person changed the same note meanwhile, the two are merged as any two sides.
 */
import { COMMITTER } from "../../domain/commit-message.ts";
import type { CommitId, RepoPath } from "../../domain/note.ts";
import type { Warn } from "../../lib/bus.ts";
import { type JoinDeps, join } from "../joining/join.ts";

export interface Rescue {
  /** These writes were taken off the branch. They are brought back as soon as the repository allows it. */
  takenBack(lost: CommitId): void;
  /** Bring back what could not be brought back yet. Never rejects. */
  retry(): Promise<void>;
}

/** @param settle looks at the files anew and commits a person's edits of them */
export function createRescue(deps: {
  readonly joining: JoinDeps;
  readonly settle: (paths: readonly RepoPath[]) => Promise<void>;
  readonly warn: Warn;
}): Rescue {
  const waiting = new Set<CommitId>();

  async function bringBack(lost: CommitId): Promise<void> {
    await join(deps.joining, lost, {
      author: COMMITTER,
      via: "live",
      title: "that a moved branch had lost",
      reason:
        "A reset to HEAD moved the branch while these writes were being committed; they were acknowledged.",
      source: "api",
      // The merge says in history what happened.
      always: true,
      settle: deps.settle,
    });
    waiting.delete(lost);
  }

  async function retry(): Promise<void> {
    for (const lost of [...waiting]) {
      try {
        await bringBack(lost);
      } catch (error) {
        deps.warn("writes that a moved branch had lost are not on the branch again yet", {
          trigger: lost,
          why: error instanceof Error ? error.message : String(error),
          outcome: "the commit is kept in the reflog, and tried again when HEAD or the index moves",
        });
      }
    }
  }

  return {
    takenBack(lost) {
      waiting.add(lost);
      void retry();
    },
    retry,
  };
}
