/** A reconciler between a store and a queue as the writer has it, with an index that knows only ids by path. */
import type { Author } from "../../../src/domain/event.ts";
import { fileId } from "../../../src/domain/identity.ts";
import type { CommitId, NoteId, NoteMetadata, RepoPath } from "../../../src/domain/note.ts";
import type { Warn } from "../../../src/lib/bus.ts";
import type { Clock } from "../../../src/lib/clock.ts";
import { inTurn } from "../../../src/lib/in-turn.ts";
import { noteWords } from "../../../src/notebook/reconcile/note-words.ts";
import { createReconciler } from "../../../src/notebook/reconcile/reconcile.ts";
import type { Reconciler, ReconcileSettings } from "../../../src/notebook/reconcile/reconciler.ts";
import type { SecretFinder } from "../../../src/notebook/reconcile/secret-check.ts";
import type { Draft, NoteStore, Publication } from "../../../src/store/note-store.ts";
import { type FakeClock, fakeClock } from "../../support/fake-clock.ts";
import { NO_SECRETS } from "../../support/secrets.ts";

export const PAT: Author = { name: "Pat", email: "pat@example.org" };
export const at = (name: string) => `notes/${name}.md` as RepoPath;

export interface Harness {
  readonly reconciler: Reconciler;
  readonly clock: FakeClock;
  /** Everything committed through the queue, oldest first. */
  readonly commits: { id: CommitId; draft: Draft }[];
  readonly failures: unknown[];
  readonly ids: Map<string, string>;
  /** An agent's write through the single writer: the edit first when the file is dirty, as the writer does. */
  agent(path: RepoPath, text: string | null): Promise<Publication>;
  /** Move the clock on and let everything that falls due run to its end. */
  pass(ms: number): Promise<void>;
  /** Let everything that was started run to its end, the clock standing still. */
  rest(): Promise<void>;
}

export function harness<S extends NoteStore>(
  makeStore: (clock: Clock) => S,
  settings: Partial<ReconcileSettings> = {},
  levelAt: CommitId | null = null,
  realClock: Clock | null = null,
  held: { readonly secrets?: SecretFinder; readonly heldFile?: string; readonly warn?: Warn } = {},
): Harness & { store: S } {
  const fake = fakeClock();
  const clock = realClock ?? fake;
  const store = makeStore(clock);
  const commits: Harness["commits"] = [];
  const failures: unknown[] = [];
  const ids = new Map<string, string>();
  /** Ids of notes that there are or were. */
  const known = new Set<string>();
  let open = 0;
  const queue = inTurn((job: () => Promise<unknown>) => job());

  async function commitDrafts(drafts: readonly Draft[]): Promise<Publication> {
    const publication = await store.commit(drafts);
    for (const [i, outcome] of publication.outcomes.entries()) {
      const draft = drafts[i];
      if (outcome.kind !== "committed" || draft === undefined) continue;
      commits.push({ id: outcome.events.commit.id, draft });
      for (const event of outcome.events.events) {
        if (event.kind === "removed") continue;
        const own = /^id: (\S+)$/m.exec(Buffer.from(await store.readBlob(event.after)).toString())?.[1];
        const from = event.renamedFrom === null ? undefined : ids.get(event.renamedFrom);
        const id = own ?? from ?? ids.get(event.path) ?? fileId(event.path, () => false);
        ids.set(event.path, id);
        known.add(id);
      }
      for (const event of outcome.events.events) if (event.kind === "removed") ids.delete(event.path);
    }
    return publication;
  }

  const reconciler = createReconciler({
    store,
    words: noteWords(new Set(["general"])),
    clock,
    levelAt,
    person: PAT,
    settings: { quiet_ms: 10_000, max_wait_ms: 300_000, commit: "auto", ...settings },
    index: () => ({
      idAt: (path) => (ids.get(path) as NoteId | undefined) ?? null,
      get: (id) =>
        known.has(id) ? ({ note_id: id, title: `title of ${id}`, type: "general" } as NoteMetadata) : null,
      idTaken: () => false,
    }),
    async enqueue<T>(job: () => Promise<T>) {
      open++;
      try {
        // The queue only passes the job's own value through.
        return (await queue(job)) as T;
      } finally {
        open--;
      }
    },
    commitDrafts,
    failed: (error) => failures.push(error),
    secrets: NO_SECRETS,
    heldFile: null,
    warn: (message, fields) => void failures.push({ message, fields }),
    ...held,
  });

  async function rest(): Promise<void> {
    for (let calm = 0; calm < 20; calm = open > 0 ? 0 : calm + 1) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async function agent(path: RepoPath, text: string | null): Promise<Publication> {
    for (let tries = 0; ; tries++) {
      const done = (await queue(async () => {
        const tip = await store.tip();
        const expected = tip === null ? null : await store.blobAt(tip, path);
        return commitDrafts([agentDraft(path, expected, text, clock.now())]);
      })) as Publication;
      if (done.outcomes[0]?.kind !== "dirty" || tries > 3) return done;
      await reconciler.settle([path]);
    }
  }

  return {
    store,
    reconciler,
    clock: fake,
    commits,
    failures,
    ids,
    agent,
    rest,
    async pass(ms) {
      fake.advance(ms);
      await rest();
    },
  };
}

function agentDraft(
  path: RepoPath,
  expected: Draft["files"][0]["expected"],
  text: string | null,
  atMs: number,
): Draft {
  return {
    author: { name: "planner", email: "planner@agents.notesd.invalid" },
    atMs,
    origin: "door",
    files: [{ path, expected, bytes: text === null ? null : Buffer.from(text) }],
    message: {
      action: text === null ? "delete" : "update",
      label: "general",
      title: path,
      reason: null,
      changes: null,
      noteIds: [`note_${path.replace(/\W/g, "_")}`],
      noteType: "general",
      source: "api",
      agent: "planner",
      agentId: 1,
      session: null,
      requestKey: null,
      requestHash: null,
    },
  };
}
