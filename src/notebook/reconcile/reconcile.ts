/**
 * Hand edits: what the disk holds against the branch, judged by three trees, and committed once settled.
 * Whatever is hinted is looked at freely; whatever changes anything runs alone in the writer's queue and looks
 * again first. Invariant: nothing is adopted or placed while HEAD is elsewhere or an operation is under way,
 * and no working file is written unless it holds base, or a text that the written one merges.
 */
import { NotesError } from "../../domain/errors.ts";
import type { CommitId, RepoPath } from "../../domain/note.ts";
import { inTurn } from "../../lib/in-turn.ts";
import { createAdopter } from "./adopter.ts";
import { hintedPaths, untouched } from "./hinted-paths.ts";
import { createLooking, type Standing } from "./looking.ts";
import type { Reconciler, ReconcilerDeps, ScanReason } from "./reconciler.ts";
import { createSettling, type Group, type Hold } from "./settling.ts";
import { createUneven, type UnevenLook } from "./uneven.ts";

/** Files in one adopting commit. */
const MAX_FILES = 2000;
/** So many files put level at once are written down at once, and not with the next commit. */
const MANY_LEVELLED = 1000;
/** Jobs in a row that commit nothing because a file keeps changing under our hands. */
const MAX_TRIES = 5;
/** Work in the background that failed is tried again after this, doubled each time up to the second. */
const RETRY_MS = [1000, 30_000] as const;
/** A scan that only a change of the Git index asks for may take a twentieth of the time. */
const INDEX_SCAN_MIN_MS = 1000;
const INDEX_SCAN_SHARE = 20;

/** Which edits to commit, and for whom. */
interface Wish {
  /** Null: of all paths. */
  readonly paths: readonly RepoPath[] | null;
  /** `quiet`: what has settled by itself. */
  readonly by: "quiet" | "daemon" | "person";
  readonly reason: string | null;
}

const QUIET: Wish = { paths: null, by: "quiet", reason: null };

