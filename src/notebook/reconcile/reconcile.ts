/**
 * Hand edits: what the disk holds against the branch, judged by three trees, and committed once settled.
 * Whatever is hinted is looked at freely; whatever changes anything runs alone in the writer's queue and looks
 * again first. Invariant: nothing is adopted or placed while HEAD is elsewhere or an operation is under way,
 * and no working file is written unless it holds base, or a text that the written one merges.
 */
import type { CommitId, RepoPath } from "../../domain/note.ts";
import { inTurn } from "../../lib/in-turn.ts";
import { isAtHome } from "../../store/refs/at-home.ts";
import { createAdopter } from "./adopter.ts";
import { createBackground } from "./background.ts";
import { createCommitter, QUIET, type Wish } from "./committer.ts";
import { type HeldEdit, openHeldEdits } from "./held-edits.ts";
import { hintedPaths, untouched } from "./hinted-paths.ts";
import { createLooking, type Standing } from "./looking.ts";
import type { Reconciler, ReconcilerDeps, ScanReason } from "./reconciler.ts";
import { createSecretCheck } from "./secret-check.ts";
import { createSettling, type Edit } from "./settling.ts";
import { createUneven, type UnevenLook } from "./uneven.ts";

/** So many files put level at once are written down at once, and not with the next commit. */
const MANY_LEVELLED = 1000;
/** A scan that only a change of the Git index asks for may take a twentieth of the time. */
const INDEX_SCAN_MIN_MS = 1000;
const INDEX_SCAN_SHARE = 20;

