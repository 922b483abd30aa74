/**
 * Intents: what a publication is about to do, durable before it begins and kept until every file is placed
 * and durable. They are numbered, so that their names sort by age; how they lie on disk is `intent-log.ts`. Carrying
 * them out after a crash is `recovery.ts`.
 * Invariant: a log goes when it holds no open intent; only the log that this process began gets new ones.
 */
import { closeSync, mkdirSync, openSync, renameSync, unlinkSync } from "node:fs";
import { basename, join } from "node:path";
import type { BlobId, CommitId, RepoPath } from "../../domain/note.ts";
import { bootOfMachine } from "../../lib/boot.ts";
import { fsyncFolder, orAbsent, syncContent, writeAllSync } from "../../lib/durable-file.ts";
import type { EntryChange } from "../advance.ts";
import type { FileSignature } from "../files/file-signature.ts";
import { type LogEntry, logLine, readIntentFiles } from "./intent-log.ts";

export interface IntentFile {
  readonly path: RepoPath;
  readonly before: BlobId | null;
  readonly after: BlobId | null;
  /** The working file being replaced; null: there is none, or it holds `after` already. */
  readonly replaced: FileSignature | null;
  /** The file to be linked in; null: removed, or a person's own file stays. `name` is in `prepared/`. */
  readonly prepared: { readonly name: string; readonly ino: string; readonly mtimeNs: string } | null;
  /** The permission that the file must come to have; absent: as it is. */
  readonly remode?: "executable" | "plain";
  /** Where the replaced file waits; a name in `aside/`. */
  readonly aside: string;
  /** A person's edit lies there and waits: only the Git index follows. */
  readonly left?: boolean;
}

export interface Intent {
  readonly format: 1;
  readonly ref: string;
  readonly from: CommitId | null;
  readonly to: CommitId;
  /** Empty while HEAD is elsewhere: the ref alone moves. */
  readonly files: readonly IntentFile[];
  /** Links and submodules that change along, in a move to a commit that others made; then the modes of files do too. */
  readonly links?: readonly EntryChange[];
  /** The run of the machine in which it was written; set by `open`. */
  readonly boot?: string | null;
}

export interface OpenIntent {
  readonly name: string;
  readonly intent: Intent;
  /** Its files are in their places and the Git index is level; it only waits until they are durable. */
  readonly placed: boolean;
  /** The machine was started anew since it was written: what was placed and not synced yet may be lost. */
  readonly rebooted: boolean;
}

export interface Intents {
  /** Absolute path of a prepared file. */
  prepared(name: string): string;
  /** Absolute path of a file set aside. */
  aside(name: string): string;
  /** A name that no file in `prepared/` or `aside/` has. */
  newName(): string;
  /** Write an intent durably. @returns its name, for `close` */
  open(intent: Intent): Promise<string>;
  /** Note that files and Git index are in place. Prepared files may go now. */
  placed(names: readonly string[]): void;
  /** Forget intents that are carried out or given up. */
  close(names: readonly string[]): void;
  /** Remove files without an open intent, which a crash left. Only for the holder of the daemon lock. */
  tidy(): void;
  /** Every open intent on disk, oldest first; one that can't be read was never complete and is left out. */
  list(): OpenIntent[];
  /** Whether an inode is a prepared file of an open intent. */
  isPrepared(ino: string): boolean;
}

/** A log that is longer gets no new intents, so that it goes when its own are closed. */
const FULL_BYTES = 256 << 10;

/** A log with what is open in it. */
interface Log {
  readonly file: string;
  /** Bytes that are whole lines; what a failed write left behind them is written over. */
  end: number;
  readonly open: Set<string>;
  readonly unplaced: Set<string>;
  /** Its name is durable. */
  isNamed: boolean;
}

