/** A whole notebook over a store in memory, with the time and the random bytes of a test. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agentIdOf } from "../../src/domain/identity.ts";
import { NOTE_TYPES } from "../../src/domain/note.ts";
import type { Caller } from "../../src/domain/principal.ts";
import { createNoteIndex } from "../../src/index/create.ts";
import type { Warn } from "../../src/lib/bus.ts";
import { type Clock, systemClock } from "../../src/lib/clock.ts";
import { type OpenedNotebook, openNotebook } from "../../src/notebook/open.ts";
import { type MemoryStore, openMemoryStore } from "./memory/memory-store.ts";
import { wholeFrom } from "./random.ts";

export const PERSON: Caller = {
  principal: { kind: "person", name: "Pat", email: "pat@example.com" },
  session: null,
  task: null,
};

export const agent = (name: string): Caller => ({
  principal: { kind: "agent", name, agentId: agentIdOf(name), readOnly: false, mcp: false },
  session: null,
  task: null,
});

export interface TestNotebook extends OpenedNotebook {
  readonly store: MemoryStore;
  readonly stateDir: string;
  /** Close and remove its files. */
  dispose(): Promise<void>;
  /** Close and open again on the same store and state, with an empty index. */
  reopen(): Promise<TestNotebook>;
}

export interface TestNotebookOptions {
  readonly clock?: Clock;
  readonly commit?: "auto" | "manual";
  readonly store?: MemoryStore;
  readonly stateDir?: string;
  readonly warn?: Warn;
  readonly filesFirst?: boolean;
}

const byte = wholeFrom(0);
const randomBytes = (count: number) => Uint8Array.from({ length: count }, () => byte(256));

export async function openTestNotebook(options: TestNotebookOptions = {}): Promise<TestNotebook> {
  const { clock = systemClock, commit = "auto" } = options;
  const proofKey = new Uint8Array(32);
  const store = options.store ?? openMemoryStore({ proofKey, now: () => clock.now() });
  const stateDir = options.stateDir ?? mkdtempSync(join(tmpdir(), "notesd-notebook-"));
  const opened = await openNotebook({
    store,
    index: createNoteIndex(),
    newIndex: () => createNoteIndex(),
    stateDir,
    notesIndexFile: null,
    types: NOTE_TYPES,
    limits: { noteBytes: 256 * 1024, waitingWrites: 10_000 },
    filenames: "id",
    roots: ["notes", "memory"],
    reconcile: { quiet_ms: 20, max_wait_ms: 200, commit },
    filesFirst: options.filesFirst ?? false,
    person: { name: "Pat", email: "pat@example.com" },
    proofKey,
    clock,
    randomBytes,
    warn: options.warn ?? ((message, fields) => console.error(message, fields)),
  });
  return {
    ...opened,
    store,
    stateDir,
    async dispose() {
      await opened.notebook.close();
      rmSync(stateDir, { recursive: true, force: true });
    },
    async reopen() {
      await opened.notebook.close();
      return openTestNotebook({ ...options, store, stateDir });
    },
  };
}
