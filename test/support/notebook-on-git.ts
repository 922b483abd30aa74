/**
 * A whole notebook on a real repository, with a person at native Git beside it. The notebook's time stands still until
 * it is moved on; the store's is the machine's, so that locks are waited for as they are.
 */
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Change } from "../../src/domain/change.ts";
import { NOTE_TYPES, type NoteId } from "../../src/domain/note.ts";
import type { Caller } from "../../src/domain/principal.ts";
import { type DiskDoor, startDisk } from "../../src/doors/disk.ts";
import { createNoteIndex } from "../../src/index/create.ts";
import { systemClock } from "../../src/lib/clock.ts";
import type { WriteOutcome } from "../../src/notebook/notebook.ts";
import { type OpenedNotebook, openNotebook } from "../../src/notebook/open.ts";
import { type GitStore, openGitStore } from "../../src/store/git-store.ts";
import { type FakeClock, fakeClock } from "./fake-clock.ts";
import type { GitRepo } from "./git-repo.ts";
import { agent } from "./open-notebook.ts";
import { wholeFrom } from "./random.ts";

const ROOTS = ["notes", "memory"];
/** Hand edits settle after this long, ms. */
export const QUIET_MS = 10_000;

export interface NotebookOnGit extends OpenedNotebook {
  readonly repo: GitRepo;
  readonly store: GitStore;
  readonly clock: FakeClock;
  /** What went wrong where nobody waited for it. */
  readonly warnings: string[];
  create(title: string, content: string, folder?: string): Promise<WriteOutcome>;
  update(noteId: NoteId, content: string): Promise<WriteOutcome>;
  change(change: Change, caller?: Caller): Promise<WriteOutcome>;
  /** Wait for work that may wait for the notebook's time, which moves on while nothing else happens. */
  driven<T>(work: Promise<T>): Promise<T>;
  /** Time passes until every hand edit that settles by itself has. */
  settle(): Promise<void>;
  /** Watch the files and the Git directory, as the disk door does. */
  watch(): Promise<DiskDoor>;
  /** Close, and open again as the next daemon would. */
  reopen(): Promise<NotebookOnGit>;
  close(): Promise<void>;
}

/** What `init` sets that a store relies on; syncs of native Git are left out, nobody pulls the plug here. */
export function asInitLeavesIt(repo: GitRepo): void {
  for (const [key, value] of Object.entries(SETTINGS)) repo.git("config", key, value);
}

const SETTINGS = {
  "core.trustctime": "false",
  "core.fsync": "none",
  "gc.auto": "0",
  "rerere.enabled": "false",
  "advice.detachedHead": "false",
};

const byte = wholeFrom(5);
const randomBytes = (count: number) => Uint8Array.from({ length: count }, () => byte(256));

/** Open the notebook of a repository. Close it at the end. */
export async function notebookOnGit(
  repo: GitRepo,
  clock: FakeClock = fakeClock(),
  durability: "full" | "relaxed" = "full",
): Promise<NotebookOnGit> {
  const stateDir = join(repo.gitdir, "notesd");
  mkdirSync(stateDir, { recursive: true });
  const warnings: string[] = [];
  const warn = (message: string, fields: unknown) =>
    void warnings.push(`${message} ${JSON.stringify(fields)}`);
  const store = await openGitStore({
    root: repo.root,
    gitdir: repo.gitdir,
    branch: "main",
    roots: ROOTS,
    proofKey: new Uint8Array(32),
    lockWaitMs: 5_000,
    besideGitMs: 0,
    durability,
    warn,
  });
  const indexOptions = { types: Object.keys(NOTE_TYPES), roots: ROOTS };
  const opened = await openNotebook({
    store,
    index: createNoteIndex(indexOptions),
    newIndex: () => createNoteIndex(indexOptions),
    stateDir,
    notesIndexFile: null,
    types: NOTE_TYPES,
    limits: { noteBytes: 256 << 10, waitingWrites: 1_000 },
    filenames: "id",
    roots: ROOTS,
    reconcile: { quiet_ms: QUIET_MS, max_wait_ms: 300_000, commit: "auto" },
    filesFirst: false,
    person: { name: "Ann", email: "ann@example.org" },
    proofKey: new Uint8Array(32),
    clock,
    randomBytes,
    warn,
  });
  const { notebook, disk } = opened;
  let door: DiskDoor | null = null;

  async function driven<T>(work: Promise<T>): Promise<T> {
    let over = false;
    const end = () => {
      over = true;
    };
    work.then(end, end);
    while (!over) {
      for (let turn = 0; turn < 50 && !over; turn++) await new Promise((resolve) => setImmediate(resolve));
      if (!over) clock.advance(50);
    }
    return work;
  }

  const change = (wish: Change, caller: Caller = agent("planner")) =>
    driven(notebook.write({ change: wish, reason: null, idempotency: null }, caller));

  return {
    ...opened,
    repo,
    store,
    clock,
    warnings,
    change,
    driven,
    create: (title, content, folder) =>
      change({
        kind: "create",
        title,
        content,
        noteType: "general",
        tags: [],
        extra: {},
        pinned: false,
        expiresInHours: null,
        folder: folder ?? null,
      }),
    update: (noteId, content) => change({ kind: "update", noteId, content, onConflict: "fail" }),
    async settle() {
      await driven(disk.scanAll("asked"));
      clock.advance(QUIET_MS);
      await driven(disk.scanAll("asked"));
    },
    async watch() {
      door = await startDisk({
        root: repo.root,
        gitDir: repo.gitdir,
        commonDir: repo.gitdir,
        roots: ROOTS,
        clock: systemClock,
        ...disk,
        failed: (error) => void warnings.push(String(error)),
      });
      return door;
    },
    async reopen() {
      await door?.close();
      await driven(notebook.close());
      return notebookOnGit(repo, clock, durability);
    },
    async close() {
      await door?.close();
      await driven(notebook.close());
    },
  };
}

/** Locks that stand in the Git directory, of anybody's, and proofs of ours but the empty one that serves every group. */
export function standingLocks(gitdir: string): string[] {
  const locks = [gitdir, join(gitdir, "refs/heads")].flatMap((folder) =>
    readdirSync(folder).filter((name) => name.endsWith(".lock")),
  );
  const proofs = readdirSync(join(gitdir, "notesd/locks")).filter((name) => !name.startsWith("HEAD~"));
  return [...locks, ...proofs];
}
