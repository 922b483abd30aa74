/**
 * Bringing the branch and another commit together, in the writer's turn: a fast-forward where ours has nothing of its
 * own, else one merge commit. One way for a sync, a push that is behind, and writes that a moved branch had lost.
 * Invariant: what doesn't merge is kept as a conflict before the merge is published, so that no moment loses it, and let
 * go again where nothing was moved; a crash in between leaves it listed, which loses nothing.
 */
import { type CommitMessage, NO_REQUEST } from "../../domain/commit-message.ts";
import { NotesError } from "../../domain/errors.ts";
import type { Author } from "../../domain/event.ts";
import { blobIdOf } from "../../domain/identity.ts";
import type { CommitId, RepoPath } from "../../domain/note.ts";
import type { NoteIndex } from "../../index/note-index.ts";
import type { Clock } from "../../lib/clock.ts";
import type { AdvanceOutcome } from "../../store/advance.ts";
import type { KeptConflict, NoteStore } from "../../store/note-store.ts";
import type { Via } from "../feed/heads.ts";
import type { Joined } from "../notebook.ts";
import type { NoteWords } from "../reconcile/reconciler.ts";
import type { Follower } from "../writing/follow.ts";
import { NOTHING, whatParted } from "./parted.ts";
import { type MergePlan, planMerge } from "./plan-merge.ts";

/** A file that a person is saving lies in the way at most so often. */
const MAX_TRIES = 5;

export interface JoinWish {
  readonly author: Author;
  readonly via: Via;
  readonly reason: string | null;
  /** What comes in, after a count of notes: `from origin`. */
  readonly title: string;
  readonly source: CommitMessage["source"];
  /** A merge commit also where ours has nothing of its own. */
  readonly always?: boolean;
  /** See `Notebook.join`. */
  readonly choose?: "theirs" | "ours";
  readonly beforeMove?: (tip: CommitId) => Promise<void>;
  /** Commit a person's edits of these notes; called outside the queue. */
  readonly settle: (paths: readonly RepoPath[]) => Promise<void>;
}

export interface JoinDeps {
  readonly store: NoteStore;
  readonly index: Pick<NoteIndex, "idAt">;
  readonly words: NoteWords;
  readonly isNote: (path: RepoPath) => boolean;
  readonly follower: Pick<Follower, "catchUp">;
  /** Notes whose edit waits for its person: their files stay as they lie, and the branch moves all the same. */
  readonly heldPaths: () => Iterable<RepoPath>;
  readonly clock: Clock;
  /** Run a job alone in the writer's queue. */
  readonly alone: <T>(job: () => Promise<T>) => Promise<T>;
}

type Attempt = { readonly joined: Joined } | { readonly refused: Exclude<AdvanceOutcome, { kind: "moved" }> };

/**
 * Join a commit into the branch.
 *
 * @returns when the branch has it, durably, and the index knows
 * @throws NotesError CONFLICT  `data.reason` unrelated: no common history; held_edit, dirty_edit, dirty_files: files in
 * the way that are a person's to commit; path_taken. Nothing moved
 * @throws NotesError REPO_BUSY, STORAGE, UNKNOWN_COMMIT
 */
export async function join(deps: JoinDeps, theirs: CommitId, wish: JoinWish): Promise<Joined> {
  for (let tries = 1; ; tries++) {
    const attempt = await deps.alone(() => once(deps, theirs, wish));
    if ("joined" in attempt) return attempt.joined;
    const { refused } = attempt;
    if (refused.kind === "blocked") throw blocked(refused);
    if (refused.kind === "dirty") {
      const others = refused.paths.filter((path) => !deps.isNote(path));
      if (others.length > 0 || tries >= MAX_TRIES) throw inTheWay(others.length > 0 ? others : refused.paths);
      await wish.settle(refused.paths);
    } else if (tries >= MAX_TRIES) throw lostRaces();
  }
}