/** Open the intents of a repository, making their folders. @param folder `<gitdir>/notesd` */
export function openIntents(folder: string): Intents {
  const home = join(folder, "intents");
  for (const name of ["intents", "prepared", "aside"]) mkdirSync(join(folder, name), { recursive: true });
  const inodes = new Map<string, readonly string[]>();
  const session = `${Date.now().toString(36)}-${process.pid.toString(36)}`;
  const boot = bootOfMachine();
  let count = 0;
  const logs = new Set<Log>();
  let newest: Log | null = null;
  let number = 0;
  for (const { file, log, open } of readIntentFiles(home)) {
    number = Math.max(number, Number.parseInt(basename(file), 10), ...open.map(({ name }) => Number(name)));
    const unplaced = open.filter(({ placed }) => !placed);
    for (const { name, intent } of unplaced) remember(name, intent);
    if (log === null) continue;
    const names = new Set(open.map(({ name }) => name));
    logs.add({
      file,
      end: log.end,
      open: names,
      unplaced: new Set(unplaced.map(({ name }) => name)),
      isNamed: true,
    });
  }

  function remember(name: string, intent: Intent): void {
    const inos = intent.files.flatMap((f) => (f.prepared === null ? [] : [f.prepared.ino]));
    inodes.set(name, inos);
  }

  /** One that doesn't say was written by a version that didn't know: then nothing speaks for it. */
  const isOfAnotherRun = (intent: Intent) => intent.boot !== undefined && intent.boot !== boot;

  /** The log for a new intent, opened for writing. */
  function logToGrow(name: string): { readonly log: Log; readonly fd: number } {
    const standing = newest;
    if (standing !== null && standing.end < FULL_BYTES) {
      // By its name each time: one that somebody took away must not be written on for nobody.
      const fd = orAbsent(() => openSync(standing.file, "r+"));
      if (fd !== null) return { log: standing, fd };
    }
    const file = join(home, `${name}.log`);
    const log: Log = { file, end: 0, open: new Set(), unplaced: new Set(), isNamed: false };
    const fd = openSync(file, "wx", 0o600);
    newest = log;
    logs.add(log);
    return { log, fd };
  }

  function grow(log: Log, fd: number, entry: LogEntry, unplaced: number): void {
    const line = logLine(entry, unplaced);
    writeAllSync(fd, line, log.end);
    log.end += line.length;
  }

  async function write(name: string, intent: Intent): Promise<void> {
    const { log, fd } = logToGrow(name);
    // Before the write: what may be there is closed when it fails.
    log.open.add(name);
    try {
      grow(log, fd, { open: name, intent }, log.unplaced.size + 1);
      log.unplaced.add(name);
      await syncContent(fd);
    } finally {
      closeSync(fd);
    }
    if (log.isNamed) return;
    await fsyncFolder(home);
    log.isNamed = true;
  }

  function mark(kind: "placed" | "closed", names: readonly string[]): void {
    for (const log of logs) {
      const own = names.filter((name) => log.open.has(name));
      if (own.length === 0) continue;
      const unplaced = new Set([...log.unplaced].filter((name) => !own.includes(name)));
      if (kind === "closed" && own.length === log.open.size) {
        remove(log);
        continue;
      }
      const fd = orAbsent(() => openSync(log.file, "r+"));
      if (fd !== null) {
        try {
          grow(log, fd, kind === "closed" ? { closed: own } : { placed: own }, unplaced.size);
        } finally {
          closeSync(fd);
        }
      }
      for (const name of own) {
        log.unplaced.delete(name);
        if (kind === "closed") log.open.delete(name);
      }
    }
  }

  function remove(log: Log): void {
    orAbsent(() => unlinkSync(log.file));
    logs.delete(log);
    if (newest === log) newest = null;
  }

  /** What an earlier version left in a file of its own. */
  function single(name: string): string | null {
    for (const log of logs) if (log.open.has(name)) return null;
    return join(home, name);
  }

  function close(names: readonly string[]): void {
    const singles = names.flatMap((name) => single(name) ?? []);
    for (const name of names) inodes.delete(name);
    mark("closed", names);
    for (const file of singles)
      for (const ending of [".json", ".placed"]) orAbsent(() => unlinkSync(file + ending));
  }

  return {
    prepared: (name) => `${folder}/prepared/${name}`,
    aside: (name) => `${folder}/aside/${name}`,
    newName: () => `${session}-${++count}`,
    async open(intent) {
      const name = String(++number).padStart(12, "0");
      remember(name, intent);
      try {
        await write(name, { ...intent, boot });
        return name;
      } catch (error) {
        try {
          // It may stand all the same; nothing of it will happen.
          close([name]);
        } catch {
          // Trigger: the disk refuses this too. Outcome: the next start finds no commit of it and drops it.
        }
        throw error;
      }
    },
    placed(names) {
      const singles = names.flatMap((name) => single(name) ?? []);
      for (const name of names) inodes.delete(name);
      mark("placed", names);
      for (const file of singles) orAbsent(() => renameSync(`${file}.json`, `${file}.placed`));
    },
    close,
    tidy() {
      for (const log of logs) if (log.open.size === 0) remove(log);
    },
    list: () =>
      readIntentFiles(home).flatMap(({ open }) =>
        open.map((one) => ({ ...one, rebooted: isOfAnotherRun(one.intent) })),
      ),
    isPrepared: (ino) => [...inodes.values()].some((list) => list.includes(ino)),
  };
}
