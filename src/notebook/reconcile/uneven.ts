/**
 * Paths at which the branch's tip and what the working files were last known to hold (base) differ, found
 * from the move of the tip alone, so that the cost follows the change and not the number of notes.
 */
import { NotesError } from "../../domain/errors.ts";
import type { BlobId, CommitId, RepoPath } from "../../domain/note.ts";
import { inTurn } from "../../lib/in-turn.ts";
import { slicer } from "../../lib/slicer.ts";
import type { NoteStore, Publication, TreeChange } from "../../store/note-store.ts";

export interface UnevenLook {
  readonly tip: CommitId | null;
  /** Where base is not what the tip holds, and what that is; null: nothing. */
  readonly paths: ReadonlyMap<RepoPath, BlobId | null>;
}

export interface Uneven {
  /**
   * The tip, and the paths where base is not what it holds. When a person moved the branch to a commit that does not
   * descend from the last one (`git reset` that keeps files, `--amend`), the files they kept are their edits
   * on top of the new tip: base follows the branch there, so that no such file is ever brought back.
   *
   * Calls take turns, so that the tip is never seen to go backwards by one that was overtaken.
   *
   * @param ours  the daemon moved the branch there itself (accepted rewritten history): files follow
   * @cost one tree difference since the last call; the first call lists the tip
   */
  look(ours?: boolean): Promise<UnevenLook>;
  /** A chain of ours moved the branch; so one that is taken back right after is seen to have been there. */
  published(publication: Publication): void;
  /** How often base was made to follow a branch that a person rewound. */
  readonly rewinds: number;
  /** Paths where base followed a person's own Git, and that nobody looked at since. */
  readonly followed: Set<RepoPath>;
}

/** @param levelAt the tip when this daemon last knew base to be level with it; null: not known */
export function createUneven(store: NoteStore, levelAt: CommitId | null): Uneven {
  const { workTree } = store;
  let last = levelAt;
  let listed = false;
  let rewinds = 0;
  const uneven = new Map<RepoPath, BlobId | null>();
  const followed = new Set<RepoPath>();

  /** Everything that differs, by listing the tip against base. */
  async function list(tip: CommitId): Promise<void> {
    const files = await store.list(tip);
    const turn = slicer();
    const held = new Set<RepoPath>();
    for (const { path, blob } of files) {
      held.add(path);
      if (workTree.base(path) !== blob) uneven.set(path, blob);
      const pause = turn();
      if (pause !== null) await pause;
    }
    for (const path of workTree.basePaths()) {
      if (!held.has(path)) uneven.set(path, null);
      const pause = turn();
      if (pause !== null) await pause;
    }
  }

  function follow(changes: readonly TreeChange[], rewound: boolean): void {
    if (rewound) rewinds++;
    for (const { path, before, after } of changes) {
      if (rewound && workTree.base(path) === before) workTree.accept(path, after);
      uneven.set(path, after);
    }
  }

  /** Follow the branch from the last tip; false when that one's objects are gone (pruned after a purge). */
  async function moved(tip: CommitId, ours: boolean): Promise<boolean> {
    if (last === null || last === tip) return last === tip;
    try {
      const changes = await store.diff(last, tip);
      const rewound = !ours && changes.length > 0 && !(await store.isAncestor(last, tip));
      follow(changes, rewound);
      return true;
    } catch (error) {
      if (error instanceof NotesError && error.code === "UNKNOWN_COMMIT") return false;
      throw error;
    }
  }

  async function dropLevel(): Promise<void> {
    const turn = slicer();
    for (const [path, blob] of uneven) {
      if (workTree.base(path) === blob) uneven.delete(path);
      const pause = turn();
      if (pause !== null) await pause;
    }
  }

  async function look(ours: boolean): Promise<UnevenLook> {
    await dropLevel();
    const { tip, paths, told } = await store.followHead(last, uneven.size > 0);
    for (const path of paths) followed.add(path);
    if (tip === null) return { tip, paths: new Map() };
    if (!(await moved(tip, ours || told)) || !listed) await list(tip);
    listed = true;
    last = tip;
    await dropLevel();
    return { tip, paths: new Map(uneven) };
  }

  return {
    published({ base, tip, outcomes }) {
      if (last !== base || tip === null) return;
      for (const outcome of outcomes) {
        if (outcome.kind !== "committed") continue;
        for (const event of outcome.events.events) {
          uneven.set(event.path, event.kind === "written" ? event.after : null);
        }
      }
      last = tip;
    },
    followed,
    look: inTurn((ours = false) => look(ours)),
    get rewinds() {
      return rewinds;
    },
  };
}
