/**
 * Opening a notebook: one store, one index, one writer, one reconciler, one feed, wired to each other. After this
 * nothing reaches around the notebook. Who chooses the options is main's business.
 */
import { join as joinPath } from "node:path";
import { blobIdOf, parseAgentRef } from "../domain/identity.ts";
import type { CommitId, RepoPath } from "../domain/note.ts";
import { isNotePath } from "../domain/note-path.ts";
import type { Caller } from "../domain/principal.ts";
import { derivedFiles } from "./derived-files.ts";
import { createExpiry, type Expiry } from "./expiry/expiry.ts";
import { Feed } from "./feed/feed.ts";
import { Heads } from "./feed/heads.ts";
import { cursorSince } from "./feed/since.ts";
import { handEdits } from "./hand-edits.ts";
import { readHistory } from "./history.ts";
import { createHousekeeping } from "./housekeeping.ts";
import { type JoinDeps, join } from "./joining/join.ts";
import { standingConflicts } from "./joining/standing-conflicts.ts";
import { createMemories, pathOf } from "./memories.ts";
import { resolveMoment } from "./moments.ts";
import { createNotesThen } from "./note-then.ts";
import type { Notebook } from "./notebook.ts";
import type { NotebookOptions } from "./notebook-options.ts";
import { notebookStatus } from "./notebook-status.ts";
import { createPast } from "./past.ts";
import { createPushLease } from "./push/push-lease.ts";
import type { PushSide } from "./push/push-side.ts";
import { createReads } from "./reads.ts";
import { createDiskSide, type DiskSide } from "./reconcile/disk-side.ts";
import { createFirstLook } from "./reconcile/first-look.ts";
import { noteWords } from "./reconcile/note-words.ts";
import { createReconciler } from "./reconcile/reconcile.ts";
import type { Reconciler } from "./reconcile/reconciler.ts";
import { secretFinder } from "./reconcile/secret-check.ts";
import { settleAtStop } from "./reconcile/settle-at-stop.ts";
import { createReview } from "./review/review.ts";
import { publishedSecrets } from "./secrets/published.ts";
import { secretGuard } from "./secrets/secret-guard.ts";
import { openSeen } from "./seen.ts";
import { watchState } from "./state-watch.ts";
import { verifyNotebook } from "./verify.ts";
import { dropResolved } from "./writing/drop-resolved.ts";
import { createFollower } from "./writing/follow.ts";
import { createGroupPlanner, type PlanningDeps, resolvesConflict } from "./writing/plan-group.ts";
import { createRescue } from "./writing/rescue.ts";
import { createSearchAhead } from "./writing/search-ahead.ts";
import { settleBefore } from "./writing/settle-before.ts";
import { createWriter } from "./writing/writer.ts";

export interface OpenedNotebook {
  readonly notebook: Notebook;
  /** What the disk door and Git's hooks report to. */
  readonly disk: DiskSide;
  /** What smart HTTP and Git's hooks of a push ask. */
  readonly push: PushSide;
  /** How the files are watched, once the door knows. */
  setWatching(status: () => string): void;
  readonly setRemote: Expiry["setRemote"];
}

/**
 * Open a notebook: the index is brought level with the branch, so that reads are served at once. Hand edits
 * enter with the disk door's first scan, for which writes wait where `filesFirst` says so.
 *
 * @throws NotesError STORAGE history can't be read
 * @cost a fold of what came after the checkpoint
 */
