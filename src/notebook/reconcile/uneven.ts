/**
 * Paths at which the branch's tip and what the working files were last known to hold (base) differ, found
 * from the move of the tip alone, so that the cost follows the change and not the number of notes.
 */
import { NotesError } from "../../domain/errors.ts";
import type { CommitId, RepoPath } from "../../domain/note.ts";
import { inTurn } from "../../lib/in-turn.ts";
import type { NoteStore, Publication, TreeChange } from "../../store/note-store.ts";

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
  look(ours?: boolean): Promise<{ readonly tip: CommitId | null; readonly paths: ReadonlySet<RepoPath> }>;
  /** A chain of ours moved the branch; so one that is taken back right after is seen to have been there. */
  published(publication: Publication): void;
  /** How often base was made to follow a branch that a person rewound. */
  readonly rewinds: number;
}

/** @param levelAt the tip when this daemon last knew base to be level with it; null: not known */
export function createUneven(store: NoteStore, levelAt: CommitId | null): Uneven {
  const { workTree } = store;
  let last = levelAt;
  let listed = false;
  let rewinds = 0;
  const uneven = new Set<RepoPath>();

  /** Everything that differs, by listing the tip against base. */
  async function list(tip: CommitId): Promise<void> {
    const files = await store.list(tip);
    const held = new Set(files.map((file) => file.path));
    for (const { path, blob } of files) if (workTree.base(path) !== blob) uneven.add(path);
    for (const path of workTree.basePaths()) if (!held.has(path)) uneven.add(path);
  }

  function follow(changes: readonly TreeChange[], rewound: boolean): void {
    if (rewound) rewinds++;
    for (const { path, before, after } of changes) {
      if (rewound && workTree.base(path) === before) workTree.accept(path, after);
      uneven.add(path);
    }
  }

  /** Follow the branch from the last tip; false when that one's objects are gone (pruned after a purge). */
  async function followed(tip: CommitId, ours: boolean): Promise<boolean> {
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

  async function look(ours: boolean) {
    const tip = await store.tip();
    if (tip === null) return { tip, paths: new Set<RepoPath>() };
    if (!(await followed(tip, ours)) || !listed) await list(tip);
    listed = true;
    last = tip;
    for (const path of uneven) {
      if (workTree.base(path) === (await store.blobAt(tip, path))) uneven.delete(path);
    }
    return { tip, paths: new Set(uneven) };
  }

  return {
    published({ base, tip, outcomes }) {
      if (last !== base || tip === null) return;
      for (const outcome of outcomes) {
        if (outcome.kind !== "committed") continue;
        for (const { path } of outcome.events.events) uneven.add(path);
      }
      last = tip;
    },
    look: inTurn((ours = false) => look(ours)),
    get rewinds() {
      return rewinds;
    },
  };
}
