/**
 * Intents: what a publication is about to do, durable before it begins and kept until every file is placed
 * and durable. One file a group, in the order of their numbers. Carrying them out after a crash is `recovery.ts`.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import type { BlobId, CommitId, RepoPath } from "../../domain/note.ts";
import { bootOfMachine } from "../../lib/boot.ts";
import { orAbsent, writeDurably } from "../../lib/durable-file.ts";
import { jsonOrNull } from "../../lib/json-text.ts";
import type { EntryChange } from "../advance.ts";
import type { FileSignature } from "../files/file-signature.ts";

export interface IntentFile {
  readonly path: RepoPath;
  readonly before: BlobId | null;
  readonly after: BlobId | null;
  /** The working file being replaced; null: there is none, or it holds `after` already. */
  readonly replaced: FileSignature | null;
  /** The file to be linked in; null: removed, or a person's own file stays. `name` is in `prepared/`. */
  readonly prepared: { readonly name: string; readonly ino: string; readonly mtimeNs: string } | null;
  /** Where the replaced file waits; a name in `aside/`. */
  readonly aside: string;
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
  placed(name: string): void;
  /** Forget an intent that is carried out or given up. */
  close(name: string): void;
  /** Every intent on disk, oldest first; one that can't be read was never complete and is left out. */
  list(): OpenIntent[];
  /** Whether an inode is a prepared file of an open intent. */
  isPrepared(ino: string): boolean;
}

const OPEN = ".json";
const PLACED = ".placed";

/** Open the intents of a repository, making their folders. @param folder `<gitdir>/notesd` */
export function openIntents(folder: string): Intents {
  const home = join(folder, "intents");
  for (const name of ["intents", "prepared", "aside"]) mkdirSync(join(folder, name), { recursive: true });
  const inodes = new Map<string, readonly string[]>();
  const session = `${Date.now().toString(36)}-${process.pid.toString(36)}`;
  const boot = bootOfMachine();
  let count = 0;
  // Numbers go on from the highest on disk, so that names sort by age across restarts.
  let number = Math.max(0, ...names(home).map((name) => Number.parseInt(name, 10)));

  const remember = (name: string, intent: Intent) =>
    inodes.set(
      name,
      intent.files.flatMap((f) => (f.prepared === null ? [] : [f.prepared.ino])),
    );

  /** One that doesn't say was written by a version that didn't know: then nothing speaks for it. */
  const isOfAnotherRun = (intent: Intent) => intent.boot !== undefined && intent.boot !== boot;

  function close(name: string): void {
    inodes.delete(name);
    for (const ending of [OPEN, PLACED]) orAbsent(() => unlinkSync(join(home, name + ending)));
  }

  function list(): OpenIntent[] {
    return names(home).flatMap((name) => {
      const intent = parse(orAbsent(() => readFileSync(join(home, name), "utf8")));
      if (intent === null) return [];
      return [
        { name: name.slice(0, 12), intent, placed: name.endsWith(PLACED), rebooted: isOfAnotherRun(intent) },
      ];
    });
  }
  for (const { name, intent, placed } of list()) if (!placed) remember(name, intent);

  return {
    prepared: (name) => join(folder, "prepared", name),
    aside: (name) => join(folder, "aside", name),
    newName: () => `${session}-${++count}`,
    async open(intent) {
      const name = String(++number).padStart(12, "0");
      remember(name, intent);
      try {
        await writeDurably(join(home, name + OPEN), JSON.stringify({ ...intent, boot }), { mode: 0o600 });
        return name;
      } catch (error) {
        try {
          // It may stand all the same; nothing of it will happen.
          close(name);
        } catch {
          // Trigger: the disk refuses this too. Outcome: the next start finds no commit of it and drops it.
        }
        throw error;
      }
    },
    placed(name) {
      inodes.delete(name);
      orAbsent(() => renameSync(join(home, name + OPEN), join(home, name + PLACED)));
    },
    close,
    list,
    isPrepared: (ino) => [...inodes.values()].some((list) => list.includes(ino)),
  };
}

function names(home: string): string[] {
  return readdirSync(home)
    .filter((name) => /^\d{12}\.(?:json|placed)$/.test(name))
    .sort();
}

function parse(text: string | null): Intent | null {
  const value = text === null ? null : jsonOrNull(text);
  const whole = typeof value === "object" && value !== null && "format" in value && value.format === 1;
  // Written by us, whole, under a name that only a rename of the finished file can give.
  return whole ? (value as Intent) : null;
}