export async function openNotebook(options: NotebookOptions): Promise<OpenedNotebook> {
  const { store, index, stateDir, clock, warn } = options;
  const types: ReadonlySet<string> = new Set(Object.keys(options.types));
  const nowMs = () => clock.now();
  const secrets = secretGuard(stateDir, options.proofKey, nowMs);
  const published = publishedSecrets(secrets, store, warn);
  const firstLook = createFirstLook(options.filesFirst === true, options.limits.waitingWrites);
  const levelAt = index.head;
  const lostBefore: CommitId[] = [];
  const quietly = { moved: async () => {}, takenBack: (lost: CommitId) => void lostBefore.push(lost) };
  await createFollower(store, index, quietly).catchUp();
  // Not awaited, and in no request's way: a search waits for it, nothing else does.
  index
    .words(false)
    .catch((error) => warn("words could not be indexed", failureOf(error, "a search tries again")));

  const heads = await Heads.open({ file: joinPath(stateDir, "heads"), clock, warn });
  const feed = await Feed.open({ store, index, heads, warn });
  const housekeeping = createHousekeeping(derivedFiles(options), clock, warn);
  // What a start had to rebuild or catch up with is kept, also when nothing is written after it.
  if (index.origin === null || index.head !== levelAt) housekeeping.touched();
  const follower = createFollower(store, index, {
    async moved(move, changes) {
      await feed.live(move, changes);
      if (move.kind === "other") published.came(changes);
      else published.wrote(changes);
      housekeeping.touched();
      expiry.moved(move, changes);
    },
    takenBack: (lost) => rescue.takenBack(lost),
  });
  const seen = openSeen({ file: joinPath(stateDir, "seen.json"), clock, warn });
  const moment: Notebook["moment"] = (text, caller, parameter) =>
    resolveMoment({ store, seen, clock }, text, caller, parameter);
  const stateWatch = await watchState({ store, clock, warn });

  const planning: PlanningDeps = {
    store,
    index: () => index,
    nowMs,
    randomBytes: options.randomBytes,
    types,
    maxNoteBytes: options.limits.noteBytes,
    filenames: options.filenames,
    roots: options.roots,
    secrets,
    keptOnDisk: (path) => reconciler.kept(path),
    blobId: blobIdOf,
  };
  const writer = createWriter({
    store,
    index: () => index,
    follower,
    clock,
    proofKey: options.proofKey,
    maxWaiting: options.limits.waitingWrites,
    planGroup: () => createGroupPlanner(planning),
    searchAhead: createSearchAhead(planning),
    lagging: (error) =>
      warn("the index could not follow a commit", failureOf(error, "it follows with the next")),
    published: (publication) => reconciler.published(publication),
    settleEdits: (paths) => settleBefore(reconciler, paths),
  });
  const reconciler: Reconciler = createReconciler({
    store,
    index: () => index,
    words: noteWords(types),
    secrets: secretFinder(secrets, options.proofKey),
    heldFile: joinPath(stateDir, "held"),
    clock,
    person: options.person,
    settings: options.reconcile,
    levelAt,
    enqueue: writer.alone,
    commitDrafts: writer.commitDrafts,
    failed: (error) => warn("hand edits could not be committed", failureOf(error, SAFE)),
    warn,
  });
  const past = createPast(store, options.newIndex);
  const reads = createReads({
    store,
    index,
    types,
    past,
    moment,
    notesThen: createNotesThen({ store, index, types, past, moment }),
    reconciler,
    firstLook,
    nowMs,
  });
  const joining: JoinDeps = {
    store,
    index,
    words: noteWords(types),
    isNote: (path) => isNotePath(path, options.roots),
    follower,
    heldPaths: reconciler.heldPaths,
    clock,
    alone: writer.alone,
  };
  const rescue = createRescue({
    joining,
    async settle(paths) {
      await reconciler.scanAll("asked");
      await settleBefore(reconciler, paths, "secret");
    },
    warn,
  });
  for (const lost of lostBefore) rescue.takenBack(lost);
  const disk = createDiskSide({
    store,
    index,
    writer,
    follower,
    reconciler,
    firstLook,
    rescue,
    stateWatch,
    clock,
    failed: (error) => warn("the Git index could not be put level", failureOf(error, SAFE)),
  });
  const push = createPushLease({
    store,
    index,
    writer,
    reconciler,
    ready: firstLook.wait,
    catchUp: () => follower.catchUp("push"),
    headMoved: disk.headMoved,
    clock,
    warn,
  });
  const expiry = createExpiry(options, { feed, reconciler, writer, firstLook, housekeeping });
  let watching = () => "";

  const notebook: Notebook = {
    types: options.types,
    ...reads,
    replay: writer.replay,
    review: createReview({ store, index, moment, nowMs }),
    async write(request, caller, entered) {
      if (!firstLook.done) await firstLook.wait();
      const { change } = request;
      const path = pathOf(index, change);
      const resolves = resolvesConflict(change);
      const edited = path !== null && !writer.isRepeat(request, caller) ? [path] : [];
      if (edited.length > 0) await settleBefore(reconciler, edited, resolves ? "conflict" : null);
      const outcome = await writer.write(request, caller, entered);
      if ((resolves || change.kind === "update") && !outcome.replayed)
        await dropResolved({ store, reconciler, warn }, outcome, resolves);
      seen.note(caller, index.head);
      return outcome;
    },
    async join(theirs, { from = "that came in", ...how }) {
      await firstLook.wait();
      const source = how.via === "push" ? "push" : "api";
      const settle = (paths: readonly RepoPath[]) => settleBefore(reconciler, paths, "secret");
      const joined = await join(joining, theirs, { ...how, title: from, source, settle });
      void reconciler.onHeadMoved(true);
      return joined;
    },
    metadata: (id) => index.get(id),
    ...createMemories(index, nowMs),
    list: (query) => index.list({ ...query, nowMs: nowMs() }),
    summary: (viewer) => index.summary(viewer, nowMs()),
    history: (filter, limit, cursor) => readHistory({ store, index }, filter, limit, cursor),
    async conflicts(noteId) {
      const kept = (await standingConflicts(store)).filter((one) => !expiry.hides(one.note_id));
      return noteId === undefined ? kept : kept.filter((conflict) => conflict.note_id === noteId);
    },
    async changes(since, limit, filter, caller) {
      return feed.changes(await cursorOf(since, caller), limit, filter);
    },
    async subscribe(listener, filter, since, caller) {
      return feed.subscribe(listener, filter, since === null ? null : await cursorOf(since, caller));
    },
    onState: (listener) => stateWatch.onState(listener),
    moment,
    agentFilter(value) {
      const agent = parseAgentRef(value);
      return agent === "all" ? "all" : [agent];
    },
    seen: (caller) => seen.note(caller, index.head),
    ...handEdits({ reconciler, firstLook, secrets, roots: options.roots }),
    verify: () => verifyNotebook({ store, index, newIndex: options.newIndex }),
    status: () =>
      notebookStatus({
        store,
        index,
        reconciler,
        published,
        nowMs: nowMs(),
        watching: firstLook.done ? watching() : null,
      }),
    async close() {
      push.close();
      disk.close();
      await expiry.close();
      // Without a first look a deletion is not told from a rename: the next start knows.
      if (firstLook.done) await settleAtStop(reconciler, warn);
      await reconciler.close();
      await writer.drain();
      stateWatch.stop();
      await published.stop();
      await feed.close();
      await seen.flush();
      await housekeeping.flush();
      await store.close();
    },
  };

  const cursorOf = (since: string, caller: Caller) =>
    cursorSince({ store, seen, clock }, since, caller, feed.cursor);

  expiry.start();
  return {
    notebook,
    disk,
    push,
    setRemote: expiry.setRemote,
    setWatching(status) {
      watching = status;
    },
  };
}

const SAFE = "they are safe in the working tree and tried again";

const failureOf = (error: unknown, outcome: string) => ({
  why: error instanceof Error ? error.message : String(error),
  outcome,
});
