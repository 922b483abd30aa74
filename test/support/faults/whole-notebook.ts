/** A whole notebook on a real repository, as main opens it, without the door that watches files. */
import "./fs-tap.ts";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Change } from "../../../src/domain/change.ts";
import { agentIdOf } from "../../../src/domain/identity.ts";
import { NOTE_TYPES, type NoteId } from "../../../src/domain/note.ts";
import type { Caller } from "../../../src/domain/principal.ts";
import { createNoteIndex, restoreNoteIndex } from "../../../src/index/create.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { orAbsent } from "../../../src/lib/durable-file.ts";
import { type OpenedNotebook, openNotebook } from "../../../src/notebook/open.ts";
import { openGitStore } from "../../../src/store/git-store.ts";
import { wholeFrom } from "../random.ts";

const proofKey = new Uint8Array(32);
export const PLANNER: Caller = {
  principal: { kind: "agent", name: "planner", agentId: agentIdOf("planner"), readOnly: false, mcp: false },
  session: "one",
  task: null,
};

/** @param seed of the ids that notes are given */
export async function openWhole(root: string, seed: number): Promise<OpenedNotebook> {
  const gitdir = join(root, ".git");
  const byte = wholeFrom(seed);
  const checkpoint = orAbsent(() => readFileSync(join(gitdir, "notesd/checkpoint")));
  const store = await openGitStore({
    root,
    gitdir,
    branch: "main",
    roots: ["notes", "memory"],
    proofKey,
    lockWaitMs: 300,
    besideGitMs: 0,
  });
  return openNotebook({
    store,
    index: (checkpoint && restoreNoteIndex(checkpoint)) ?? createNoteIndex(),
    newIndex: () => createNoteIndex(),
    stateDir: join(gitdir, "notesd"),
    notesIndexFile: join(root, "notes_index.json"),
    types: NOTE_TYPES,
    limits: { noteBytes: 256 * 1024, waitingWrites: 10_000 },
    filenames: "id",
    roots: ["notes", "memory"],
    reconcile: { quiet_ms: 20, max_wait_ms: 200, commit: "auto" },
    person: { name: "Pat", email: "pat@example.com" },
    proofKey,
    clock: systemClock,
    randomBytes: (count) => Uint8Array.from({ length: count }, () => byte(256)),
    warn: () => {},
  });
}

const COUNT = 3;

export interface Answered {
  /** The idempotency key of the request. */
  readonly key: string;
  readonly noteId: NoteId;
  readonly commit: string;
}

/** Create a note, as the request of this number. The same number is the same request. */
export async function createNote({ notebook }: OpenedNotebook, number: number): Promise<Answered> {
  const key = `request-${number}`;
  const change: Change = {
    kind: "create",
    title: `Note ${number}`,
    content: `Text ${number}.`,
    noteType: "general",
    tags: [],
    extra: {},
    pinned: false,
    expiresInHours: null,
    folder: null,
  };
  const idempotency = { key, hash: "a".repeat(64) };
  const outcome = await notebook.write({ change, reason: null, idempotency }, PLANNER);
  if (outcome.commit === null) throw new Error("nothing was committed");
  return { key, noteId: outcome.noteId, commit: outcome.commit };
}

/** Some requests, told one by one as they are answered. */
export async function createSome(opened: OpenedNotebook, told: (answered: Answered) => void): Promise<void> {
  for (let number = 1; number <= COUNT; number++) told(await createNote(opened, number));
}

/** Files that the notebook keeps beside the store's, whole or unfinished. */
export const isStateFile = (path: string) =>
  /\/(?:notesd\/\.?(?:heads|seen\.json|checkpoint|base)|\.?notes_index\.json)[^/]*$/.test(path);
