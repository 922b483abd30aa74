/**
 * The notebook of one repository with the disk door before it: store, index from its checkpoint or rebuilt,
 * notebook, watchers, and a first look at every file. Returns when reads may come; writes wait for that look.
 */
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Author } from "../domain/event.ts";
import type { HookDoor } from "../doors/hook.ts";
import { createNoteIndex, restoreNoteIndex } from "../index/create.ts";
import type { NoteIndex } from "../index/note-index.ts";
import type { Clock } from "../lib/clock.ts";
import { orAbsent } from "../lib/durable-file.ts";
import { openFileBytes } from "../lib/file-bytes.ts";
import { errorFields, type Log } from "../lib/log.ts";
import type { Notebook } from "../notebook/notebook.ts";
import { type OpenedNotebook, openNotebook } from "../notebook/open.ts";
import type { GitStore } from "../store/git-store.ts";
import { allRoots } from "./attributes.ts";
import { parsePerson } from "./identities/parse-person.ts";
import { openStore } from "./open-store.ts";
import { dropAfterOtherKey } from "./proof-key.ts";
import { NOTE_BYTES, pushRules, typesOf } from "./push-rules.ts";
import { proofKey } from "./read-proof-key.ts";
import type { Resolved } from "./resolve.ts";
import { watchDisk } from "./watch-disk.ts";

interface NotesSurroundings {
  /** Author of hand edits. */
  readonly person: Author;
  readonly log: Log;
  readonly clock: Clock;
  /** For native Git. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

interface OpenNotes {
  readonly notebook: Notebook;
  /** What Git's hooks ask for. */
  readonly hooks: HookDoor;
  readonly store: GitStore;
  readonly setRemote: OpenedNotebook["setRemote"];
  close(): Promise<void>;
}

const WAITING_WRITES = 4096;

/** @throws NotesError STORAGE; ProcessError USAGE */
export async function openNotes(resolved: Resolved, around: NotesSurroundings): Promise<OpenNotes> {
  const { place, settings } = resolved;
  const { log, clock, person, env } = around;
  const stateDir = join(place.gitDir, "notesd");
  const roots = allRoots(settings.roots ?? []);
  const types = typesOf(settings);
  const indexOptions = { types: Object.keys(types), roots };
  const newIndex = () => createNoteIndex(indexOptions);
  const key = await proofKey(join(stateDir, "proof.key"));
  dropAfterDeepening(place.gitDir, stateDir);
  dropAfterOtherKey(stateDir, key);
  const restored = restoredIndex(join(stateDir, "checkpoint"), indexOptions, log);

  const store = await openStore(resolved, { warn: log.warn, env });
  const { carriedOut, locks, packs, unplaced } = store.recovery;
  for (const { path, why } of unplaced) log.warn("a committed file can't be placed", { path, why });
  if (carriedOut + locks.length + packs.length > 0) {
    log.warn("recovered what a crash left", {
      carried_out: carriedOut,
      locks: locks.join(" "),
      packs: packs.length,
    });
  }
  const opened = await openNotebook({
    store,
    index: restored ?? newIndex(),
    newIndex,
    stateDir,
    notesIndexFile: join(place.root, "notes_index.json"),
    types,
    limits: {
      noteBytes: settings.limits?.note_bytes ?? NOTE_BYTES,
      waitingWrites: settings.limits?.queue ?? WAITING_WRITES,
    },
    filenames: settings.filenames ?? "id",
    roots,
    reconcile: {
      quiet_ms: settings.reconcile?.quiet_ms ?? 10_000,
      max_wait_ms: settings.reconcile?.max_wait_ms ?? 300_000,
      commit: settings.reconcile?.commit ?? "auto",
    },
    filesFirst: true,
    person,
    proofKey: key,
    clock,
    randomBytes,
    warn: (message, fields) => log.warn(message, fields),
  });
  const disk = watchDisk(opened, {
    root: place.root,
    gitDir: place.gitDir,
    // A linked working tree is refused by preflight.
    commonDir: place.gitDir,
    roots,
    clock,
    ...opened.disk,
    failed: (error) => log.warn("watching files", errorFields(error)),
  });
  return {
    notebook: opened.notebook,
    hooks: {
      levelForCommit: async () => ({
        lagging: await opened.disk.levelForCommit(),
        parted: opened.disk.parted(),
      }),
      push: opened.push,
      rules: pushRules(settings),
      async join(tip, author) {
        // Its name came through an environment: what would break a commit's header is refused.
        const who = author === null ? person : parsePerson(author);
        const from = `pushed by ${who.name}`;
        const done = await opened.notebook.join(tip, { author: who, via: "push", reason: null, from });
        return { ...done, conflicts: [...done.conflicts] };
      },
      moved: opened.disk.headMoved,
    },
    store,
    setRemote: opened.setRemote,
    async close() {
      await disk.close();
      await opened.notebook.close();
    },
  };
}

/** A history that is cut elsewhere by now (`git fetch --unshallow`) tells other dates and authors: it is read anew. */
function dropAfterDeepening(gitDir: string, stateDir: string): void {
  const copy = join(stateDir, "shallow");
  const textOf = (file: string) => orAbsent(() => readFileSync(file, "utf8")) ?? "";
  const now = textOf(join(gitDir, "shallow"));
  if (now === textOf(copy)) return;
  orAbsent(() => unlinkSync(join(stateDir, "checkpoint")));
  mkdirSync(stateDir, { recursive: true });
  writeFileSync(copy, now);
}

/** Null where there is no checkpoint, or none that can be read: it is disposable. */
function restoredIndex(
  path: string,
  options: Parameters<typeof restoreNoteIndex>[1],
  log: Log,
): NoteIndex | null {
  try {
    const file = openFileBytes(path);
    if (file === null) return null;
    try {
      const restored = restoreNoteIndex(file, options);
      if (restored === null)
        log.info("the checkpoint is of another version, other types or roots, or damaged: rebuilding");
      return restored;
    } finally {
      file.close();
    }
  } catch (error) {
    log.warn("the checkpoint can't be read: rebuilding", errorFields(error));
    return null;
  }
}
