/**
 * The disk as a door: hints of what people do to files and to Git. Events are gathered for a moment and handed
 * on; whatever may have lost events asks for a look at everything. Nothing here reads a note or knows
 * what changed. Invariant: a change is looked at after its event, or at the latest by the next full scan.
 */

import type { Clock } from "../lib/clock.ts";
import type { ScanReason } from "../notebook/reconcile/reconciler.ts";
import { loopStall, type StallMeter } from "./loop-stall.ts";
import { type WatchFolder, watchFolders } from "./watch-folders.ts";
import { watchGit } from "./watch-git.ts";
import { watchTree } from "./watch-tree.ts";
import type { FolderWatcher } from "./watching.ts";

const GATHER_MS = 50;
const SCAN_EVERY_MS = 30_000;
const STALL_LOOK_EVERY_MS = 1000;
const STALL_MS = 200;
/** So many events in one moment are taken for a queue that overflowed. */
const FLOOD_EVENTS = 1000;
/**
 * Up to here chokidar watches the tree. At each event it looks at every file of the folder: some 2 ms of processor a
 * write where 128 notes lie together, a fifth of what a lone write takes.
 */
const CHOKIDAR_MAX_NOTES = 500;
/** A tree goes back to chokidar when it shrank to this part of the limit. */
const SHRUNK = 0.8;

export interface DiskDeps {
  /** The working tree, absolute. */
  readonly root: string;
  /** Absolute; `commonDir` differs in a linked working tree only. */
  readonly gitDir: string;
  readonly commonDir: string;
  /** Where notes lie, relative; `.` for the whole tree. */
  readonly roots: readonly string[];
  readonly clock: Clock;
  /** Folders that hold notes, and how many notes there are, as the index knows. */
  readonly folders: () => Iterable<string>;
  readonly noteCount: () => number;
  /** Something happened at these files or folders. */
  hint(paths: Iterable<string>): Promise<void>;
  scanAll(reason: ScanReason): Promise<void>;
  /** HEAD, a branch, the index or an operation's state changed. */
  headMoved(): Promise<void>;
  /** A watcher or a scan failed; people should know, the door goes on. */
  failed(error: unknown): void;
  readonly maxChokidarNotes?: number;
  readonly watchTree?: typeof watchTree;
  readonly watchFolder?: WatchFolder;
  readonly stall?: StallMeter;
}

export interface DiskDoor {
  /** For people: `watching with chokidar` or `watching folder by folder`, and what is wrong if anything is. */
  status(): string;
  close(): Promise<void>;
}

/**
 * Start watching.
 * @returns when all that can be watched is; for what can't there are the scans, and `status` says so
 */
export async function startDisk(deps: DiskDeps): Promise<DiskDoor> {
  const { clock } = deps;
  const stall = deps.stall ?? loopStall();
  const timers = new Set<() => void>();
  const changed = new Set<string>();
  let events = 0;
  let closed = false;
  let tree: FolderWatcher | null = null;
  let large = false;
  let stopGit: (() => Promise<void>) | null = null;
  let trouble: string | null = null;
  let lastTrouble: string | null = null;

  /** Call `fn` once after `ms`, unless the door closes. */
  function later(ms: number, fn: () => void): void {
    if (closed) return;
    const cancel = clock.after(ms, () => {
      timers.delete(cancel);
      fn();
    });
    timers.add(cancel);
  }

  function run(work: () => Promise<void>): void {
    if (!closed) work().catch(deps.failed);
  }

  async function scan(reason: ScanReason): Promise<void> {
    await deps.scanAll(reason);
    // What our own scan held up is no stall of somebody else's.
    stall.takeMs();
  }

  function onChange(path: string): void {
    if (events++ === 0) later(GATHER_MS, handOn);
    changed.add(path);
  }

  function handOn(): void {
    const flood = events > FLOOD_EVENTS;
    const paths = [...changed];
    changed.clear();
    events = 0;
    run(() => (flood ? scan("flood") : deps.hint(paths)));
  }

  let gitMoved = false;
  function onGit(): void {
    if (gitMoved) return;
    gitMoved = true;
    later(GATHER_MS, () => {
      gitMoved = false;
      run(() => deps.headMoved());
    });
  }

  let failing = false;
  function keep(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    if (message !== lastTrouble) deps.failed(error);
    trouble = message;
    lastTrouble = message;
  }

  function onFailure(error: unknown): void {
    keep(error);
    if (failing) return;
    failing = true;
    later(GATHER_MS, () => {
      failing = false;
      run(() => scan("watcher"));
    });
  }

  /** Large trees are watched folder by folder; one that shrank a little keeps what it has. */
  function isLarge(): boolean {
    const most = deps.maxChokidarNotes ?? CHOKIDAR_MAX_NOTES;
    return deps.noteCount() > (large ? SHRUNK * most : most);
  }

  async function watchAnew(): Promise<void> {
    const before = tree;
    tree = null;
    await before?.close();
    large = isLarge();
    const report = { changed: onChange, failed: onFailure };
    tree = large
      ? await watchFolders(deps.root, deps.roots, deps.folders, report, deps.watchFolder)
      : await (deps.watchTree ?? watchTree)(deps.root, deps.roots, report);
    if (closed) await tree.close();
  }

  /** Watch what isn't watched: folders unseen so far, a tree that outgrew its watcher, after a failure all of it. */
  async function refresh(): Promise<void> {
    const broken = trouble !== null;
    if (!broken) lastTrouble = null;
    trouble = null;
    if (tree === null || isLarge() !== large || (broken && !large)) await watchAnew();
    else await tree.refresh();
    if (stopGit !== null && !broken) return;
    await stopGit?.();
    stopGit = await watchGit(deps.gitDir, deps.commonDir, onGit, onFailure);
    if (closed) await stopGit();
  }

  /** What can't be watched is told and tried again with the next scan of everything, which sees it meanwhile. */
  async function watchWhatCan(): Promise<void> {
    try {
      await refresh();
    } catch (error) {
      keep(error);
    }
  }

  function everyInterval(): void {
    later(SCAN_EVERY_MS, () =>
      run(async () => {
        try {
          await watchWhatCan();
          await scan("interval");
        } finally {
          everyInterval();
        }
      }),
    );
  }

  function watchStalls(): void {
    later(STALL_LOOK_EVERY_MS, () => {
      if (stall.takeMs() > STALL_MS) run(() => scan("stall"));
      watchStalls();
    });
  }

  await watchWhatCan();
  stall.takeMs();
  everyInterval();
  watchStalls();

  return {
    status() {
      const how = large ? "watching folder by folder" : "watching with chokidar";
      if (trouble === null) return how;
      return `${how}, but not everything (${trouble}): all of it is looked at every ${SCAN_EVERY_MS / 1000} s`;
    },
    async close() {
      closed = true;
      for (const cancel of timers) cancel();
      timers.clear();
      stall.close();
      await Promise.all([tree?.close(), stopGit?.()]);
    },
  };
}
