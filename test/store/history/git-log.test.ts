import { describe, expect, test } from "vitest";
import type { CommitEvents } from "../../../src/domain/event.ts";
import type { CommitId } from "../../../src/domain/note.ts";
import { gitRepo } from "../../support/git-repo.ts";
import { writeLoose } from "../../support/loose-objects.ts";
import { openMemoryStore } from "../../support/memory/memory-store.ts";

/** Mulberry32, 0 ≤ n < 1. */
function randomFrom(seed: number): () => number {
  let a = seed;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A history with branches and merges whose clocks disagree; merges take files from a parent or are new. */
function randomHistory(seed: number, commits: number) {
  const store = openMemoryStore();
  const random = randomFrom(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const paths = ["notes/a.md", "notes/b.md", "notes/deep/c.md", "memory/workspace/d.md"];
  const made: { id: CommitId; files: Map<string, string> }[] = [];
  for (let n = 0; n < commits; n++) {
    const parents = made.length === 0 ? [] : [pick(made.slice(-4))];
    while (parents[0] !== undefined && random() < 0.35 && parents.length < 3) {
      const other = pick(made.slice(-6));
      if (!parents.includes(other)) parents.push(other);
    }
    const files = new Map(parents[0]?.files);
    const change: Record<string, string | null> = {};
    const set = (path: string, text: string | null) => {
      change[path] = text;
      if (text === null) files.delete(path);
      else files.set(path, text);
    };
    for (const path of paths) {
      const from = parents.length > 1 && random() < 0.7 ? pick(parents).files.get(path) : undefined;
      if (parents.length > 1 && from !== undefined) set(path, from);
      else if (random() < 0.3) set(path, random() < 0.25 ? null : `text ${Math.floor(random() * 6)}\n`);
    }
    const atMs = 1_796_000_000_000 + Math.floor(random() * 40) * 1000;
    const ids = parents.map((p) => p.id);
    const id = store.person.commit(change, { parents: ids, atMs, message: `commit ${n}\n` });
    made.push({ id, files });
  }
  return { store, random, pick, ids: made.map((m) => m.id) };
}

async function all(events: AsyncIterable<CommitEvents>): Promise<CommitEvents[]> {
  const list: CommitEvents[] = [];
  for await (const event of events) list.push(event);
  return list;
}

describe("history", () => {
  test.each([1, 4, 5, 6])(
    "agrees with native Git on random histories with merges (seed %i)",
    async (seed) => {
      const { store, pick, ids } = randomHistory(seed, 40);
      const repo = gitRepo();
      writeLoose(repo.gitdir, store.objects);
      const tip = ids.at(-1) as CommitId;

      const told = await all(store.history(null, tip));
      const reachable = repo.git("rev-list", tip).split("\n").sort();
      expect(told.map((t) => t.commit.id).sort()).toEqual(reachable);
      const seen = new Set<string>();
      for (const { commit } of told) {
        for (const parent of commit.parents) expect(seen.has(parent)).toBe(true);
        seen.add(commit.id);
      }

      const merged = told.flatMap(({ commit, events }) => (commit.parents.length > 1 ? events : []));
      for (const event of merged.slice(0, 40)) {
        const last = repo.git("log", "-1", "--format=%H", event.commit.id, "--", event.path);
        // Git names nothing for a path that the parent it follows never had; the merge itself removed it.
        expect([event.commit.id, event.path, event.by]).toEqual([
          event.commit.id,
          event.path,
          last === "" ? event.commit.id : last,
        ]);
      }

      for (let n = 0; n < 12; n++) {
        const [a, b] = [pick(ids), pick(ids)];
        // Not `b ^a`: with clocks that disagree this much Git itself stops too early.
        const behind = new Set(repo.git("rev-list", a).split("\n"));
        const range = repo
          .git("rev-list", b)
          .split("\n")
          .filter((id) => !behind.has(id))
          .sort();
        const mine = (await all(store.history(a, b))).map((t) => t.commit.id).sort();
        expect(mine).toEqual(range);
        const bases = repo.tryGit("merge-base", "--all", a, b).stdout.split("\n").filter(Boolean).sort();
        expect(await store.mergeBases(a, b)).toEqual(bases);
        expect(await store.isAncestor(a, b)).toBe(
          repo.tryGit("merge-base", "--is-ancestor", a, b).status === 0,
        );
      }
    },
  );

  test("each commit's events are its difference to its first parent, by path bytes", async () => {
    const { store, ids } = randomHistory(9, 30);
    const repo = gitRepo();
    writeLoose(repo.gitdir, store.objects);
    for (const { commit, events } of await all(store.history(null, ids.at(-1) as CommitId))) {
      const parent = commit.parents[0] ?? "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
      const native = repo.git("diff-tree", "-r", "--no-renames", "--name-only", parent, commit.id);
      expect(events.map((e) => e.path)).toEqual(native.split("\n").filter(Boolean));
    }
  });

  test("siblings come by author date, then by id, whatever the order of writing", async () => {
    const store = openMemoryStore();
    const root = store.person.commit({ "notes/r.md": "r" }, { atMs: 9_000 });
    const late = store.person.commit({ "notes/l.md": "l" }, { parents: [root], atMs: 5_000 });
    const early = store.person.commit({ "notes/e.md": "e" }, { parents: [root], atMs: 2_000 });
    const same = store.person.commit({ "notes/s.md": "s" }, { parents: [root], atMs: 2_000 });
    const tip = store.person.commit({}, { parents: [late, early, same], atMs: 1_000 });
    const order = (await all(store.history(root, tip))).map((t) => t.commit.id);
    expect(order).toEqual([...[early, same].sort(), late, tip]);
  });

  test("a symlink or a submodule at a note's path is as if absent", async () => {
    const store = openMemoryStore();
    const before = store.person.commit({ "notes/a.md": "target" });
    const { content } = [...store.objects.all()].find((o) => o.kind === "tree" && o.content.length > 40) ?? {
      content: new Uint8Array(),
    };
    const tree = Buffer.from(content).toString("latin1").replace("100644 a.md", "120000 a.md");
    const linked = store.objects.put("tree", Buffer.from(tree, "latin1"));
    const root = store.objects.put(
      "tree",
      Buffer.concat([Buffer.from("40000 notes\0"), Buffer.from(linked, "hex")]),
    );
    const raw = `tree ${root}\nparent ${before}\nauthor a <a@b> 1 +0000\ncommitter a <a@b> 1 +0000\n\nlink\n`;
    const after = store.objects.put("commit", Buffer.from(raw)) as CommitId;
    expect(await store.list(after)).toEqual([]);
    expect(await all(store.history(before, after))).toMatchObject([
      { events: [{ kind: "removed", path: "notes/a.md" }] },
    ]);
  });
});
