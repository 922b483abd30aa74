/**
 * The single writer: requests of all doors meet in one queue, are planned on the notes as they are, and are
 * committed in groups. Invariant: a request is answered exactly once, after its commit is durable and
 * the index knows it, or with an error after which nothing of it was written; and no answer tells of a state of a
 * note that is not durable yet.
 */
import type { WriteRequest } from "../../domain/change.ts";
import { NotesError } from "../../domain/errors.ts";
import { requestKey } from "../../domain/identity.ts";
import type { RepoPath } from "../../domain/note.ts";
import type { Caller } from "../../domain/principal.ts";
import type { NoteIndex } from "../../index/note-index.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Draft, DraftOutcome, NoteStore, Publication } from "../../store/note-store.ts";
import type { WriteOutcome } from "../notebook.ts";
import type { Follower } from "./follow.ts";
import type { GroupPlanner, PlannedWrite } from "./plan-group.ts";
import { createWriteQueue } from "./queue.ts";
import { inTheWay, lostRaces, mismatch } from "./refused.ts";
import type { SearchAhead } from "./search-ahead.ts";

/** A group of writes is one pack, one fsync round and one ref update. */
const MAX_GROUP = 256;
/** A busy writer waits this long before it takes a group: larger groups, more throughput. */
const GATHER_MS = 2;
/** A write that loses this many races against other writers or a person's saves is refused. */
const MAX_ATTEMPTS = 12;

type Idempotency = NonNullable<WriteRequest["idempotency"]>;

interface Entry {
  readonly request: WriteRequest;
  readonly caller: Caller;
  /** 64 hex, or null for a request that isn't remembered. */
  readonly requestKey: string | null;
  attempts: number;
  readonly resolve: (outcome: WriteOutcome) => void;
  readonly reject: (error: unknown) => void;
}

type Drafted = PlannedWrite & { kind: "draft" };

/** What needs no commit but was planned on drafts of its group: it tells of what these make of a note, so it waits. */
type Deferred = { readonly entry: Entry } & (
  | { readonly like: Drafted }
  /** `before`: how many drafts were planned when it was refused. */
  | { readonly refusal: unknown; readonly before: number }
);

interface PlannedGroup {
  readonly drafts: { readonly entry: Entry; readonly planned: Drafted }[];
  readonly deferred: Deferred[];
}

interface WriterDeps {
  readonly store: Pick<NoteStore, "commit" | "roomBesideGit">;
  readonly index: () => Pick<NoteIndex, "request" | "get">;
  readonly follower: Follower;
  readonly clock: Clock;
  readonly proofKey: Uint8Array;
  readonly maxWaiting: number;
  /** A planner for one group: it sees what the group's earlier writes will have done. */
  readonly planGroup: () => GroupPlanner;
  readonly searchAhead: SearchAhead;
  /** Commits stand that the index could not follow yet. */
  readonly lagging: (error: unknown) => void;
  /** A chain was committed and folded. */
  readonly published: (publication: Publication) => void;
  /** Commit a person's unsettled edits of these files; called outside the queue. */
  readonly settleEdits: (paths: readonly RepoPath[]) => Promise<void>;
}

export interface Writer {
  /** @param entered called when the change has its place in the queue */
  write(request: WriteRequest, caller: Caller, entered?: () => void): Promise<WriteOutcome>;
  /** Whether a request was carried out before, or is just now: its answer is known, whatever lies in the way by now. */
  isRepeat(request: WriteRequest, caller: Caller): boolean;
  /** What a request did that was carried out before, or null. @throws NotesError IDEMPOTENCY_MISMATCH */
  replay(idempotency: Idempotency, caller: Caller): WriteOutcome | null;
  /** Run a job alone between groups. */
  alone<T>(job: () => Promise<T>): Promise<T>;
  /** Commit drafts and fold them. Inside a job only. */
  commitDrafts(drafts: readonly Draft[]): Promise<Publication>;
  /** Refuse new writes and finish the accepted ones. */
  drain(): Promise<void>;
}

