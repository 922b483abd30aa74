/** A branch that is written by us and by others, with a feed over it that can be killed and started again. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CommitEvents } from "../../src/domain/event.ts";
import type { NoteFilter } from "../../src/domain/filters.ts";
import type { CommitId, RepoPath } from "../../src/domain/note.ts";
import { createNoteIndex, restoreNoteIndex } from "../../src/index/create.ts";
import type { Clock } from "../../src/lib/clock.ts";
import { Feed } from "../../src/notebook/feed/feed.ts";
import { Heads, type Via } from "../../src/notebook/feed/heads.ts";
import type { LogMemory } from "../../src/notebook/feed/log-reader.ts";
import type { Changed, Listener, Subscription } from "../../src/notebook/notebook.ts";
import { blobOf, committed, message } from "./drafts.ts";
import { fakeClock } from "./fake-clock.ts";
import { bytesOf } from "./index-bytes.ts";
import { openMemoryStore } from "./memory/memory-store.ts";
import { until } from "./wait.ts";

/** Note path → text, null removes. */
export type Files = Readonly<Record<string, string | null>>;

export interface Heard extends Subscription {
  readonly changes: Changed[];
  readonly lags: string[];
  readonly failures: { error: Error; cursor: string }[];
}

export async function feedBench({ maxMoves, memory }: { maxMoves?: number; memory?: LogMemory } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "feed-"));
  const clock = fakeClock();
  const store = openMemoryStore({ now: clock.now });
  let index = createNoteIndex();
  const warnings: string[] = [];
  const warn = (text: string) => void warnings.push(text);
  const read = store.readBlob;

  const fold = async (to: CommitId) => {
    const commits: CommitEvents[] = [];
    for await (const events of store.history(null, to)) {
      if (!index.holds(events.commit.id)) commits.push(events);
    }
    await index.apply(commits, read, to);
  };
  const start = async () => {
    const life = { over: false };
    const timers: Clock = {
      now: clock.now,
      after: (ms, fn) => clock.after(ms, () => void (life.over || fn())),
    };
    const options = { file: join(folder, "heads"), clock: timers, warn };
    const heads = await Heads.open({ ...options, ...(maxMoves === undefined ? {} : { maxMoves }) });
    return {
      life,
      heads,
      feed: await Feed.open({ store, index, heads, warn, ...(memory ? { memory } : {}) }),
    };
  };
  let running = await start();

  const bench = {
    store,
    get index() {
      return index;
    },
    clock,
    warnings,
    get feed() {
      return running.feed;
    },
    get heads() {
      return running.heads;
    },
    /** Commit a chain of ours, one commit for each set of files, in one group. */
    async write(...commits: Files[]): Promise<CommitId[]> {
      const held = new Map<string, string | null>();
      const textAt = async (path: string) => {
        const at = await store.tip();
        const blob = at && (await store.blobAt(at, path as RepoPath));
        return blob ? Buffer.from(await read(blob)).toString() : null;
      };
      const drafts = [];
      for (const files of commits) {
        const wishes = [];
        for (const [path, text] of Object.entries(files)) {
          const before = held.has(path) ? (held.get(path) ?? null) : await textAt(path);
          if (before === text) continue;
          const expected = before === null ? null : blobOf(before);
          wishes.push({ path: path as RepoPath, expected, bytes: text === null ? null : Buffer.from(text) });
          held.set(path, text);
          store.person.save(path, before);
          store.workTree.accept(path as RepoPath, expected);
        }
        clock.advance(1_000);
        const adopt = wishes.length > 1;
        drafts.push({
          author: { name: "planner", email: "planner@agents.notesd.invalid" },
          atMs: clock.now(),
          message: message(
            adopt ? { action: "adopt", source: "disk", agent: null, agentId: null } : { action: "save" },
          ),
          files: wishes,
          origin: "door" as const,
        });
      }
      const { outcomes } = await store.commit(drafts);
      const done = outcomes.map((outcome) => committed(outcome).events);
      const changes = await index.apply(done, read);
      await running.feed.live({ kind: "own", commits: done }, changes);
      return done.map(({ commit }) => commit.id);
    },
    /** A person's commits on the tip (or a merge of `parents`), observed as one move. */
    async foreign(commits: readonly Files[], via: Via = "live", parents?: CommitId[]): Promise<CommitId> {
      let head = "" as CommitId;
      for (const [i, files] of commits.entries()) {
        clock.advance(1_000);
        const given = parents && i === 0 ? { parents } : {};
        head = store.person.commit(files, { ...given, atMs: clock.now() });
      }
      await bench.observe(head, via);
      return head;
    },
    async observe(to: CommitId, via: Via = "live"): Promise<void> {
      store.person.moveTip(to);
      await fold(to);
      await running.feed.live({ kind: "other", to, via }, []);
    },
    /** As after kill -9: what was not on disk is gone; the tip may have moved meanwhile. */
    async restart(tip?: CommitId): Promise<void> {
      running.life.over = true;
      index = restoreNoteIndex(bytesOf(index)) ?? index;
      if (tip) store.person.moveTip(tip);
      const at = await store.tip();
      if (at) await fold(at);
      running = await start();
    },
    async listen(filter: NoteFilter = {}, since: string | null = null, onChange?: (heard: Heard) => void) {
      const changes: Changed[] = [];
      const lags: string[] = [];
      const failures: Heard["failures"] = [];
      let heard: Heard | null = null;
      const listener: Listener = {
        changed(change) {
          changes.push(change);
          if (heard) onChange?.(heard);
        },
        lagged: (cursor) => void lags.push(cursor),
        failed: (error, cursor) => void failures.push({ error, cursor }),
      };
      const subscription = await running.feed.subscribe(listener, filter, since);
      heard = {
        changes,
        lags,
        failures,
        get cursor() {
          return subscription.cursor;
        },
        pause: () => subscription.pause(),
        resume: () => subscription.resume(),
        unsubscribe: () => subscription.unsubscribe(),
      };
      return heard;
    },
    /** Wait until a subscriber has everything. */
    async level(heard: Heard): Promise<void> {
      await until("the subscriber to be level", () => heard.cursor === running.feed.cursor);
    },
    /** Everything from a cursor on, page by page. */
    async pages(since: string, filter: NoteFilter = {}, limit = 100) {
      const changes: Changed[] = [];
      const cursors: string[] = [];
      for (let cursor = since; ; ) {
        const page = await running.feed.changes(cursor, limit, filter);
        changes.push(...page.changes);
        cursors.push(page.cursor);
        cursor = page.cursor;
        if (!page.more) return { changes, cursors };
      }
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
  return bench;
}

export type FeedBench = Awaited<ReturnType<typeof feedBench>>;