/** Make the reconciler of one notebook. Nothing runs before the first call. */
export function createReconciler(deps: ReconcilerDeps): Reconciler {
  const { store, clock, settings } = deps;
  const settling = createSettling({
    quietMs: settings.quiet_ms,
    maxWaitMs: settings.max_wait_ms,
    graceMs: Math.min(1000, settings.quiet_ms / 10),
  });
  const uneven = createUneven(store, deps.levelAt);
  const now = () => clock.now();
  const books = openHeldEdits({ ...deps, file: deps.heldFile, now });
  const looking = createLooking({ store, settling, uneven, books, now });
  const check = createSecretCheck(store, deps.secrets);
  const adopter = createAdopter(deps, { settling, books, check });
  const committing = createCommitter(deps, { settling, looking, adopter, check });
  const { holdOf, refreshHolds, wanted, commitDue } = committing;
  const background = createBackground({
    clock,
    failed: deps.failed,
    nextMs: () => (settings.commit === "manual" ? null : settling.nextMs()),
    due: () => commitDue(QUIET),
  });
  const hinted = new Set<string>();
  let cancelIndexScan: (() => void) | null = null;
  let lastScan = { endMs: 0, costMs: 0 };
  let waitingScan: Promise<void> | null = null;
  const none: UnevenLook["paths"] = new Map();
  let known = { tip: deps.levelAt, uneven: none, rewinds: 0 };

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
    released();
    const startMs = clock.now();
    await level(null, reason === "start");
    if (settling.size > 0) await refreshHolds();
    lastScan = { endMs: clock.now(), costMs: clock.now() - startMs };
    await background.run(() => commitDue(QUIET));
  });

  /** Scans that wait are one scan. */
  function scanAll(reason: ScanReason): Promise<void> {
    if (background.closed) return Promise.resolve();
    waitingScan ??= background.track(scanInTurn(reason));
    return waitingScan;
  }

  function scanForIndex(): void {
    if (cancelIndexScan !== null || background.closed) return;
    const pauseMs = Math.max(INDEX_SCAN_MIN_MS, INDEX_SCAN_SHARE * lastScan.costMs);
    cancelIndexScan = clock.after(Math.max(0, lastScan.endMs + pauseMs - clock.now()), () => {
      cancelIndexScan = null;
      void background.run(() => scanAll("index"));
    });
  }

  async function headMoved(ours: boolean): Promise<void> {
    const before = known;
    // Alone: in the middle of a publication of ours the tip is ahead of base for a moment.
    const { tip, paths } = await deps.enqueue(() => uneven.look(ours));
    known = { tip, uneven: paths, rewinds: uneven.rewinds };
    const moved =
      known.rewinds !== before.rewinds ||
      uneven.followed.size > 0 ||
      [...paths.keys()].some((path) => !before.uneven.has(path));
    if (looking.away || moved) return scanAll("head");
    await level(paths.keys());
    if (settling.size > 0) await refreshHolds();
    if (tip === before.tip) scanForIndex();
  }

  /** What a person let pass is committed at once. */
  async function headMovedOrAllowed(ours: boolean): Promise<void> {
    await headMoved(ours);
    const free = released();
    if (free.length > 0) await settle({ paths: free, by: "daemon", reason: null });
  }

  function heldAs(edit: Edit | undefined): HeldEdit | null {
    // One that the branch moved under is looked at anew, and is no less held until then.
    const isHeld = edit !== undefined && (edit.hold === "secret" || edit.hold === null);
    return isHeld ? books.of(edit.path, edit.blob) : null;
  }

  const heldEdit = (path: RepoPath) => heldAs(settling.get(path)) ?? heldAs(settling.tiedTo(path));

  const heldPaths = () => [...settling.all()].flatMap(({ path }) => (heldEdit(path) === null ? [] : [path]));

  /** Edits of which a person let pass what held them. */
  function released(): RepoPath[] {
    const held = books.paths().flatMap((path) => settling.get(path) ?? []);
    const free = held.filter(({ path, blob, hold }) => hold === "secret" && books.of(path, blob) === null);
    for (const { path } of free) settling.release(path);
    return free.map(({ path }) => path);
  }

  async function settle(wish: Wish): Promise<CommitId[]> {
    released();
    await level(wish.paths);
    // What was staged when it was last seen may be no more (`git reset`): then nobody else will commit it.
    if ((wish.paths ?? [...settling.all()].map(({ path }) => path)).some((path) => holdOf(path) === "staged"))
      await refreshHolds();
    while (!background.closed) {
      const ripeMs = wanted(wish).reduce((ms, group) => Math.max(ms, group.atOnceMs), 0);
      if (ripeMs <= clock.now()) break;
      await background.pause(ripeMs - clock.now());
      await level(wish.paths);
    }
    try {
      return await commitDue(wish);
    } finally {
      background.schedule(0);
    }
  }

  return {
    async hint(paths) {
      const hints = [...paths];
      await background.run(async () => {
        if (!looking.away && (await untouched(hints, store.workTree, settling))) return;
        for (const hint of hints) hinted.add(hint);
        await drainHints();
      });
    },
    scanAll,
    settle: (paths, reason, by = "daemon") =>
      background.track(settle({ paths: paths ?? null, by, reason: reason ?? null })),
    dirty: (path) => settling.get(path) !== undefined,
    held: holdOf,
    kept: (path) => (holdOf(path) === "conflict" ? (settling.get(path)?.blob ?? null) : null),
    resolve: (path) =>
      background.track(
        deps.enqueue(async () => {
          const look = await looking.at([path]);
          const standing = look?.standings[0];
          if (standing !== undefined && holdOf(path) === "conflict") await adopter.bringForward(standing);
        }),
      ),
    heldEdits: () => books.paths().flatMap((path) => heldAs(settling.get(path)) ?? []),
    heldEdit,
    heldPaths,
    parted: () =>
      books.paths().filter((path) => {
        const edit = settling.get(path);
        return edit !== undefined && edit.was !== store.workTree.base(path);
      }),
    unsettled: () => [...settling.all()].map((edit) => edit.path).sort(),
    reported: () => [...looking.reports].map(([path, reason]) => ({ path, reason })),
    pending: () => [...adopter.pending].sort(),
    async lagging() {
      if (!isAtHome(await store.state())) return [];
      const { paths } = await uneven.look();
      const found = paths.size === 0 ? [] : await store.workTree.scan(paths.keys());
      return found.flatMap((file) => {
        const blob = file.kind === "file" ? file.blob : file.kind === "absent" ? null : undefined;
        return blob === store.workTree.base(file.path) ? [file.path] : [];
      });
    },
    published: uneven.published,
    onHeadMoved: (ours = false) => background.run(() => headMovedOrAllowed(ours)),
    async close() {
      cancelIndexScan?.();
      looking.stop();
      await background.close();
      await books.flush();
    },
  };
}

const isAccepted = ({ verdict }: Standing) => verdict === "accept";
const lags = (verdict: string) => verdict === "accept" || verdict === "bring-forward";
