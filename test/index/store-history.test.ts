import fc from "fast-check";
import { expect, test } from "vitest";
import type { CommitEvents } from "../../src/domain/event.ts";
import type { CommitId } from "../../src/domain/note.ts";
import { createNoteIndex } from "../../src/index/create.ts";
import { gitRepo } from "../support/git-repo.ts";
import { stateOfIndex } from "../support/index-state.ts";
import { writeLoose } from "../support/loose-objects.ts";
import { openMemoryStore } from "../support/memory/memory-store.ts";

const PATHS = ["notes/a.md", "notes/b.md", "notes/deep/c.md", "memory/workspace/d.md"];
const TEXTS = [null, "alpha\n", "beta\n", "---\nid: same\n---\nx\n", "---\nid: same\ntitle: T\n---\ny\n"];

const step = fc.record({
  parent: fc.nat(3),
  other: fc.option(fc.nat(3), { freq: 2 }),
  /** For each path: 0 leaves it (a merge: takes the other side's), else a text of `TEXTS`. */
  wishes: fc.array(fc.nat(TEXTS.length), { minLength: PATHS.length, maxLength: PATHS.length }),
  atS: fc.nat(20),
});
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** A random history of a person's commits with merges, clocks at odds. */
function storeOf(steps: readonly Step[]) {
  const store = openMemoryStore();
  const made: { id: CommitId; files: Map<string, string> }[] = [];
  for (const [n, { parent, other, wishes, atS }] of steps.entries()) {
    const recent = made.slice(-4);
    const parents = [...new Set([recent[parent % 4], other === null ? undefined : recent[other % 4]])].filter(
      (p) => p !== undefined,
    );
    const files = new Map(parents[0]?.files);
    const change: Record<string, string | null> = {};
    for (const [i, path] of PATHS.entries()) {
      const wish = wishes[i] ?? 0;
      if (wish === 0 && parents.length < 2) continue;
      const text = wish === 0 ? (parents[1]?.files.get(path) ?? null) : (TEXTS[wish - 1] ?? null);
      change[path] = text;
      if (text === null) files.delete(path);
      else files.set(path, text);
    }
    const ids = parents.map((p) => p.id);
    const atMs = (1_796_000_000 + atS) * 1000;
    made.push({ id: store.person.commit(change, { parents: ids, atMs, message: `commit ${n}\n` }), files });
  }
  return { store, ids: made.map((m) => m.id) };
}

async function all(events: AsyncIterable<CommitEvents>): Promise<CommitEvents[]> {
  const list: CommitEvents[] = [];
  for await (const event of events) list.push(event);
  return list;
}

test("fed by a store's history in any slices, the index equals one rebuilt from all of it", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 2, maxLength: 14 }),
      fc.array(fc.nat(), { maxLength: 4 }),
      async (steps, stops) => {
        const { store, ids } = storeOf(steps);
        const index = createNoteIndex();
        for (const to of [...stops.map((n) => ids[n % ids.length]), ids.at(-1)]) {
          if (to === undefined || to === index.head) continue;
          await index.apply(await all(store.history(index.head, to)), store.readBlob, to);
          const rebuilt = createNoteIndex();
          await rebuilt.rebuild(store.history(null, to), store.readBlob);
          expect(stateOfIndex(index)).toEqual(stateOfIndex(rebuilt));
        }
      },
    ),
    { numRuns: 60 },
  );
});

test("the commit that last changed a file is the one that git log -1 names", async () => {
  const [steps = []] = fc.sample(fc.array(step, { minLength: 40, maxLength: 40 }), { numRuns: 1, seed: 7 });
  const { store, ids } = storeOf(steps);
  const repo = gitRepo();
  writeLoose(repo.gitdir, store.objects);
  for (const head of ids.slice(-6)) {
    const index = createNoteIndex();
    await index.rebuild(store.history(null, head), store.readBlob);
    for (const { path, blob } of index.files()) {
      expect(repo.git("rev-parse", `${head}:${path}`)).toBe(blob);
      expect([path, index.fileAt(head, path)?.changedIn]).toEqual([
        path,
        repo.git("log", "-1", "--format=%H", head, "--", path),
      ]);
    }
  }
});
