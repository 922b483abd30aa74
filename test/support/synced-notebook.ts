/** A whole notebook on a repository of its own that syncs with a remote: what a daemon is, without its doors. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Change } from "../../src/domain/change.ts";
import { NOTE_TYPES } from "../../src/domain/note.ts";
import { createNoteIndex } from "../../src/index/create.ts";
import { type Clock, systemClock } from "../../src/lib/clock.ts";
import { setGitConfig } from "../../src/lib/git-config.ts";
import { type OpenedNotebook, openNotebook } from "../../src/notebook/open.ts";
import { type ScheduledSync, scheduleSync } from "../../src/notebook/sync/schedule.ts";
import type { SyncWish } from "../../src/notebook/sync/sync-result.ts";
import { type GitStore, openGitStore } from "../../src/store/git-store.ts";
import { GIT_ENV } from "./git-env.ts";
import { type GitRepo, repoAt } from "./git-repo.ts";
import { agent } from "./open-notebook.ts";
import { wholeFrom } from "./random.ts";
import { saveFile } from "./save-file.ts";

export interface SyncedNotebook extends OpenedNotebook {
  readonly repo: GitRepo;
  readonly store: GitStore;
  readonly sync: ScheduledSync;
  /** What was warned of. */
  readonly warned: string[];
  run(wish?: Partial<SyncWish>): ReturnType<ScheduledSync["run"]>;
  create(
    title: string,
    content: string,
    expiresInHours?: number,
  ): Promise<{ readonly noteId: string; readonly path: string }>;
  update(noteId: string, content: string): Promise<void>;
  /** A person saves a file, and the disk door has seen it. */
  save(path: string, content: string | null): Promise<void>;
  digest(): Promise<string>;
  dispose(): Promise<void>;
}

export const NO_SYNC = { intervalMs: null, onChangeMs: null } as const;

export async function openSynced(
  remote: string,
  seed: number,
  options: {
    readonly login?: { readonly username: string; readonly password: string };
    readonly settings?: { readonly intervalMs: number | null; readonly onChangeMs: number | null };
    /** Default: the machine's. */
    readonly clock?: Clock;
    /** Default: of `seed`, so one of its own. */
    readonly proofKey?: Uint8Array;
  } = {},
): Promise<SyncedNotebook> {
  const top = mkdtempSync(join(tmpdir(), "notesd-sync-"));
  const root = join(top, "repo");
  const repo = repoAt(root);
  repoAt(top).git("init", "-q", "-b", "main", "repo");
  await setGitConfig(join(root, ".git/config"), {
    "core.trustctime": "false",
    "core.fsync": "none",
    "gc.auto": "0",
    "remote.origin.url": remote,
  });
  const { clock = systemClock, proofKey = new Uint8Array(32).fill(seed) } = options;
  const store = await openGitStore({
    ...{ root, gitdir: join(root, ".git"), branch: "main", roots: ["notes", "memory"], proofKey },
    ...{ lockWaitMs: 5_000, besideGitMs: 0 },
  });
  const warned: string[] = [];
  const warn = (message: string, fields: unknown) => void warned.push(`${message} ${JSON.stringify(fields)}`);
  const byte = wholeFrom(seed);
  const opened = await openNotebook({
    store,
    index: createNoteIndex(),
    newIndex: () => createNoteIndex(),
    stateDir: join(root, ".git/notesd"),
    notesIndexFile: null,
    types: NOTE_TYPES,
    limits: { noteBytes: 256 * 1024, waitingWrites: 10_000 },
    filenames: "id",
    roots: ["notes", "memory"],
    reconcile: { quiet_ms: 20, max_wait_ms: 200, commit: "auto" },
    person: { name: "Pat", email: "pat@example.com" },
    proofKey,
    clock,
    randomBytes: (count) => Uint8Array.from({ length: count }, () => byte(256)),
    warn,
  });
  const remotes = store.remotes({ env: { ...GIT_ENV, HOME: top }, login: options.login ?? null });
  const sync = scheduleSync(
    { store, notebook: opened.notebook, remotes, clock, random: () => byte(256) / 256, warn },
    { remote: "origin", ...(options.settings ?? NO_SYNC) },
  );
  opened.setRemote(sync.fetchedMs);
  const write = (change: Change) =>
    opened.notebook.write({ change, reason: null, idempotency: null }, agent("planner"));
  return {
    ...opened,
    repo,
    store,
    sync,
    warned,
    run: (wish = {}) => sync.run(wish),
    async create(title, content, expiresInHours) {
      const { noteId, path } = await write({
        ...{ kind: "create", title, content, noteType: "general", tags: [], extra: {} },
        ...{ pinned: false, expiresInHours: expiresInHours ?? null, folder: null },
      });
      return { noteId, path: path ?? "" };
    },
    async update(noteId, content) {
      // Made by `create`.
      await write({ kind: "update", noteId: noteId as never, content, onConflict: "fail" });
    },
    async save(path, content) {
      saveFile(root, path, content);
      await opened.disk.hint([path]);
    },
    async digest() {
      const { digest, equal } = await opened.notebook.verify();
      if (!equal) throw new Error("the index is not what its history says");
      return digest;
    },
    async dispose() {
      await sync.stop();
      await opened.notebook.close();
      rmSync(top, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
