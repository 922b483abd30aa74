/**
 * One sync with a remote: what it has is fetched and joined, what it lacks is pushed, and again when somebody was
 * quicker. When it runs is `schedule.ts`.
 * Invariant: nothing is forced and nothing reset; a remote whose history was rewritten is a person's to decide.
 */
import { COMMITTER } from "../../domain/commit-message.ts";
import { NotesError } from "../../domain/errors.ts";
import type { CommitId } from "../../domain/note.ts";
import type { SyncState } from "../../domain/sync-state.ts";
import { backoffMs } from "../../lib/backoff.ts";
import type { Clock } from "../../lib/clock.ts";
import type { NoteStore } from "../../store/note-store.ts";
import type { OpenedRemote, Remotes } from "../../store/remote/open-remote.ts";
import { holdsPurged } from "../../store/remote/refuse-purged.ts";
import { type RefUpdate, RemoteFailure, type RemoteRefs } from "../../store/remote/remote.ts";
import type { Joined, Notebook } from "../notebook.ts";
import { reviewUpdates } from "./reviews.ts";
import type { SyncResult, SyncWish } from "./sync-result.ts";

/** Which of the remotes it is: only what diverged from the one that is set, or from any where none is, is the state here. */
export type Standing = "set" | "other" | "none is set";

export interface SyncDeps {
  readonly store: Pick<NoteStore, "branch" | "tip" | "isAncestor" | "mergeBases" | "conflicts">;
  readonly notebook: Pick<Notebook, "join">;
  readonly remotes: Remotes;
  readonly clock: Clock;
  /** 0 ≤ n < 1, for jitter. */
  readonly random: () => number;
}

/** Others were quicker so often; the next sync goes on. */
const MAX_ATTEMPTS = 10;
const RACE = { firstMs: 200, mostMs: 5_000 };

interface Tally {
  pulled: number;
  pushed: number;
  /** The remote's head as last seen. */
  there: CommitId | null;
}

/**
 * Sync once.
 *
 * @returns also where it failed: `state` says how, `message` why, without credentials
 * @throws NotesError NOT_CONFIGURED, INVALID_PARAMS, STORAGE
 */
export async function syncOnce(
  deps: SyncDeps,
  wish: SyncWish,
  standing: Standing = "none is set",
): Promise<SyncResult> {
  const remote = await deps.remotes.open(wish.remote);
  const tally: Tally = { pulled: 0, pushed: 0, there: deps.remotes.read(`${remote.kept}/branch`) };
  const end = (state: SyncState, message: string | null = null) =>
    resultOf(deps, remote, tally, state, message);
  try {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const { refs, release } = await remote.fetch();
      try {
        tally.there = refs.branch;
        const trouble = await takeIn(
          deps,
          remote,
          refs,
          attempt === 1 ? wish : { remote: wish.remote },
          standing,
          tally,
        );
        if (trouble !== null) return await end("diverged", trouble);
      } finally {
        release();
      }
      const outcome = await give(deps, remote, refs, tally);
      if (outcome.kind === "refused") return await end("refused", outcome.why);
      if (outcome.kind === "level") {
        const about = [aboutMarks(remote.shown, refs.refusedMarks), outcome.marks].filter(
          (one) => one !== null,
        );
        return await end("ok", about.length === 0 ? null : about.join(" "));
      }
      const pauseMs = backoffMs(attempt, RACE, deps.random);
      await new Promise<void>((resolve) => deps.clock.after(pauseMs, resolve));
    }
    return await end("busy", "others kept pushing; the next sync goes on");
  } catch (error) {
    if (error instanceof RemoteFailure) return end(error.kind, error.message);
    if (error instanceof NotesError && (error.code === "CONFLICT" || error.code === "REPO_BUSY"))
      return end("busy", error.message);
    // Something that a ref holds is not here, or is nothing that can be taken.
    if (error instanceof NotesError && (error.code === "UNKNOWN_COMMIT" || error.code === "INVALID_PARAMS"))
      return end("broken", error.message);
    throw error;
  }
}

/** What is said of refs among the marks that were left where they are; null: there are none. */
function aboutMarks(shown: string, refused: readonly string[]): string | null {
  if (refused.length === 0) return null;
  const some = refused.slice(0, 3).map((name) => JSON.stringify(name));
  const more = refused.length > some.length ? ` and ${refused.length - some.length} more` : "";
  return `${shown} holds refs that are no marks of reviews, and nothing was taken from them: ${some.join(", ")}${more}. Remove them there.`;
}

