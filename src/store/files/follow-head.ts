/**
 * Lets base follow a person's own Git: where their commit, merge or checkout moved HEAD, the working files stood at
 * what it moved to, whatever they hold by now. Nothing is looked at on the disk, and no file is written.
 * Invariant: a file that a person changed after their own command is an edit on top of it, never one that lags.
 */
import { NotesError } from "../../domain/errors.ts";
import type { BlobId, CommitId, RepoPath } from "../../domain/note.ts";
import { inTurn } from "../../lib/in-turn.ts";
import type { Followed } from "../note-store.ts";
import { headSteps, type LogEnd } from "../refs/head-log.ts";
import type { StoreParts } from "../store-parts.ts";

export interface FollowHead {
  /**
   * @param since where the branch stood when base was last level with what Git did; used by the first call only
   * @returns every path where base followed since `take` was called last, which it empties
   * @cost one read of the reflog's end where the branch stands elsewhere than last time, or `look`
   */
  take(since: CommitId | null, look: boolean): Promise<Followed>;
  /** Before a publication: as `take`, which then tells of it. @cost nothing while nobody else moved the branch */
  before(tip: CommitId | null): Promise<void>;
  /** A publication of ours moved the branch. */
  published(from: CommitId | null, tip: CommitId | null): void;
}

export function openFollowHead(parts: Pick<StoreParts, "gitdir" | "branch" | "log" | "table">): FollowHead {
  const { gitdir, branch, log, table } = parts;
  let known: { tip: CommitId | null; end: LogEnd | null } | null = null;
  let followed = new Set<RepoPath>();

  async function follow(tip: CommitId, since: CommitId | null, look: boolean): Promise<boolean> {
    if (known?.tip === tip && !look) return false;
    const from = known === null ? (since ?? tip) : known.tip;
    const { steps, end } = headSteps(gitdir, tip, from, known?.end ?? null);
    const isSure = known !== null;
    const next = new Map<RepoPath, { readonly was: BlobId | null; readonly now: BlobId | null }>();
    for (const { kind, from: parted, to } of steps) {
      if (kind === "alone") continue;
      for (const { path, before, after } of await log.diff(parted, to)) {
        const was = table.base(path);
        const base = next.get(path)?.now ?? (next.has(path) ? null : was);
        // What we publish, base is told of as it happens.
        if (kind === "ours") next.delete(path);
        // A commit changes what the Git index held otherwise than the branch: that was staged, from wherever.
        else if (base === before || (kind === "commit" && isSure)) next.set(path, { was, now: after });
      }
    }
    for (const [path, { was, now }] of next) {
      if (was === now || table.base(path) !== was) continue;
      table.setBase(path, now);
      followed.add(path);
    }
    known = { tip, end: end ?? known?.end ?? null };
    if (from !== since || steps[0]?.from !== from) return false;
    for (const step of steps)
      if (step.kind === "alone" && step.from !== null && !(await log.isAncestor(step.from, step.to)))
        return false;
    return true;
  }

  const inTurns = inTurn(async (since: CommitId | null, look: boolean) => {
    const tip = branch.now();
    let told = false;
    try {
      if (tip !== null) told = await follow(tip, since, look);
    } catch (error) {
      // Pruned commits: what they changed can't be told any more.
      if (!(error instanceof NotesError && error.code === "UNKNOWN_COMMIT")) throw error;
      known = { tip, end: null };
    }
    return { tip, told };
  });

  return {
    async take(since, look) {
      const { tip, told } = await inTurns(since, look);
      const paths = [...followed];
      followed = new Set();
      return { tip, paths, told };
    },
    async before(tip) {
      if (known !== null && known.tip !== tip) await inTurns(null, false);
    },
    published(from, tip) {
      if (known?.tip === from) known = { ...known, tip };
    },
  };
}
