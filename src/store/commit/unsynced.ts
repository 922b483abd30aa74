/**
 * Intents that are carried out and only wait until their working files are durable: the files are synced together, once
 * the kernel has written them back, and then the intents go. Invariant: an intent goes after its files and the table
 * that says what they hold; one that is left, at a stop too, is found by the next start and waits there.
 */
import type { RepoPath } from "../../domain/note.ts";
import { syncFiles } from "../files/sync-files.ts";
import type { StoreParts } from "../store-parts.ts";

/** The kernel writes files back within half a minute; syncing them after that waits for no disk. */
const SYNC_AFTER_MS = 40_000;
/** Intents of this time share a sync of the folders and of the table. */
const TOGETHER_MS = 2_000;
/**
 * Files that may wait; over this the older half is synced at once. At any speed of writing this bounds what they take in
 * memory, what a stop has to do, and what a start looks at after a power cut.
 */
const MAX_WAITING_FILES = 8_000;
/** Files synced before somebody looks again how much is left, and how late it is. */
const FILES_A_STEP = 1_000;

export interface Unsynced {
  /** An intent is carried out. @param paths  of its files, those that are gone too: a folder tells of that */
  add(intent: string, paths: readonly RepoPath[]): void;
  /**
   * Sync what waits, the oldest first, for as long as `withinMs` allows, and begin nothing more.
   * @throws Node errors; intents whose files could not be synced stand
   */
  finish(withinMs: number): Promise<void>;
}

interface Waiting {
  readonly intent: string;
  readonly paths: readonly RepoPath[];
  readonly sinceMs: number;
}

/** @param refused  told of what the disk refuses; it is tried again */
export function openUnsynced(
  { root, clock, intents, table }: Pick<StoreParts, "root" | "clock" | "intents" | "table">,
  refused: (error: unknown) => void,
): Unsynced {
  /** Oldest first. */
  const waiting: Waiting[] = [];
  let files = 0;
  let closed = false;
  let pressed = false;
  let cancel: (() => void) | null = null;
  let work: Promise<void> = Promise.resolve();

  function keep(one: Waiting): void {
    waiting.push(one);
    files += one.paths.length;
  }

  /** One step after the other: thousands of files take their time, and nothing else waits for it. */
  async function syncWhile(isDue: (oldest: Waiting) => boolean): Promise<void> {
    for (let step = take(isDue); step.length > 0; step = take(isDue)) await syncStep(step);
  }

  function take(isDue: (oldest: Waiting) => boolean): Waiting[] {
    let count = 0;
    let taken = 0;
    for (const one of waiting) {
      if (taken >= FILES_A_STEP || !isDue(one)) break;
      taken += one.paths.length;
      files -= one.paths.length;
      count++;
    }
    return waiting.splice(0, count);
  }

  async function syncStep(step: readonly Waiting[]): Promise<void> {
    try {
      await syncFiles(root, new Set(step.flatMap(({ paths }) => paths)));
      await table.sync();
    } catch (error) {
      for (const one of step) keep({ ...one, sinceMs: clock.now() });
      throw error;
    }
    intents.close(step.map(({ intent }) => intent));
  }

  function later(isDue: (oldest: Waiting) => boolean): Promise<void> {
    work = work.then(() => syncWhile((oldest) => !closed && isDue(oldest))).catch(refused);
    return work;
  }

  function press(): void {
    if (closed || pressed || files <= MAX_WAITING_FILES) return;
    pressed = true;
    void later(() => files > MAX_WAITING_FILES / 2).then(() => {
      pressed = false;
    });
  }

  function schedule(): void {
    const oldest = waiting[0];
    if (closed || cancel !== null || oldest === undefined) return;
    const atMs = oldest.sinceMs + SYNC_AFTER_MS + TOGETHER_MS;
    cancel = clock.after(Math.max(TOGETHER_MS, atMs - clock.now()), () => {
      cancel = null;
      const untilMs = clock.now() - SYNC_AFTER_MS;
      void later(({ sinceMs }) => sinceMs <= untilMs).then(schedule);
    });
  }

  return {
    add(intent, paths) {
      keep({ intent, paths, sinceMs: clock.now() });
      press();
      schedule();
    },
    async finish(withinMs) {
      const untilMs = performance.now() + withinMs;
      closed = true;
      cancel?.();
      // A step that is under way; what it can't sync waits again.
      await work;
      await syncWhile(() => performance.now() < untilMs);
    },
  };
}