/** Make the reconciler of one notebook. Nothing runs before the first call. */
export function createReconciler(deps: ReconcilerDeps): Reconciler {
  const { store, clock, settings } = deps;
  const settling = createSettling({
    quietMs: settings.quiet_ms,
    maxWaitMs: settings.max_wait_ms,
    graceMs: Math.min(1000, settings.quiet_ms / 10),
  });
  const uneven = createUneven(store, deps.levelAt);
  const looking = createLooking({ store, settling, uneven, now: () => clock.now() });
  const adopter = createAdopter(deps, settling);
  const running = new Set<Promise<unknown>>();
  const hinted = new Set<string>();
  let closed = false;
  let cancelTimer = () => {};
  let cancelIndexScan: (() => void) | null = null;
  const wakers = new Set<() => void>();
  let retryMs: number = RETRY_MS[0];
  let lastScan = { endMs: 0, costMs: 0 };
  let waitingScan: Promise<void> | null = null;
  const none: UnevenLook["paths"] = new Map();
  let known = { tip: deps.levelAt, uneven: none, rewinds: 0 };

  function track<T>(work: Promise<T>): Promise<T> {
    running.add(work);
    const done = () => void running.delete(work);
    work.then(done, done);
    return work;
  }

  /** Run what nobody waits for. A failure is reported (a busy repository is none) and the work tried again. */
  async function inBackground(work: () => Promise<unknown>): Promise<void> {
    if (closed) return;
    try {
      await track(work());
      retryMs = RETRY_MS[0];
      schedule(0);
    } catch (error) {
      if (!(error instanceof NotesError && error.code === "REPO_BUSY")) deps.failed(error);
      schedule(retryMs);
      retryMs = Math.min(retryMs * 2, RETRY_MS[1]);
    }
  }

  /** Set the timer for what settles next, not sooner than `atLeastMs` from now. */
  function schedule(atLeastMs: number): void {
    cancelTimer();
    const nextMs = settings.commit === "manual" || closed ? null : settling.nextMs();
    if (nextMs === null) return;
    const waitMs = Math.max(atLeastMs, nextMs - clock.now());
    cancelTimer = clock.after(waitMs, () => void inBackground(() => commitDue(QUIET)));
  }

  const holdOf = (path: RepoPath): Hold | null => {
    const edit = settling.get(path);
    if (edit === undefined) return null;
    return edit.hold ?? (settings.commit === "manual" ? "manual" : null);
  };

  /** Let holds follow what is staged now. @returns the staged paths */
  async function refreshHolds(): Promise<ReadonlySet<RepoPath>> {
    const staged = await store.staged();
    for (const { path, hold } of settling.all()) {
      if (staged.has(path)) settling.hold(path, "staged");
      else if (hold === "staged") settling.release(path);
    }
    return staged;
  }

  function wanted({ paths, by }: Wish): Group[] {
    if (by === "quiet") return settings.commit === "manual" ? [] : settling.ripe(clock.now());
    const groups = settling.groupsOf(paths ?? [...settling.all()].map((edit) => edit.path));
    const stays = (hold: Hold | null) => (by === "person" ? hold === "staged" : hold !== null);
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

  async function commitDue(wish: Wish): Promise<CommitId[]> {
    const commits: CommitId[] = [];
    for (let tries = 0; tries < MAX_TRIES && due(wish).length > 0; tries++) {
      const done = await deps.enqueue(() => adopt(wish));
      commits.push(...done.commits);
      if (!done.again) return commits;
      if (done.commits.length > 0) tries = 0;
    }
    if (due(wish).length > 0 && wish.by === "quiet") {
      throw new NotesError("REPO_BUSY", "Files keep changing while they are committed; tried again later.");
    }
    const left = wish.by === "person" && commits.length === 0 ? pathsOf(due(wish)) : [];
    if (left.length > 0) {
      const some = left.slice(0, 3).join(", ");
      throw new NotesError(
        "CONFLICT",
        `${left.length} files could not be committed (${some}): they keep changing, or the branch has a file, a link or a submodule in their way. Move them, and commit again.`,
        { reason: "held_edit", paths: left.slice(0, 100) },
      );
    }
    return commits;
  }

  /** Look, and place what lags. */
  async function level(paths: Iterable<RepoPath> | null, trustTimes = false): Promise<void> {
    const look = await looking.at(paths, trustTimes);
    const lagging = look?.standings.filter(({ path, verdict }) => lags(verdict) && !settling.get(path)) ?? [];
    if (lagging.length === 0) return;
    await deps.enqueue(async () => {
      const staged = await refreshHolds();
      // Where the tip is still that one, a file that held it when it was looked at is level whatever it holds by now.
      const sameTip = look?.tip === (await store.tip());
      await adopter.place(sameTip ? lagging.filter(isAccepted) : [], staged);
      const others = lagging.filter((standing) => !sameTip || !isAccepted(standing));
      if (others.length === 0) return;
      const again = await looking.at(others.map((standing) => standing.path));
      if (again !== null) await adopter.place(again.standings, staged);
    });
    if (lagging.length > MANY_LEVELLED) await store.workTree.flush();
  }

  const drainHints = inTurn(async () => {
    if (hinted.size === 0) return;
    const hints = [...hinted];
    hinted.clear();
    await level(await hintedPaths(hints, store.workTree, settling));
  });

  const scanInTurn = inTurn(async (reason: ScanReason) => {
    waitingScan = null;
    const startMs = clock.now();
    await level(null, reason === "start");
    if (settling.size > 0) await refreshHolds();
    lastScan = { endMs: clock.now(), costMs: clock.now() - startMs };
    await inBackground(() => commitDue(QUIET));
  });

  /** Scans that wait are one scan. */
  function scanAll(reason: ScanReason): Promise<void> {
    if (closed) return Promise.resolve();
    waitingScan ??= track(scanInTurn(reason));
    return waitingScan;
  }

  function scanForIndex(): void {
    if (cancelIndexScan !== null || closed) return;
    const pauseMs = Math.max(INDEX_SCAN_MIN_MS, INDEX_SCAN_SHARE * lastScan.costMs);
    cancelIndexScan = clock.after(Math.max(0, lastScan.endMs + pauseMs - clock.now()), () => {
      cancelIndexScan = null;
      void inBackground(() => scanAll("index"));
    });
  }

  async function headMoved(ours: boolean): Promise<void> {
    const before = known;
    // Alone: in the middle of a publication of ours the tip is ahead of base for a moment.
    const { tip, paths } = await deps.enqueue(() => uneven.look(ours));
    known = { tip, uneven: paths, rewinds: uneven.rewinds };
    const moved =
      known.rewinds !== before.rewinds || [...paths.keys()].some((path) => !before.uneven.has(path));
    if (looking.away || moved) return scanAll("head");
    await level(paths.keys());
    if (settling.size > 0) await refreshHolds();
    if (tip === before.tip) scanForIndex();
  }

  /** Resolves after `ms`, or when the reconciler is closed. */
  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      const wake = () => {
        cancel();
        wakers.delete(wake);
        resolve();
      };
      const cancel = clock.after(ms, wake);
      wakers.add(wake);
    });

  async function settle(wish: Wish): Promise<CommitId[]> {
    await level(wish.paths);
    while (!closed) {
      const ripeMs = wanted(wish).reduce((ms, group) => Math.max(ms, group.atOnceMs), 0);
      if (ripeMs <= clock.now()) break;
      await pause(ripeMs - clock.now());
      await level(wish.paths);
    }
    try {
      return await commitDue(wish);
    } finally {
      schedule(0);
    }
  }

  return {
    async hint(paths) {
      const hints = [...paths];
      await inBackground(async () => {
        if (!looking.away && (await untouched(hints, store.workTree, settling))) return;
        for (const hint of hints) hinted.add(hint);
        await drainHints();
      });
    },
    scanAll,
    settle: (paths, reason, by = "daemon") =>
      track(settle({ paths: paths ?? null, by, reason: reason ?? null })),
    dirty: (path) => settling.get(path) !== undefined,
    held: holdOf,
    kept: (path) => (holdOf(path) === "conflict" ? (settling.get(path)?.blob ?? null) : null),
    resolve: (path) =>
      track(
        deps.enqueue(async () => {
          const look = await looking.at([path]);
          const standing = look?.standings[0];
          if (standing !== undefined && holdOf(path) === "conflict") await adopter.bringForward(standing);
        }),
      ),
    unsettled: () => [...settling.all()].map((edit) => edit.path).sort(),
    reported: () => [...looking.reports].map(([path, reason]) => ({ path, reason })),
    pending: () => [...adopter.pending].sort(),
    async lagging() {
      if ((await store.state()).state !== "ok") return [];
      const { paths } = await uneven.look();
      const found = paths.size === 0 ? [] : await store.workTree.scan(paths.keys());
      return found.flatMap((file) => {
        const blob = file.kind === "file" ? file.blob : file.kind === "absent" ? null : undefined;
        return blob === store.workTree.base(file.path) ? [file.path] : [];
      });
    },
    published: uneven.published,
    onHeadMoved: (ours = false) => inBackground(() => headMoved(ours)),
    async close() {
      closed = true;
      cancelTimer();
      cancelIndexScan?.();
      for (const wake of wakers) wake();
      while (running.size > 0) await Promise.allSettled(running);
    },
  };
}

const isAccepted = ({ verdict }: Standing) => verdict === "accept";
const lags = (verdict: string) => verdict === "accept" || verdict === "bring-forward";
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
