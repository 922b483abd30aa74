import { beforeEach, expect, test } from "vitest";
import type { CommitId } from "../../../src/domain/note.ts";
import { inTurn } from "../../../src/lib/in-turn.ts";
import { createPushLease } from "../../../src/notebook/push/push-lease.ts";
import type { PushSide, PushWish } from "../../../src/notebook/push/push-side.ts";
import type { Hold } from "../../../src/notebook/reconcile/settling.ts";
import type { RepoState } from "../../../src/store/note-store.ts";
import { type FakeClock, fakeClock } from "../../support/fake-clock.ts";
import { until } from "../../support/wait.ts";

const A = "a".repeat(40) as CommitId;
const B = "b".repeat(40) as CommitId;
const wish = (more: Partial<PushWish> = {}): PushWish => ({
  pid: 4711,
  space: null,
  from: A,
  to: B,
  dirty: [],
  ids: [],
  ...more,
});
const still = () => new AbortController().signal;

let clock: FakeClock;
let tip: CommitId | null;
let state: RepoState;
let staged: Set<string>;
let edits: Map<string, Hold | null>;
let alive: boolean;
let done: string[];
let push: PushSide;
let alone: <T>(job: () => Promise<T>) => Promise<T>;
beforeEach(() => {
  clock = fakeClock();
  tip = A;
  state = { state: "ok" };
  staged = new Set();
  edits = new Map();
  alive = true;
  done = [];
  alone = inTurn((job: () => Promise<unknown>) => job()) as typeof alone;
  push = createPushLease({
    store: {
      tip: async () => tip,
      state: async () => state,
      staged: async () => staged as never,
      foreignGit: () => {},
      finishPush: async (from, to) => void done.push(`finish ${from?.[0]} ${to[0]}`),
    },
    index: {
      get: (id: string) => (id === "known" ? { note_id: "known", path: "notes/k.md" } : null) as never,
    },
    writer: { alone },
    reconciler: {
      hint: async (paths) => void done.push(`hint ${[...paths].join()}`),
      async settle(paths = []) {
        for (const path of paths) edits.delete(path);
        return [];
      },
      unsettled: () => [...edits.keys()] as never,
      held: (path) => edits.get(path) ?? null,
      heldEdits: () =>
        [...edits].flatMap(([path, hold]) =>
          hold === "secret"
            ? [{ path: path as never, since: "", matches: [{ kind: "made", line: 3, fingerprint: "f1" }] }]
            : [],
        ),
    },
    ready: async () => {},
    catchUp: async () => void done.push("caught up"),
    headMoved: async () => {},
    clock,
    warn: (message) => done.push(message),
    watch: () => () => alive,
  });
});

test("while a push lasts nobody else writes, and what it brought is known when it has ended", async () => {
  expect(await push.lease(wish(), still())).toEqual({ kind: "granted" });
  const write = alone(async () => void done.push("written"));
  clock.advance(5_000);
  expect(done).not.toContain("written");
  tip = B;
  await push.ended(4711);
  await write;
  expect(done.slice(-2)).toEqual(["caught up", "written"]);
});

test("a push whose process is gone gives the writer back, and what it left half done is finished", async () => {
  await push.lease(wish(), still());
  alive = false;
  const write = alone(async () => void done.push("written"));
  clock.advance(100);
  await write;
  expect(done.slice(-3)).toEqual(["finish a b", "caught up", "written"]);
});

test("a push that was killed while its files were looked at stops nobody", async () => {
  alive = false;
  expect(await push.lease(wish(), still())).toMatchObject({ kind: "busy", why: "The push was given up." });
  await alone(async () => void done.push("written"));
  expect(done).toEqual(["hint ", "written"]);
});

test("a hook that goes away without its answer gives the writer back", async () => {
  const hook = new AbortController();
  await push.lease(wish(), hook.signal);
  hook.abort();
  const write = alone(async () => void done.push("written"));
  clock.advance(100);
  await write;
  expect(done.slice(-3)).toEqual(["finish a b", "caught up", "written"]);
});

test("after a minute the writer goes on without the push", async () => {
  await push.lease(wish(), still());
  const write = alone(async () => void done.push("written"));
  clock.advance(60_000);
  await write;
  expect(done).toContain("a push kept the writer for a minute");
  expect(done).not.toContain("finish a b");
});

test("a second push waits for the first and is behind then", async () => {
  await push.lease(wish(), still());
  const second = push.lease(wish({ pid: 12 }), still());
  tip = B;
  await push.ended(4711);
  expect(await second).toEqual({ kind: "behind", tip: B });
});

test("edits that can settle are adopted first, held ones refuse the push with why", async () => {
  edits.set("notes/a.md", null);
  expect(await push.lease(wish({ dirty: ["notes/a.md"] }), still())).toEqual({ kind: "granted" });
  expect(done).toContain("hint notes/a.md");
  await push.ended(4711);
  edits.set("notes/m.md", "manual");
  staged.add("plan.txt");
  expect(await push.lease(wish(), still())).toMatchObject({
    kind: "held",
    files: [
      { path: "plan.txt", why: expect.stringContaining("staged") },
      { path: "notes/m.md", why: expect.stringContaining("notesd commit") },
    ],
  });
});

test("an edit that holds a secret refuses the push, and says where it lies and not what it is", async () => {
  edits.set("notes/s.md", "secret");
  expect(await push.lease(wish(), still())).toEqual({
    kind: "held",
    files: [
      { path: "notes/s.md", why: expect.stringContaining("made in line 3 (fingerprint f1)"), secret: true },
    ],
  });
});

test("another tip, a merge under way, a taken id and a hook that is gone get no lease", async () => {
  expect(await push.lease(wish({ from: B }), still())).toEqual({ kind: "behind", tip: A });
  expect(await push.lease(wish({ ids: [{ id: "known", path: "notes/n.md" }] }), still())).toEqual({
    kind: "taken",
    ids: [{ id: "known", path: "notes/n.md", at: "notes/k.md" }],
  });
  expect(await push.lease(wish(), AbortSignal.abort())).toMatchObject({ kind: "busy" });
  state = { state: "merge", path: "MERGE_HEAD" };
  expect(await push.lease(wish(), still())).toMatchObject({
    kind: "busy",
    why: expect.stringContaining("merge"),
  });
  await alone(async () => void done.push("written"));
  expect(done).toContain("written");
});

test("a push may come while the remote's branch was rewritten, and waits a little for a lock", async () => {
  state = { state: "diverged", path: "refs/notesd/diverged" };
  expect(await push.lease(wish(), still())).toEqual({ kind: "granted" });
  await push.ended(4711);

  state = { state: "locked", path: "index.lock" };
  const lease = async () => {
    let answer: unknown = null;
    void push.lease(wish(), still()).then((one) => (answer = one));
    await until("an answer", () => {
      clock.advance(50);
      return answer;
    });
    return answer;
  };
  expect(await lease()).toMatchObject({ kind: "busy", why: expect.stringContaining("index.lock") });
  clock.after(500, () => (state = { state: "ok" }));
  expect(await lease()).toEqual({ kind: "granted" });
});

test("while HEAD is elsewhere the files are nobody's business", async () => {
  state = { state: "elsewhere", path: "HEAD", at: "topic" };
  staged.add("plan.txt");
  expect(await push.lease(wish(), still())).toEqual({ kind: "granted" });
  push.close();
  const write = alone(async () => void done.push("written"));
  clock.advance(2_000);
  await write;
  expect(await push.lease(wish(), still())).toMatchObject({ kind: "busy", why: "The daemon is stopping." });
});
