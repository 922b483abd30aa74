/**
 * One sweep: every note that has expired, and is this daemon's to remove, is removed by a commit of its own, through
 * the queue that agents write through and in small groups, so that none of them waits for it.
 * Invariant: what a person has edited, and what a write has changed since, is left for a later sweep to judge anew.
 */
import type { WriteRequest } from "../../domain/change.ts";
import { COMMITTER } from "../../domain/commit-message.ts";
import { type ErrorCode, NotesError } from "../../domain/errors.ts";
import type { NoteId } from "../../domain/note.ts";
import type { Caller } from "../../domain/principal.ts";
import type { ExpiredFile, NoteIndex } from "../../index/note-index.ts";
import type { Clock } from "../../lib/clock.ts";
import { slicer } from "../../lib/slicer.ts";
import type { Reconciler } from "../reconcile/reconciler.ts";

/** Notes removed in one go; others' writes join the same group of commits. */
const SLICE_NOTES = 64;
/** Between two goes. */
const REST_MS = 100;
/** What can't be removed now is looked at again so much later. */
const AGAIN_MS = 15_000;

export interface SweepDeps {
  readonly index: Pick<NoteIndex, "expired" | "nextExpiryMs">;
  readonly reconciler: Pick<Reconciler, "hint" | "dirty">;
  readonly clock: Clock;
  /** The writer's queue. */
  readonly write: (request: WriteRequest, caller: Caller) => Promise<unknown>;
  /** Whether this daemon made the save that fixed the expiry. */
  readonly isOurs: (file: ExpiredFile) => Promise<boolean>;
  /** What this daemon waits before it removes another's, ms. */
  readonly othersWaitMs: number;
  /** When the remote was last taken in, ms; Infinity: there is none. */
  readonly fetchedMs: () => number;
  /** Let others have their turn. @returns false: the notebook closes, so end here */
  readonly rest: (ms: number) => Promise<boolean>;
}

/** Who removes: the daemon itself, whatever it does it for. */
const DAEMON: Caller = { principal: { kind: "person", ...COMMITTER }, session: null, task: null };

/** Notes of others that wait for their day, so that nobody asks twice whose they are. */
export type Waiting = Map<NoteId, { readonly revision: string; readonly dueMs: number }>;

/**
 * Sweep once.
 * @param waiting  what the last sweep left to others; brought up to date
 * @returns when to sweep again, ms since the epoch; Infinity: nothing will expire
 * @throws NotesError REPO_BUSY, OVERLOADED, STORAGE  nothing can be written now: what is left expires later
 * @throws NotesError  what refused one of them, after all others were removed
 */
export async function sweep(deps: SweepDeps, waiting: Waiting): Promise<number> {
  const { index, clock } = deps;
  const nowMs = clock.now();
  const turn = slicer();
  const left: Waiting = new Map();
  let againMs = index.nextExpiryMs(nowMs);
  const later = (ms: number) => {
    againMs = Math.min(againMs, ms);
  };
  const remove = async (files: readonly ExpiredFile[]) => {
    if (files.length === 0) return;
    const { isAll, odd } = await removed(deps, files);
    if (!isAll) later(clock.now() + AGAIN_MS);
    refused ??= odd;
  };
  let refused: unknown;
  let ready: ExpiredFile[] = [];
  for (const file of index.expired(nowMs)) {
    await turn();
    const dueMs = await dueOf(deps, waiting, file);
    const isOurs = dueMs === file.expiresMs;
    if (!isOurs) left.set(file.noteId, { revision: file.blob, dueMs });
    if (dueMs > nowMs) later(dueMs);
    // The daemon that is to remove it may have done so: what the remote has is taken in first.
    else if (!isOurs && deps.fetchedMs() < dueMs) later(nowMs + AGAIN_MS);
    else ready.push(file);
    if (ready.length < SLICE_NOTES) continue;
    await remove(ready);
    ready = [];
    if (!(await deps.rest(REST_MS))) return againMs;
  }
  await remove(ready);
  waiting.clear();
  for (const [id, one] of left) waiting.set(id, one);
  if (refused !== undefined) throw refused;
  return againMs;
}

/** When this daemon may remove a note. */
async function dueOf(deps: SweepDeps, waiting: Waiting, file: ExpiredFile): Promise<number> {
  const known = waiting.get(file.noteId);
  if (known?.revision === file.blob) return known.dueMs;
  return file.expiresMs + ((await deps.isOurs(file)) ? 0 : deps.othersWaitMs);
}

/** @returns whether any of them must be looked at again, and what refused one that should have been removed */
async function removed(
  { reconciler, write }: SweepDeps,
  files: readonly ExpiredFile[],
): Promise<{ readonly isAll: boolean; readonly odd: unknown }> {
  await reconciler.hint(files.map(({ path }) => path));
  const untouched = files.filter(({ path }) => !reconciler.dirty(path));
  const outcomes = await Promise.allSettled(untouched.map((file) => write(requestFor(file), DAEMON)));
  const failures = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
  const stops = failures.find((error) => !(error instanceof NotesError) || STOPS.has(error.code));
  if (stops !== undefined) throw stops;
  // Somebody deleted or changed the note, or a person's edit of it is held: that is no failure.
  const odd = failures.find(({ code }: NotesError) => code !== "NOT_FOUND" && code !== "CONFLICT");
  return { isAll: untouched.length === files.length && failures.length === 0, odd };
}

/** With these nothing else can be written either. */
const STOPS: ReadonlySet<ErrorCode> = new Set(["REPO_BUSY", "OVERLOADED", "STORAGE", "INTERNAL"]);

const requestFor = ({ noteId, blob, expiresMs }: ExpiredFile): WriteRequest => ({
  change: { kind: "expire", noteId, ifRevision: blob },
  reason: `expired ${new Date(expiresMs).toISOString()}`,
  idempotency: null,
});
