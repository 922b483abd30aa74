import fc from "fast-check";
import { expect, test } from "vitest";
import type { CommitId } from "../../../src/domain/note.ts";
import { between, isAncestor } from "../../../src/store/history/commit-graph.ts";

interface Made {
  readonly parents: readonly CommitId[];
  readonly committedS: number;
}

const idOf = (n: number) => n.toString(16).padStart(40, "0") as CommitId;

/** Commits 0, 1, … by the numbers of their parents. */
function graphOf(commits: readonly { readonly parents: readonly number[]; readonly atS: number }[]) {
  const made = new Map<CommitId, Made>(
    commits.map(({ parents, atS }, n) => [idOf(n), { parents: parents.map(idOf), committedS: atS }]),
  );
  const read = new Set<CommitId>();
  return {
    read,
    commit(id: CommitId): Made {
      read.add(id);
      const found = made.get(id);
      if (found === undefined) throw new Error(`no commit ${id}`);
      return found;
    },
    reach(id: CommitId): Set<CommitId> {
      const reached = new Set([id]);
      for (const at of reached) for (const parent of made.get(at)?.parents ?? []) reached.add(parent);
      return reached;
    },
  };
}

const randomGraph = fc
  .array(fc.record({ picks: fc.array(fc.nat(), { maxLength: 3 }), near: fc.boolean(), atS: fc.nat(30) }), {
    minLength: 1,
    maxLength: 40,
  })
  .map((steps) =>
    steps.map(({ picks, near, atS }, n) => ({
      atS,
      parents:
        n === 0 ? [] : [...new Set(picks.map((pick) => (near ? n - 1 - (pick % Math.min(n, 4)) : pick % n)))],
    })),
  );

test("what lies between two commits is exact, whatever their clocks say", async () => {
  await fc.assert(
    fc.asyncProperty(randomGraph, fc.nat(), fc.nat(), async (commits, a, b) => {
      const graph = graphOf(commits);
      const [after, to] = [idOf(a % commits.length), idOf(b % commits.length)];
      const known = graph.reach(after);
      const wanted = [...graph.reach(to)].filter((id) => !known.has(id)).sort();
      expect([...(await between(graph.commit, after, to)).keys()].sort()).toEqual(wanted);
      expect(await isAncestor(graph.commit, to, after)).toBe(known.has(to));
      expect([...(await between(graph.commit, null, to)).keys()].sort()).toEqual([...graph.reach(to)].sort());
    }),
    { numRuns: 2_000 },
  );
});

test("a merge in the gap costs the commits down to where its branch forked, not all of history", async () => {
  const main = Array.from({ length: 5_000 }, (_, n) => ({ parents: n === 0 ? [] : [n - 1], atS: n }));
  const side = [
    { parents: [4_900], atS: 5_001 },
    { parents: [5_000], atS: 5_002 },
  ];
  const graph = graphOf([...main, ...side, { parents: [4_999, 5_001], atS: 5_003 }]);
  const gap = await between(graph.commit, idOf(4_999), idOf(5_002));
  expect([...gap.keys()].sort()).toEqual([5_000, 5_001, 5_002].map(idOf));
  expect(graph.read.size).toBeLessThan(500);
});

test("one more commit on a long line costs a look at it and its parent", async () => {
  const graph = graphOf(
    Array.from({ length: 5_000 }, (_, n) => ({ parents: n === 0 ? [] : [n - 1], atS: n })),
  );
  expect([...(await between(graph.commit, idOf(4_998), idOf(4_999))).keys()]).toEqual([idOf(4_999)]);
  expect(graph.read.size).toBeLessThan(4);
});
