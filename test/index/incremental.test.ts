import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { CommitId } from "../../src/domain/note.ts";
import { MemoryIndex } from "../../src/index/memory-index.ts";
import { inMemory, readCheckpoint } from "../../src/index/read-checkpoint.ts";
import { HistoryBuilder, provedAs } from "../support/history-builder.ts";
import { bytesOf } from "../support/index-bytes.ts";
import { stateOfIndex } from "../support/index-state.ts";
import { plainParse } from "../support/plain-parse.ts";

/** So few requests are remembered that they are forgotten all the time. */
const OPTIONS = { parse: plainParse, isNotePath: () => true, fingerprint: "plain", requests: 2 };
/** Some are sent twice. */
const KEYS = ["1", "2", "3", "4", "5"].map((digit) => digit.repeat(64));
const PATHS = ["notes/a.md", "notes/b.md", "notes/d/a.md", "notes/é.md"];
const TEXTS = [
  "alpha",
  "beta x",
  "---\nid: same\n---\nalpha",
  "---\nid: same\ntitle: beta\n---\nx",
  "---\nid: other\nupdated_at: 2026-12-01T00:00:00.000Z\n---\nalpha beta",
  "---\ncreated_at: 2020-01-01T00:00:00.000Z\n---\nalpha",
  "! alpha",
];

/** One step of a random history: on which of the tips so far it stands, what it changes, who says so. */
const step = fc.record({
  on: fc.nat(),
  mergeWith: fc.option(fc.nat(), { freq: 4 }),
  /** For each path: leave it, remove it, a text; in a merge: take the other side's. */
  paths: fc.array(fc.integer({ min: -2, max: TEXTS.length - 1 }), {
    minLength: PATHS.length,
    maxLength: PATHS.length,
  }),
  move: fc.boolean(),
  atS: fc.integer({ min: 0, max: 5 }),
  who: fc.constantFrom("person", "planner", "planner", "coder", "disk", "merge", "restore"),
  key: fc.nat({ max: KEYS.length - 1 }),
});
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

const PROVED = {
  person: null,
  planner: provedAs({ agent: "planner", agentId: 7 }),
  coder: provedAs({ action: "create", agent: "coder", agentId: 8, noteIds: ["same"] }),
  disk: provedAs({ action: "adopt", source: "disk" }),
  merge: provedAs({ action: "merge", source: "push" }),
  restore: provedAs({ action: "restore", agent: "coder", agentId: 8, noteIds: ["same"] }),
};

/** Build the history. The last commits are the recent tips, so branches stay alive and criss-cross. */
function build(steps: readonly Step[]): { builder: HistoryBuilder; made: CommitId[] } {
  const builder = new HistoryBuilder();
  const made: CommitId[] = [];
  const recent = (n: number) => made.slice(-3)[n % Math.min(3, made.length)];
  for (const { on, mergeWith, paths, move, atS, who, key } of steps) {
    const parent = made.length === 0 ? undefined : recent(on);
    const other = mergeWith === null || parent === undefined ? undefined : recent(mergeWith);
    const parents = [...new Set([parent, other])].filter((id) => id !== undefined);
    const base = parent === undefined ? {} : builder.tree(parent);
    const side = other === undefined ? base : builder.tree(other);
    const tree: Record<string, string> = { ...base };
    for (const [i, path] of PATHS.entries()) {
      const wish = paths[i] ?? -1;
      const text = wish >= 0 ? TEXTS[wish] : side[path];
      if (wish === -1 && other === undefined) continue;
      if (wish === -2 && other === undefined) delete tree[path];
      else if (text === undefined) delete tree[path];
      else tree[path] = text;
    }
    if (move) {
      const from = PATHS.find((path) => tree[path] !== undefined);
      const to = PATHS.find((path) => tree[path] === undefined);
      if (from !== undefined && to !== undefined) {
        tree[to] = tree[from] ?? "";
        delete tree[from];
      }
    }
    const asked = { requestKey: KEYS[key] ?? null, requestHash: "a".repeat(64) };
    const proved = who === "planner" ? { ...PROVED.planner, ...asked } : PROVED[who];
    made.push(builder.commit(parents, tree, { at: 1_800_000_000 + atS, proved }));
  }
  return { builder, made };
}

const stateOf = (index: MemoryIndex) => [stateOfIndex(index), KEYS.map((key) => index.request(key))];

/** As `expect(…).toEqual(…)`, which is slow on as much as an index tells: it is asked only to show a difference. */
function expectAlike(index: MemoryIndex, told: ReturnType<typeof stateOf>): void {
  const own = stateOf(index);
  if (!isDeepStrictEqual(own, told)) expect(own).toStrictEqual(told);
}

async function rebuilt(builder: HistoryBuilder, head: CommitId): Promise<MemoryIndex> {
  const index = new MemoryIndex(OPTIONS);
  await index.rebuild(builder.history(null, head), builder.read);
  return index;
}

test("an index that followed any moves of the head equals one rebuilt at each stop", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 14 }),
      fc.array(fc.nat(), { minLength: 1, maxLength: 5 }),
      async (steps, stops) => {
        const { builder, made } = build(steps);
        const index = new MemoryIndex(OPTIONS);
        /** What a rebuilt one tells, by the head: many stops come back to one. */
        const told = new Map<CommitId, ReturnType<typeof stateOf>>();
        for (const stop of [...stops.map((n) => n % made.length), made.length - 1]) {
          const to = made[stop];
          if (to === undefined || to === index.head) continue;
          const commits = builder.history(index.head, to);
          if (index.canExtend(commits, to)) await index.apply(commits, builder.read, to);
          else await index.rebuild(builder.history(null, to), builder.read);
          const known = told.get(to) ?? stateOf(await rebuilt(builder, to));
          told.set(to, known);
          expectAlike(index, known);
        }
      },
    ),
    { numRuns: 200 },
  );
});

test("an index restored from a checkpoint equals the one that wrote it, and folds on alike", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 12 }), fc.nat(), async (steps, n) => {
      const { builder, made } = build(steps);
      const stop = made[n % made.length];
      const last = made.at(-1);
      if (stop === undefined || last === undefined) return;
      const written = await rebuilt(builder, stop);
      const read = readCheckpoint(inMemory(bytesOf(written)), OPTIONS.fingerprint, OPTIONS.requests);
      if (read === null) throw new Error("refused");
      const index = new MemoryIndex(OPTIONS, read.parts, read.origin);
      expectAlike(index, stateOf(written));
      if (stop === last) return;
      const commits = builder.history(stop, last);
      if (index.canExtend(commits, last)) await index.apply(commits, builder.read, last);
      else await index.rebuild(builder.history(null, last), builder.read);
      expectAlike(index, stateOf(await rebuilt(builder, last)));
    }),
    { numRuns: 100 },
  );
});
