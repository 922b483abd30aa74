/**
 * What follows the answer: files set aside are looked at once more and dropped, intents wait until their files
 * are durable, and what could not be placed is tried again. Nothing here can undo a commit.
 */
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { RepoPath } from "../../domain/note.ts";
import { errnoOf, fsyncFolder } from "../../lib/durable-file.ts";
import { dropPrepared, dropPreparedOf } from "../files/prepare-files.ts";
import { carryOut } from "../recovery/carry-out.ts";
import { returnAside } from "../recovery/roll-forward.ts";
import { withStorageErrors } from "../storage-error.ts";
import type { StoreParts } from "../store-parts.ts";
import type { PublishedGroup } from "./commit-group.ts";

/** The kernel writes files back within half a minute; syncing them after that costs next to nothing. */
const SYNC_AFTER_MS = 40_000;
/** Files that may wait to be synced; over this the oldest are synced at once. */
const MAX_WAITING_FILES = 50_000;
const FIRST_REPAIR_MS = 1_000;
const LONGEST_REPAIR_MS = 60_000;
const SYNCS_AT_ONCE = 4;
/** Groups published in this time share one sync of the Git directory. */
const TOGETHER_MS = 20;

interface Waiting {
  readonly intent: string;
  readonly paths: readonly RepoPath[];
  readonly sinceMs: number;
}

export interface Settling {
  /** Look after a published group. */
  add(group: PublishedGroup): void;
  /** Intents that recovery could not carry out yet: for the Git index, or only for files that the disk refuses. */
  owe(intents: readonly string[], what: Owed): void;
  /**
   * Bring the Git index level now; does nothing when it is. Files that the disk refuses wait for the background:
   * one of them stops no other write.
   * @throws NotesError REPO_BUSY, STORAGE
   */
  repair(): Promise<void>;
  /** Paths of commits that stand whose working file could not be placed yet. @cost the intents that owe something */
  pending(): RepoPath[];
  /** Make everything durable and forget the intents that are carried out. */
  finish(): Promise<void>;
}

/** What an intent still owes: the Git index too, or files alone. */
export type Owed = "index" | "files";

