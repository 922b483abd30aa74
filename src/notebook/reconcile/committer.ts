/**
 * Which of the waiting edits are committed: what has settled by itself, or what a door or a person asks for. Each
 * commit runs alone in the writer's queue and looks again first. Invariant: a held edit waits for who holds it.
 */
import { NotesError } from "../../domain/errors.ts";
import type { BlobId, CommitId, RepoPath } from "../../domain/note.ts";
import type { Adopter } from "./adopter.ts";
import type { Looking } from "./looking.ts";
import type { ReconcilerDeps } from "./reconciler.ts";
import type { SecretCheck } from "./secret-check.ts";
import type { Edit, Group, Hold, Settling } from "./settling.ts";

/** Files in one adopting commit. */
const MAX_FILES = 2000;
/** Jobs in a row that commit nothing because a file keeps changing under our hands. */
const MAX_TRIES = 5;

const NONE: ReadonlySet<BlobId> = new Set();

/** Which edits to commit, and for whom. */
export interface Wish {
  /** Null: of all paths. */
  readonly paths: readonly RepoPath[] | null;
  /** `quiet`: what has settled by itself. */
  readonly by: "quiet" | "daemon" | "person";
  readonly reason: string | null;
}

/** What has settled by itself. */
export const QUIET: Wish = { paths: null, by: "quiet", reason: null };

export interface Committer {
  /** Why an edit stays uncommitted even when asked; null: it doesn't, or there is none. */
  holdOf(path: RepoPath): Hold | null;
  /**
   * Let holds follow what is staged now: an edit that is, a deletion of a text that is staged at another path, and
   * what settles with either, since half of a rename would take the note away.
   *
   * @returns the staged paths
   */
  refreshHolds(): Promise<ReadonlySet<RepoPath>>;
  /** What a wish is for and nothing holds, due by now or not. */
  wanted(wish: Wish): Group[];
  /**
   * Commit what is due of a wish.
   * @returns commits made, oldest first
   * @throws NotesError REPO_BUSY, CONFLICT files that keep changing, or that the branch has no place for
   */
  commitDue(wish: Wish): Promise<CommitId[]>;
}

export function createCommitter(
  deps: ReconcilerDeps,
  {
    settling,
    looking,
    adopter,
    check,
  }: { settling: Settling; looking: Looking; adopter: Adopter; check: SecretCheck },
): Committer {
  const { store, clock, settings } = deps;

  const holdOf = (path: RepoPath): Hold | null => {
    const edit = settling.get(path);
    if (edit === undefined) return null;
    return edit.hold ?? settling.tiedTo(path)?.hold ?? (settings.commit === "manual" ? "manual" : null);
  };

  async function refreshHolds(): Promise<ReadonlySet<RepoPath>> {
    const staged = await store.staged();
    const texts = staged.size === 0 ? NONE : await store.stagedTexts();
    const edits = [...settling.all()];
    const isStaged = ({ path, blob, was }: Edit) =>
      staged.has(path) || (blob === null && was !== null && texts.has(was));
    const waiting = new Set(staged.size === 0 ? [] : edits.filter(isStaged));
    const groups = waiting.size === 0 ? [] : settling.groupsOf([...waiting].map(({ path }) => path));
    const halves = new Set(groups.flatMap((group) => group.edits));
    for (const edit of edits) {
      if (waiting.has(edit) || (halves.has(edit) && edit.hold === null)) settling.hold(edit.path, "staged");
      else if (edit.hold === "staged" && !halves.has(edit)) settling.release(edit.path);
    }
    return staged;
  }

  function wanted({ paths, by }: Wish): Group[] {
    if (by === "quiet") return settings.commit === "manual" ? [] : settling.ripe(clock.now());
    const groups = settling.groupsOf(paths ?? [...settling.all()].map((edit) => edit.path));
    const stays = (hold: Hold | null) =>
      by === "person" ? hold === "staged" || hold === "secret" : hold !== null;
    return groups.filter((group) => !group.edits.some((edit) => stays(holdOf(edit.path))));
  }

  const due = (wish: Wish) => wanted(wish).filter((group) => group.atOnceMs <= clock.now());

  /** Commit some of what is due. Runs alone. */
  async function adopt(wish: Wish): Promise<{ commits: CommitId[]; again: boolean }> {
    const paths = pathsOf(takeFiles(due(wish)));
    const look = paths.length === 0 ? null : await looking.at(paths);
    if (look === null) return { commits: [], again: false };
    const staged = await refreshHolds();
    await adopter.place(look.standings, staged);
    const looked = new Set(look.standings.map((standing) => standing.path));
    const groups = due(wish);
    const now = takeFiles(groups.filter((group) => group.edits.every((edit) => looked.has(edit.path))));
    const sign = { author: deps.person, atMs: clock.now(), reason: wish.reason };
    const { commits, moved } = await adopter.commit(now, look.standings, sign, wish.by === "person");
    return { commits, again: moved || now.length < groups.length };
  }

  return {
    holdOf,
    refreshHolds,
    wanted,
    async commitDue(wish) {
      const commits: CommitId[] = [];
      for (let tries = 0; tries < MAX_TRIES && due(wish).length > 0; tries++) {
        // Before the queue: what takes its time there keeps every agent waiting.
        await check.look(takeFiles(due(wish)).flatMap((group) => group.edits));
        const done = await deps.enqueue(() => adopt(wish));
        commits.push(...done.commits);
        if (!done.again) return commits;
        if (done.commits.length > 0) tries = 0;
      }
      if (due(wish).length > 0 && wish.by === "quiet") {
        throw new NotesError("REPO_BUSY", "Files keep changing while they are committed; tried again later.");
      }
      const left = wish.by === "person" && commits.length === 0 ? pathsOf(due(wish)) : [];
      if (left.length > 0) throw inTheWay(left);
      return commits;
    },
  };
}

function inTheWay(left: readonly RepoPath[]): NotesError {
  const some = left.slice(0, 3).join(", ");
  return new NotesError(
    "CONFLICT",
    `${left.length} files could not be committed (${some}): they keep changing, or the branch has a file, a link or a submodule in their way. Move them, and commit again.`,
    { reason: "held_edit", paths: left.slice(0, 100) },
  );
}

const pathsOf = (groups: readonly Group[]) => groups.flatMap((group) => group.edits.map((edit) => edit.path));

/** Whole groups, up to what one commit takes. */
function takeFiles(groups: readonly Group[]): Group[] {
  const taken: Group[] = [];
  let files = 0;
  for (const group of groups) {
    files += group.edits.length;
    if (files > MAX_FILES && taken.length > 0) break;
    taken.push(group);
  }
  return taken;
}
