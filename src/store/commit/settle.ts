/**
 * What follows the answer: files set aside are looked at once more and dropped, intents wait until their files
 * are durable, and what could not be placed is tried again. Nothing here can undo a commit.
 */
import { join } from "node:path";
import type { RepoPath } from "../../domain/note.ts";
import { fsyncFolder } from "../../lib/durable-file.ts";
import { slicer } from "../../lib/slicer.ts";
import { lstatNow } from "../files/file-signature.ts";
import { dropPrepared, dropPreparedOf } from "../files/prepare-files.ts";
import { carryOut, isRefused } from "../recovery/carry-out.ts";
import { returnAside } from "../recovery/roll-forward.ts";
import { withStorageErrors } from "../storage-error.ts";
import type { StoreParts } from "../store-parts.ts";
import type { PublishedGroup } from "./commit-group.ts";
import type { OpenIntent } from "./intents.ts";
import { openUnsynced } from "./unsynced.ts";

const FIRST_REPAIR_MS = 1_000;
const LONGEST_REPAIR_MS = 60_000;
/** What a stop spends on syncing working files; intents that are left stand until the next start. */
const FINISH_WITHIN_MS = 2_000;
/** Groups published in this time share one sync of the Git directory. */
const TOGETHER_MS = 20;

interface Fresh {
  readonly intent: string;
  readonly paths: readonly RepoPath[];
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
  /** Paths of commits that stand whose working file or link could not be placed yet. @cost the intents that owe something */
  pending(): RepoPath[];
  /** Intents that an earlier process of this run of the machine carried out: their files only are to be synced. */
  resume(intents: readonly OpenIntent[]): void;
  /** Make durable what can be in two seconds, and forget the intents that are carried out; what is left stands. */
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
  const fresh: Fresh[] = [];
  let chain: Promise<void> = Promise.resolve();
  let cancelRepair: (() => void) | null = null;
  let repairMs = FIRST_REPAIR_MS;
  let closed = false;

  /** The commit stands and its intent too, so what the disk refuses here is told to people and done later. */
  const refused = (error: unknown) =>
    parts.troubled("what follows a commit could not be done", error, "tried again");
  function later(work: () => Promise<void>): void {
    chain = chain.then(work).catch(refused);
  }
  /** Apart: thousands of old files take their time, and what new groups set aside must not pile up meanwhile. */
  const unsynced = openUnsynced(parts, refused);

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
        const turn = slicer();
        for (const file of files) {
          if (file.intent.replaced !== null) returnAside({ root, intents }, file.intent);
          dropPrepared([file], intents);
          const pause = turn();
          if (pause !== null) await pause;
        }
      } catch (error) {
        oweFiles([intent]);
        throw error;
      }
      fresh.push({ intent, paths: files.filter(({ place }) => place).map((f) => f.intent.path) });
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
      intents.placed(groups.map(({ intent }) => intent));
    } catch (error) {
      oweFiles(groups.map(({ intent }) => intent));
      throw error;
    }
    for (const { intent, paths } of groups) unsynced.add(intent, paths);
  }

  /** While an intent is open a person's commits are held back, so it can't wait for the next start. */
  function oweFiles(names: readonly string[]): void {
    for (const name of names) owed.set(name, "files");
    scheduleRepair();
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
    const concerned = open.filter(
      ({ name, intent }) => owed.has(name) || intent.files.some((f) => paths.has(f.path)),
    );
    await withStorageErrors("syncing the branch", refSync.owed);
    const refused = await carryOut(parts, concerned);
    if (refused.size === 0) repairMs = FIRST_REPAIR_MS;
    for (const { name, intent } of named) {
      if (isRefused(refused, intent)) {
        owed.set(name, "files");
        continue;
      }
      owed.delete(name);
      dropPreparedOf(intent.files, intents);
      intents.placed([name]);
      unsynced.add(name, pathsOf(intent));
    }
  }

  return {
    add,
    owe(names, what) {
      for (const name of names) owed.set(name, what);
      scheduleRepair();
    },
    resume(open) {
      for (const { name, intent } of open) unsynced.add(name, pathsOf(intent));
    },
    async repair() {
      if ([...owed.values()].includes("index")) await repairAll();
    },
    pending() {
      if (owed.size === 0) return [];
      const open = intents.list().flatMap(({ name, intent }) => (owed.has(name) ? [intent] : []));
      const isThere = (path: RepoPath) => lstatNow(join(root, path)) !== null;
      return open.flatMap(({ files, links = [] }) => [
        ...files.flatMap(({ path, after, left }) =>
          left === true || table.base(path) === after ? [] : [path],
        ),
        ...links.flatMap(({ path, after }) => (isThere(path) === (after !== null) ? [] : [path])),
      ]);
    },
    async finish() {
      closed = true;
      cancelRepair?.();
      later(syncFresh);
      await chain;
      await unsynced.finish(FINISH_WITHIN_MS);
    },
  };
}

/** Of one that is gone the folder has something to sync. */
const pathsOf = ({ files }: OpenIntent["intent"]) => files.map(({ path }) => path);
