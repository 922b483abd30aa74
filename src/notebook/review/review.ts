/**
 * What a person should know since they last looked: what was decided and why, blockers that came and went, people's
 * text that agents changed, deleted notes, kept conflicts. Where they last looked is their mark, a ref that travels.
 * Reads but for the mark; nothing is kept.
 */
import { NotesError } from "../../domain/errors.ts";
import { markName } from "../../domain/identity.ts";
import type { CommitId, NoteId } from "../../domain/note.ts";
import type { Caller } from "../../domain/principal.ts";
import type { NoteIndex } from "../../index/note-index.ts";
import type { KeptConflict, NoteStore } from "../../store/note-store.ts";
import type { Moment } from "../notebook.ts";
import { collect } from "./collect.ts";
import type { Told } from "./note-steps.ts";

export interface ReviewDeps {
  readonly store: NoteStore;
  readonly index: NoteIndex;
  readonly moment: (text: string, caller: Caller, parameter: string) => Promise<Moment>;
  readonly nowMs: () => number;
}

/** One note in a review, with the step that tells of it. */
export interface Reviewed extends Told {
  readonly noteId: NoteId;
  readonly title: string;
  readonly type: string;
  /** As it is now; `deleted` for one that is gone. */
  readonly status: string;
}

export interface Review {
  /** Where it begins, and what says so. `commit` null: before the first. */
  readonly since: {
    readonly commit: CommitId | null;
    readonly at: string;
    readonly from: "mark" | "given" | "week";
  };
  /** Where it ends: the head that was looked at. */
  readonly head: CommitId | null;
  readonly writes: number;
  readonly notes: number;
  readonly by: readonly { readonly name: string; readonly isAgent: boolean; readonly writes: number }[];
  readonly conflicts: readonly KeptConflict[];
  readonly opened: readonly Reviewed[];
  readonly conclusions: readonly (Reviewed & { readonly isNew: boolean; readonly excerpt: string })[];
  readonly closed: readonly Reviewed[];
  readonly edits: readonly (Reviewed & { readonly lines: number; readonly first: string })[];
  readonly deleted: readonly Reviewed[];
  readonly marked: boolean;
}

/**
 * Make the reviewer of one notebook.
 * @returns a function: `since` absent: the caller's mark, else the last 7 days; `mark` sets it to the head that was
 *   looked at, of a person alone. @throws NotesError INVALID_PARAMS, UNKNOWN_COMMIT
 * @cost one look at each commit; for each note that changed its two states, and of those told of some steps
 */
export function createReview(deps: ReviewDeps) {
  return async (since: string | undefined, mark: boolean, caller: Caller): Promise<Review> => {
    const { store, index } = deps;
    const { principal } = caller;
    const name = principal.kind === "person" ? markName(principal.email) : null;
    const head = index.head;
    const begin = await beginning(deps, since, name, caller, head);
    const found = await collect(deps, begin.seen, head);
    const kept = await store.conflicts();
    if (mark && name !== null && head !== null) await store.setReviewMark(name, head);
    const { seen: _, ...told } = begin;
    return { since: told, head, ...found, conflicts: kept, marked: mark && name !== null && head !== null };
  };
}

type Beginning = Review["since"] & { readonly seen: readonly CommitId[] };

async function beginning(
  { store, index, moment }: ReviewDeps,
  since: string | undefined,
  name: string | null,
  caller: Caller,
  head: CommitId | null,
): Promise<Beginning> {
  const marked = since === undefined && name !== null ? await store.reviewMark(name) : null;
  const seen = marked === null || head === null ? null : await seenBy(store, index, marked, head);
  if (marked !== null && seen !== null) {
    return { commit: marked, at: (await store.commitInfo(marked)).at, from: "mark", seen };
  }
  const { commit, atMs } = await moment(since ?? "7d", caller, "since");
  return {
    commit,
    at: new Date(atMs).toISOString(),
    from: since === undefined ? "week" : "given",
    seen: commit === null || head === null ? [] : ((await seenBy(store, index, commit, head)) ?? []),
  };
}

/** Commits of the branch that stand for all that someone who saw `commit` has seen; null: it is not here. */
async function seenBy(
  store: Pick<NoteStore, "mergeBases">,
  index: Pick<NoteIndex, "holds">,
  commit: CommitId,
  head: CommitId,
): Promise<readonly CommitId[] | null> {
  if (index.holds(commit)) return [commit];
  try {
    return await store.mergeBases(commit, head);
  } catch (error) {
    // Trigger: a mark that came without its commit. Why: nothing is known of it. Outcome: the last week is shown.
    if (error instanceof NotesError && error.code === "UNKNOWN_COMMIT") return null;
    throw error;
  }
}