/** Join what the remote has. @returns why a person must decide first; null: it is joined */
async function takeIn(
  { store, notebook, remotes }: SyncDeps,
  remote: OpenedRemote,
  { branch: theirs, reviews }: RemoteRefs,
  { diverged }: SyncWish,
  standing: Standing,
  tally: Tally,
): Promise<string | null> {
  const { kept, shown } = remote;
  const back = theirs === null ? null : await remotes.purgedBetween(await store.tip(), theirs);
  if (back !== null) throw holdsPurged(back, shown);
  // What a ref holds no gc takes away.
  if (theirs !== null) await remotes.write(`${kept}/branch`, theirs);
  for (const [name, id] of reviews) await remotes.write(`${kept}/review/${name.split("/").at(-1)}`, id);
  if (theirs === null) return null;
  const tip = await store.tip();
  const synced = remotes.read(`${kept}/synced`);
  const why = tip === null ? null : await whyDiverged(store, tip, theirs, synced, shown);
  if (why !== null && diverged === undefined) {
    const old = synced ?? tip;
    if (old !== null) await remotes.write(backupOf(old), old);
    if (standing !== "other") await remotes.setDiverged(remote, theirs, standing === "set");
    return why;
  }
  const before = tip === null ? null : tip;
  const joined: Joined = await notebook.join(theirs, {
    author: COMMITTER,
    via: "sync",
    reason: null,
    from: `from ${shown}`,
    ...(why === null || diverged === undefined
      ? {}
      : {
          choose: diverged === "accept_remote" ? "theirs" : "ours",
          beforeMove: (old: CommitId) => remotes.write(backupOf(old), old),
        }),
  });
  if (joined.kind !== "up_to_date") tally.pulled += await remotes.count(before, theirs);
  await remotes.write(`${kept}/synced`, theirs);
  await remotes.setDiverged(remote, null, standing === "set");
  return null;
}

const backupOf = (id: CommitId) => `refs/notesd/backup/${id.slice(0, 16)}`;

async function whyDiverged(
  store: Pick<NoteStore, "isAncestor" | "mergeBases">,
  tip: CommitId,
  theirs: CommitId,
  synced: CommitId | null,
  shown: string,
): Promise<string | null> {
  const ways =
    "notesd sync --accept-remote takes its history over (ours stays under refs/notesd/backup), notesd sync --keep-local joins it without taking anything from it";
  if (synced !== null && !(await store.isAncestor(synced, theirs)))
    return `The history of ${shown} was rewritten since the last sync. ${ways}; where something was purged there the second would bring it back.`;
  if ((await store.mergeBases(tip, theirs)).length === 0)
    return `${shown} shares no history with this repository. ${ways}.`;
  return null;
}

type Given =
  /** `marks`: what is said of marks that the remote refuses; null: it refuses none. */
  | { readonly kind: "level"; readonly marks: string | null }
  | { readonly kind: "behind" }
  | { readonly kind: "refused"; readonly why: string };

/** Push what the remote lacks: the branch, then each mark by itself, for a remote may take one person's alone. */
async function give(
  { store, remotes }: SyncDeps,
  remote: OpenedRemote,
  refs: RemoteRefs,
  tally: Tally,
): Promise<Given> {
  const from = refs.branch;
  const tip = await store.tip();
  if (tip !== null && tip !== from) {
    const [branch] = await remote.push([{ ref: `refs/heads/${store.branch}`, from, to: tip }]);
    if (branch?.kind === "refused")
      return { kind: "refused", why: `${remote.shown} refuses the push: ${branch.why}` };
    if (branch?.kind === "behind") return { kind: "behind" };
    tally.pushed += await remotes.count(from, tip);
    tally.there = tip;
    await remotes.write(`${remote.kept}/branch`, tip);
    await remotes.write(`${remote.kept}/synced`, tip);
  }
  return { kind: "level", marks: await giveMarks(remote, await reviewUpdates(store, remotes, refs)) };
}

/** @returns what is said of those that are refused */
async function giveMarks(remote: OpenedRemote, marks: readonly RefUpdate[]): Promise<string | null> {
  let refused = 0;
  let why = "";
  for (const mark of marks) {
    const [result] = await remote.push([mark]);
    if (result?.kind !== "refused") continue;
    refused += 1;
    why = result.why;
  }
  if (refused === 0) return null;
  const them = refused === 1 ? "a mark of reviews" : `${refused} marks of reviews`;
  return `The notes are level; ${remote.shown} does not take ${them}: ${why}`;
}

async function resultOf(
  { store, remotes, clock }: SyncDeps,
  { shown }: OpenedRemote,
  { pulled, pushed, there }: Tally,
  state: SyncState,
  message: string | null,
): Promise<SyncResult> {
  const head = await store.tip();
  return {
    remote: shown,
    state,
    ahead: head === null ? 0 : await remotes.count(there, head),
    behind: there === null ? 0 : await remotes.count(head, there),
    pulled,
    pushed,
    conflicts: (await store.conflicts()).length,
    head,
    message,
    at: new Date(clock.now()).toISOString(),
  };
}