/** Make the one writer of a notebook. */
export function createWriter(deps: WriterDeps): Writer {
  const { store, index, follower, clock } = deps;
  const inFlight = new Map<string, { readonly hash: string; readonly outcome: Promise<WriteOutcome> }>();
  const settling = new Set<Promise<void>>();
  let lastGroup = 0;
  /** Commits stand that the index does not know: neither what they changed nor which requests they were. */
  let isBehind = false;

  const queue = createWriteQueue<Entry>({
    maxGroup: MAX_GROUP,
    maxWaiting: deps.maxWaiting,
    runGroup,
    async gather() {
      await new Promise<void>((resolve) =>
        lastGroup > 4 ? clock.after(GATHER_MS, resolve) : setImmediate(resolve),
      );
      // Waited for here and not in the commit: a push that comes meanwhile is let before the group.
      await store.roomBesideGit();
    },
  });

  async function commitDrafts(drafts: readonly Draft[]): Promise<Publication> {
    const publication = await store.commit(drafts);
    try {
      await follower.absorb(publication);
    } catch (error) {
      // Trigger: a blob can't be read now. Why: the commits stand, so nobody may be told otherwise. Outcome: no
      // further group is planned until the index has caught up, or a repeated request would be carried out twice.
      isBehind = true;
      deps.lagging(error);
    }
    deps.published(publication);
    return publication;
  }

  /** Answer what needs no commit, plan the rest. */
  async function plan(entries: readonly Entry[]): Promise<PlannedGroup> {
    const planner = deps.planGroup();
    const drafts: PlannedGroup["drafts"] = [];
    const deferred: PlannedGroup["deferred"] = [];
    for (const entry of entries) {
      try {
        const { requestKey: key, request } = entry;
        const before = key === null ? null : remembered(key, request.idempotency?.hash ?? "");
        if (before !== null) {
          entry.resolve(before);
          continue;
        }
        const planned = await planner.plan(entry.request, entry.caller, entry.requestKey);
        if (planned.kind === "draft") drafts.push({ entry, planned });
        else if (planned.kind === "like") deferred.push({ entry, like: planned.earlier });
        else entry.resolve(planned.outcome);
      } catch (error) {
        if (drafts.length > 0) deferred.push({ entry, refusal: error, before: drafts.length });
        else entry.reject(error);
      }
    }
    return { drafts, deferred };
  }

  /**
   * Answer what was planned on writes of its own group, now that these stand.
   * @param outcomes of the drafts; empty: none stands, and what was seen may never have been
   * @returns what has to be planned anew
   */
  function settleDeferred({ drafts, deferred }: PlannedGroup, outcomes: readonly DraftOutcome[]): Entry[] {
    const stands = outcomes.length > 0 && outcomes.every(({ kind }) => kind === "committed");
    return deferred.flatMap(({ entry, ...planned }) => {
      if ("like" in planned) {
        const made = outcomes[drafts.findIndex((one) => one.planned === planned.like)];
        if (made?.kind === "committed") {
          const outcome = planned.like.answer(made.events);
          entry.resolve({ ...outcome, changed: false, merged: false, created: false });
          return [];
        }
      }
      const refusal = "like" in planned ? null : planned.refusal;
      const isGone = refusal instanceof NotesError && refusal.code === "NOT_FOUND";
      // Only now does the index know in which commit the note went; unless a later write of the group made it again.
      const later = "like" in planned ? [] : drafts.slice(planned.before);
      const isAgain =
        isGone && later.some((one) => one.planned.draft.message.noteIds.includes(idOf(refusal)));
      const mayWait = ++entry.attempts <= MAX_ATTEMPTS;
      if (mayWait && (!stands || (isGone && !isAgain))) return [entry];
      entry.reject(stands && refusal !== null ? refusal : lostRaces());
      return [];
    });
  }

  /** What an earlier request with the same key did. @throws NotesError IDEMPOTENCY_MISMATCH */
  function remembered(key: string, hash: string): WriteOutcome | null {
    const known = index().request(key);
    if (known === null) return null;
    if (known.hash !== hash) throw mismatch();
    const note = index().get(known.noteId);
    return {
      noteId: known.noteId,
      path: known.path,
      revision: known.revision,
      commit: known.commit,
      title: note?.title ?? "",
      createdAt: note?.created_at ?? "",
      updatedAt: note?.updated_at ?? "",
      changed: false,
      merged: false,
      created: false,
      replayed: true,
    };
  }

  /** Let the index catch up with commits of ours that it could not follow. */
  async function catchUp(): Promise<void> {
    if (!isBehind) return;
    await follower.catchUp();
    isBehind = false;
  }

  async function runGroup(entries: readonly Entry[]): Promise<void> {
    lastGroup = entries.length;
    try {
      await catchUp();
    } catch (error) {
      for (const entry of entries) entry.reject(error);
      return;
    }
    const group = await plan(entries);
    const { drafts } = group;
    if (drafts.length === 0) return;
    let outcomes: readonly DraftOutcome[];
    try {
      ({ outcomes } = await commitDrafts(drafts.map(({ planned: { draft } }) => draft)));
    } catch (error) {
      for (const { entry } of drafts) entry.reject(error);
      queue.putBack(settleDeferred(group, []));
      return;
    }
    const again: Entry[] = [];
    drafts.forEach(({ entry, planned: { answer } }, i) => {
      const outcome = outcomes[i];
      if (outcome?.kind === "committed") entry.resolve(answer(outcome.events));
      else if (outcome === undefined || ++entry.attempts > MAX_ATTEMPTS)
        entry.reject(outcome?.kind === "blocked" ? inTheWay(outcome) : lostRaces());
      else if (outcome.kind === "conflict") again.push(entry);
      // What is in the way may be gone in a moment: some editors hold a second link while they save.
      else settleThenRetry(entry, outcome.kind === "blocked" ? [outcome.path] : outcome.paths);
    });
    queue.putBack([...again, ...settleDeferred(group, outcomes)]);
  }

  /** A person's save lies in the way: it is committed first, outside the queue, then the write is planned anew. */
  function settleThenRetry(entry: Entry, paths: readonly RepoPath[]): void {
    const settled: Promise<void> = deps
      .settleEdits(paths)
      .then(() => queue.push(entry))
      .catch(entry.reject)
      .finally(() => settling.delete(settled));
    settling.add(settled);
  }

  function enqueue(request: WriteRequest, caller: Caller, key: string | null): Promise<WriteOutcome> {
    return new Promise((resolve, reject) => {
      queue.push({ request, caller, requestKey: key, attempts: 0, resolve, reject });
    });
  }

  const keyOf = ({ idempotency }: WriteRequest, { principal }: Caller): string | null =>
    idempotency === null ? null : requestKey(deps.proofKey, principal, idempotency.key);

  const isRepeat: Writer["isRepeat"] = (request, caller) => {
    const key = keyOf(request, caller);
    return key !== null && (inFlight.has(key) || index().request(key) !== null);
  };

  return {
    alone: queue.alone,
    commitDrafts,
    isRepeat,
    replay: ({ key, hash }, { principal }) => remembered(requestKey(deps.proofKey, principal, key), hash),
    async write(request, caller, entered) {
      const searched = isRepeat(request, caller) ? null : deps.searchAhead(request, caller);
      if (searched !== null) await searched;
      const key = keyOf(request, caller);
      const hash = request.idempotency?.hash ?? "";
      const first = key === null ? undefined : inFlight.get(key);
      if (first !== undefined && first.hash !== hash) throw mismatch();
      const outcome = first?.outcome ?? enqueue(request, caller, key);
      if (key !== null) inFlight.set(key, { hash, outcome });
      entered?.();
      if (key === null || first !== undefined) return outcome;
      try {
        return await outcome;
      } finally {
        inFlight.delete(key);
      }
    },
    async drain() {
      while (settling.size > 0) await Promise.all(settling);
      await queue.drain();
    },
  };
}

const idOf = (refusal: NotesError) => String(refusal.data["note_id"]);