async function once(deps: JoinDeps, theirs: CommitId, wish: JoinWish): Promise<Attempt> {
  const { store, follower } = deps;
  await follower.catchUp();
  const tip = await store.tip();
  const { choose = null, always = false } = wish;
  const isThere = async (at: CommitId) =>
    choose === "theirs" ? at === theirs : store.isAncestor(theirs, at);
  if (tip !== null && (await isThere(tip)))
    return { joined: { kind: "up_to_date", tip, commit: theirs, conflicts: [] } };
  const isForward =
    tip === null ||
    choose === "theirs" ||
    (!always && choose === null && (await store.isAncestor(tip, theirs)));
  if (tip !== null) await wish.beforeMove?.(tip);
  const conflicts: KeptConflict[] = [];
  const outcome = isForward
    ? await store.advance({
        kind: "forward",
        from: tip,
        to: theirs,
        atMs: deps.clock.now(),
        why: `${wish.via}: ${choose === null ? "fast-forward" : "history"} ${wish.title}`,
        rewritten: choose === "theirs",
        leave: new Set(deps.heldPaths()),
      })
    : await merge(deps, tip, theirs, wish, conflicts);
  if (outcome.kind !== "moved") return { refused: outcome };
  await follower.catchUp(wish.via);
  const commit = outcome.tip;
  return { joined: { kind: isForward ? "fast_forward" : "merged", tip: commit, commit, conflicts } };
}

async function merge(
  deps: JoinDeps,
  tip: CommitId,
  theirs: CommitId,
  wish: JoinWish,
  conflicts: KeptConflict[],
): Promise<AdvanceOutcome> {
  const { store, clock } = deps;
  const parted = wish.choose === "ours" ? NOTHING : await whatParted(store, tip, theirs);
  if (parted === null) throw unrelated(theirs);
  const plan = await planMerge({ ...deps, blobId: blobIdOf }, parted);
  const since = new Date(clock.now()).toISOString();
  const fresh: KeptConflict[] = [];
  const letGo = async () => {
    for (const conflict of fresh) await store.forgetConflict(conflict);
  };
  try {
    for (const { bytes, oursAt, ...clash } of plan.clashes) {
      const conflict = { note_id: deps.index.idAt(oursAt) ?? clash.path, since, ...clash };
      if (await store.keepConflict(conflict, bytes)) fresh.push(conflict);
      conflicts.push(conflict);
    }
    const outcome = await store.advance({
      kind: "merge",
      from: tip,
      theirs,
      files: plan.files,
      author: wish.author,
      atMs: clock.now(),
      message: messageOf(deps, plan, wish),
      leave: new Set(deps.heldPaths()),
    });
    if (outcome.kind !== "moved") await letGo();
    return outcome;
  } catch (error) {
    if ((await store.tip()) === tip) await letGo();
    throw error;
  }
}

function messageOf(
  { index, isNote }: JoinDeps,
  { files, merged, clashes }: MergePlan,
  wish: JoinWish,
): CommitMessage {
  const notes = files.filter(({ path }) => isNote(path)).length;
  const what =
    counted(notes, "a note", "notes") ??
    counted(clashes.length, "a conflict", "conflicts") ??
    counted(files.length, "a file", "files") ??
    "nothing new";
  const noteIds = merged.flatMap((path) => index.idAt(path) ?? []);
  return {
    action: "merge",
    label: null,
    title: `${what} ${wish.title}`,
    reason: wish.reason,
    changes: null,
    noteIds: [...new Set(noteIds)],
    noteType: null,
    source: wish.source,
    ...NO_REQUEST,
  };
}

const counted = (count: number, one: string, many: string) =>
  count === 0 ? null : count === 1 ? one : `${count} ${many}`;

const unrelated = (theirs: CommitId) =>
  new NotesError(
    "CONFLICT",
    `${theirs} shares no history with the branch, so nothing tells what either changed.`,
    {
      reason: "unrelated",
      commit: theirs,
    },
  );

const inTheWay = (paths: readonly RepoPath[]) =>
  new NotesError(
    "CONFLICT",
    `These files hold changes that are not committed, and the same files come in: ${paths.slice(0, 20).join(", ")}${paths.length > 20 ? ", …" : ""}. Commit or stash them, then try again; nothing was changed.`,
    { reason: "dirty_files", paths },
  );

const blocked = ({ path, why }: { readonly path: string; readonly why: string }) =>
  new NotesError("CONFLICT", `${path} can't be placed: it ${why}. Nothing was changed.`, {
    reason: "path_taken",
    path,
  });

const lostRaces = () =>
  new NotesError("REPO_BUSY", "The branch kept moving while it was being joined; try again in a moment.", {
    state: "locked",
    retry_after_ms: 1_000,
  });