/** @param alone runs work while no commit is under way */
export function openSettling(
  parts: StoreParts,
  alone: (work: () => Promise<void>) => Promise<void>,
): Settling {
  const { root, gitdir, clock, intents, table, refSync } = parts;
  const owed = new Map<string, Owed>();
  const fresh: Omit<Waiting, "sinceMs">[] = [];
  const waiting: Waiting[] = [];
  let waitingFiles = 0;
  let chain: Promise<void> = Promise.resolve();
  /** Apart: thousands of old files take their time, and what new groups set aside must not pile up meanwhile. */
  let syncing: Promise<void> = Promise.resolve();
  let cancelSync: (() => void) | null = null;
  let cancelRepair: (() => void) | null = null;
  let repairMs = FIRST_REPAIR_MS;
  let closed = false;

  /** The commit stands and its intent too, so what the disk refuses here is told to people and done later. */
  const refused = (error: unknown) =>
    parts.troubled("what follows a commit could not be done", error, "tried again");
  function later(work: () => Promise<void>): void {
    chain = chain.then(work).catch(refused);
  }
  function syncLater(work: () => Promise<void>): void {
    syncing = syncing.then(work).catch(refused);
  }

  function add(group: PublishedGroup): void {
    const { intent, files, pending } = group;
    if (intent === null) {
      later(refSync.owed);
      return;
    }
    if (pending.length > 0) {
      owed.set(intent, group.indexed ? "files" : "index");
      scheduleRepair();
      return;
    }
    later(async () => {
      try {
        for (const file of files)
          if (file.intent.replaced !== null) returnAside({ root, intents }, file.intent);
        dropPrepared(files, intents);
      } catch (error) {
        oweFiles([intent]);
        throw error;
      }
      const placed = files.filter((f) => f.place && f.intent.after !== null);
      fresh.push({ intent, paths: placed.map((f) => f.intent.path) });
      if (fresh.length === 1) clock.after(TOGETHER_MS, () => later(syncFresh));
    });
  }

  /** The Git directory's renames outlive a power cut from here on: what is in place needs carrying out no more. */
  async function syncFresh(): Promise<void> {
    const groups = fresh.splice(0);
    if (groups.length === 0) return;
    try {
      await refSync.owed();
      await fsyncFolder(gitdir);
      for (const { intent } of groups) intents.placed(intent);
    } catch (error) {
      oweFiles(groups.map(({ intent }) => intent));
      throw error;
    }
    for (const { intent, paths } of groups) wait(intent, paths);
  }

  /** While an intent is open a person's commits are held back, so it can't wait for the next start. */
  function oweFiles(names: readonly string[]): void {
    for (const name of names) owed.set(name, "files");
    scheduleRepair();
  }

  function wait(intent: string, paths: readonly RepoPath[]): void {
    waiting.push({ intent, paths, sinceMs: clock.now() });
    waitingFiles += paths.length;
    if (waitingFiles > MAX_WAITING_FILES) syncLater(() => syncOldest(Math.ceil(waiting.length / 2)));
    else scheduleSync();
  }

  function scheduleSync(): void {
    const oldest = waiting[0];
    if (closed || cancelSync !== null || oldest === undefined) return;
    cancelSync = clock.after(Math.max(0, oldest.sinceMs + SYNC_AFTER_MS - clock.now()), () => {
      cancelSync = null;
      const due = waiting.filter((w) => w.sinceMs + SYNC_AFTER_MS <= clock.now()).length;
      syncLater(() => syncOldest(due));
    });
  }

  async function syncOldest(count: number): Promise<void> {
    const group = waiting.splice(0, count);
    const paths = new Set(group.flatMap((w) => w.paths));
    waitingFiles -= group.reduce((sum, w) => sum + w.paths.length, 0);
    try {
      await syncFiles(root, paths);
      await table.sync();
    } catch (error) {
      for (const { intent, paths: again } of group)
        waiting.push({ intent, paths: again, sinceMs: clock.now() });
      waitingFiles += group.reduce((sum, w) => sum + w.paths.length, 0);
      throw error;
    } finally {
      scheduleSync();
    }
    for (const { intent } of group) intents.close(intent);
  }

  function scheduleRepair(): void {
    if (closed || cancelRepair !== null || owed.size === 0) return;
    cancelRepair = clock.after(repairMs, () => {
      cancelRepair = null;
      repairMs = Math.min(repairMs * 2, LONGEST_REPAIR_MS);
      alone(repairAll).then(scheduleRepair, (error: unknown) => {
        parts.troubled("files of a commit could not be placed", error, "tried again, ever more rarely");
        scheduleRepair();
      });
    });
  }

  async function repairAll(): Promise<void> {
    if (owed.size === 0) return;
    const open = intents.list();
    const named = open.filter(({ name }) => owed.has(name));
    const paths = new Set(named.flatMap(({ intent }) => intent.files.map((f) => f.path)));
    // Later publications of these paths too: they tell what the file was last given.
    const concerned = open.filter(({ intent }) => intent.files.some((f) => paths.has(f.path)));
    await withStorageErrors("syncing the branch", refSync.owed);
    const refused = await carryOut(parts, concerned);
    if (refused.size === 0) repairMs = FIRST_REPAIR_MS;
    for (const { name, intent } of named) {
      if (intent.files.some(({ path }) => refused.has(path))) {
        owed.set(name, "files");
        continue;
      }
      owed.delete(name);
      dropPreparedOf(intent.files, intents);
      intents.placed(name);
      wait(
        name,
        intent.files.filter((f) => f.prepared !== null).map((f) => f.path),
      );
    }
  }

  return {
    add,
    owe(names, what) {
      for (const name of names) owed.set(name, what);
      scheduleRepair();
    },
    async repair() {
      if ([...owed.values()].includes("index")) await repairAll();
    },
    pending() {
      if (owed.size === 0) return [];
      const files = intents.list().flatMap(({ name, intent }) => (owed.has(name) ? intent.files : []));
      return files.flatMap(({ path, after }) => (table.base(path) === after ? [] : [path]));
    },
    async finish() {
      closed = true;
      cancelSync?.();
      cancelRepair?.();
      later(syncFresh);
      await chain;
      await syncing;
      await syncOldest(waiting.length);
    },
  };
}

/** Sync files and their folders; one that is gone or no plain file any more has nothing to sync. */
export async function syncFiles(root: string, paths: Iterable<RepoPath>): Promise<void> {
  const queue = [...paths];
  const folders = new Set(queue.flatMap((path) => foldersOf(path)));
  const worker = async () => {
    for (let path = queue.pop(); path !== undefined; path = queue.pop()) await syncFile(join(root, path));
  };
  await Promise.all(Array.from({ length: SYNCS_AT_ONCE }, worker));
  for (const folder of folders) await ignoringAbsence(() => fsyncFolder(join(root, folder)));
}

/** Every folder on the way: each may have been made for the file. */
function foldersOf(path: RepoPath): string[] {
  const folders: string[] = [];
  for (let folder = dirname(path); folder !== "."; folder = dirname(folder)) folders.push(folder);
  return [...folders, "."];
}

function syncFile(file: string): Promise<void> {
  return ignoringAbsence(async () => {
    const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      await handle.datasync();
    } finally {
      await handle.close();
    }
  });
}

async function ignoringAbsence(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const code = errnoOf(error);
    if (code !== "ENOENT" && code !== "ENOTDIR" && code !== "ELOOP") throw error;
  }
}
