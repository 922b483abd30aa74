/** What every store promises of moving its branch to a descendant, as tests; run beside `note-store.ts`. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { COMMITTER } from "../../src/domain/commit-message.ts";
import type { CommitId } from "../../src/domain/note.ts";
import type { Advance, EntryWish } from "../../src/store/advance.ts";
import type { NoteStore } from "../../src/store/note-store.ts";
import { at, blobOf, committed, draft, message } from "../support/drafts.ts";
import type { StoreUnderTest } from "./note-store.ts";

const file = (text: string) => ({ mode: "100644", id: blobOf(text) }) as const;
const wish = (path: string, before: string | null, after: string | null): EntryWish => ({
  path: at(path),
  expected: before === null ? null : file(before),
  entry: after === null ? null : file(after),
  ...(after === null ? {} : { bytes: Buffer.from(after) }),
});

export function advanceContract(name: string, open: () => Promise<StoreUnderTest>): void {
  describe(`${name} moves its branch to a descendant`, () => {
    let under: StoreUnderTest;
    let store: NoteStore;
    beforeEach(async () => {
      under = await open();
      store = under.store;
    });
    afterEach(() => under.close());

    async function put(path: string, text: string | null, before: string | null = null): Promise<CommitId> {
      const { outcomes } = await store.commit([draft(path, text, before)]);
      return committed(outcomes[0]).events.commit.id;
    }
    const forward = (from: CommitId | null, to: CommitId): Advance => ({
      kind: "forward",
      from,
      to,
      atMs: 1_796_050_000_000,
      why: "fast-forward",
    });
    const merge = (from: CommitId, theirs: CommitId, files: readonly EntryWish[]): Advance => ({
      kind: "merge",
      from,
      theirs,
      files,
      author: COMMITTER,
      atMs: 1_796_050_000_000,
      message: message({ action: "merge", label: null, title: "two sides", noteIds: [] }),
    });

    test("files of every kind follow a fast-forward, base with the notes, and writes go on from there", async () => {
      const root = await put("notes/a.md", "one\n");
      const theirs = await under.personCommit(
        { "notes/a.md": "two\n", "notes/b.md": "b\n", "other.txt": "not a note\n" },
        { parents: [root], move: false },
      );
      expect(await store.advance(forward(root, theirs))).toEqual({ kind: "moved", tip: theirs, pending: [] });
      expect(await store.tip()).toBe(theirs);
      expect([under.text("notes/a.md"), under.text("notes/b.md"), under.text("other.txt")]).toEqual([
        "two\n",
        "b\n",
        "not a note\n",
      ]);
      expect(store.workTree.base(at("notes/a.md"))).toBe(blobOf("two\n"));
      expect((await store.staged()).size).toBe(0);
      const after = await put("notes/a.md", "three\n", "two\n");
      expect((await store.commitInfo(after)).parents).toEqual([theirs]);
    });

    test("an unborn branch takes a history over", async () => {
      const theirs = await under.personCommit({ "notes/a.md": "one\n" }, { parents: [], move: false });
      expect(await store.advance(forward(null, theirs))).toMatchObject({ kind: "moved", tip: theirs });
      expect(under.text("notes/a.md")).toBe("one\n");
      expect((await store.state()).state).toBe("ok");
    });

    test("a merge is one proved commit of two parents, on our tree with the paths changed", async () => {
      const root = await put("notes/a.md", "one\n");
      const theirs = await under.personCommit({ "notes/t.md": "t\n" }, { parents: [root], move: false });
      const ours = await put("notes/o.md", "o\n");
      const files = [
        wish("notes/t.md", null, "t\n"),
        wish("notes/a.md", "one\n", null),
        wish("x/y.bin", null, "\0"),
      ];
      const outcome = await store.advance(merge(ours, theirs, files));
      if (outcome.kind !== "moved") throw new Error(outcome.kind);
      expect(await store.commitInfo(outcome.tip)).toMatchObject({
        parents: [ours, theirs],
        proved: { action: "merge" },
      });
      expect((await store.list(outcome.tip)).map(({ path }) => path)).toEqual(["notes/o.md", "notes/t.md"]);
      expect(await store.entryAt(outcome.tip, at("x/y.bin"))).toEqual(file("\0"));
      expect([under.text("notes/a.md"), under.text("notes/t.md"), under.text("x/y.bin")]).toEqual([
        null,
        "t\n",
        "\0",
      ]);
      expect(await store.entries(ours, outcome.tip)).toEqual([
        { path: "notes/a.md", before: file("one\n"), after: null },
        { path: "notes/t.md", before: null, after: file("t\n") },
        { path: "x/y.bin", before: null, after: file("\0") },
      ]);
    });

    test("a merge that changes nothing of ours only gains a parent", async () => {
      const root = await put("notes/a.md", "one\n");
      const theirs = await under.personCommit({ "notes/t.md": "t\n" }, { parents: [root], move: false });
      const ours = await put("notes/o.md", "o\n");
      const outcome = await store.advance(merge(ours, theirs, []));
      if (outcome.kind !== "moved") throw new Error(outcome.kind);
      expect(await store.entries(ours, outcome.tip)).toEqual([]);
      expect(await store.isAncestor(theirs, outcome.tip)).toBe(true);
    });

    test("what was planned on another tip, or on another text, is lost and moves nothing", async () => {
      const root = await put("notes/a.md", "one\n");
      const theirs = await under.personCommit({ "notes/t.md": "t\n" }, { parents: [root], move: false });
      const tip = await put("notes/a.md", "two\n", "one\n");
      expect(await store.advance(forward(root, theirs))).toEqual({ kind: "lost", tip });
      expect(await store.advance(merge(root, theirs, []))).toEqual({ kind: "lost", tip });
      const stale = merge(tip, theirs, [wish("notes/a.md", "one\n", "three\n")]);
      expect(await store.advance(stale)).toEqual({ kind: "lost", tip });
      expect(await store.tip()).toBe(tip);
    });

    test("a branch never moves to what does not descend from it", async () => {
      const root = await put("notes/a.md", "one\n");
      const other = await under.personCommit({ "notes/z.md": "z\n" }, { parents: [], move: false });
      await expect(store.advance(forward(root, other))).rejects.toMatchObject({ code: "CONFLICT" });
      expect(await store.tip()).toBe(root);
    });

    test("a file that a person changed, made or deleted refuses the move, and holds what it held", async () => {
      const root = await put("notes/a.md", "one\n");
      await put("notes/gone.md", "g\n");
      const tip = (await store.tip()) ?? root;
      const theirs = await under.personCommit(
        { "notes/a.md": "two\n", "notes/new.md": "new\n", "notes/gone.md": "theirs\n" },
        { parents: [tip], move: false },
      );
      under.save("notes/a.md", "mine\n");
      under.save("notes/new.md", "mine too\n");
      under.save("notes/gone.md", null);
      const outcome = await store.advance(forward(tip, theirs));
      if (outcome.kind !== "dirty") throw new Error(outcome.kind);
      expect([...outcome.paths].sort()).toEqual(["notes/a.md", "notes/gone.md", "notes/new.md"]);
      expect(under.text("notes/a.md")).toBe("mine\n");
      expect(await store.tip()).toBe(tip);
    });

    test("an edit that is to be left stays as it lies, on top of what the file was; the branch moves", async () => {
      const root = await put("notes/a.md", "one\n");
      await put("notes/b.md", "b\n");
      const tip = (await store.tip()) ?? root;
      const theirs = await under.personCommit(
        { "notes/a.md": "two\n", "notes/b.md": "b2\n", "notes/new.md": "new\n", "notes/c.md": "c\n" },
        { parents: [tip], move: false },
      );
      under.save("notes/a.md", "mine\n");
      under.save("notes/new.md", "mine too\n");
      const leave = new Set(["notes/a.md", "notes/new.md", "notes/b.md"].map(at));
      expect(await store.advance({ ...forward(tip, theirs), leave })).toMatchObject({
        tip: theirs,
        pending: [],
      });
      expect(["notes/a.md", "notes/new.md", "notes/b.md", "notes/c.md"].map(under.text)).toEqual([
        "mine\n",
        "mine too\n",
        "b2\n",
        "c\n",
      ]);
      expect(
        ["notes/a.md", "notes/new.md", "notes/b.md"].map((path) => store.workTree.base(at(path))),
      ).toEqual([blobOf("one\n"), null, blobOf("b2\n")]);
      expect([...(await store.staged())]).toEqual([]);
      // It is an edit still: a write of ours to that note waits for it, and one to another does not.
      const [mine, other] = (
        await store.commit([draft("notes/a.md", "three\n", "two\n"), draft("notes/c.md", "c2\n", "c\n")])
      ).outcomes;
      expect([mine?.kind, other?.kind]).toEqual(["dirty", "committed"]);
      expect(under.text("notes/a.md")).toBe("mine\n");
    });

    test("a deletion that is to be left stays one, and a file that is not named refuses the move", async () => {
      const root = await put("notes/a.md", "one\n");
      const theirs = await under.personCommit({ "notes/a.md": "two\n" }, { parents: [root], move: false });
      under.save("notes/a.md", null);
      const leaving = (path: string) => ({ ...forward(root, theirs), leave: new Set([at(path)]) });
      expect(await store.advance(leaving("notes/b.md"))).toEqual({ kind: "dirty", paths: ["notes/a.md"] });
      expect(await store.advance(leaving("notes/a.md"))).toMatchObject({ kind: "moved" });
      expect([under.text("notes/a.md"), store.workTree.base(at("notes/a.md"))]).toEqual([
        null,
        blobOf("one\n"),
      ]);
    });

    test("a file that holds what comes in already is no edit", async () => {
      const root = await put("notes/a.md", "one\n");
      const theirs = await under.personCommit({ "notes/a.md": "two\n" }, { parents: [root], move: false });
      under.save("notes/a.md", "two\n");
      expect(await store.advance(forward(root, theirs))).toMatchObject({ kind: "moved" });
      expect(store.workTree.base(at("notes/a.md"))).toBe(blobOf("two\n"));
    });

    test("while a merge is under way nothing moves", async () => {
      const root = await put("notes/a.md", "one\n");
      const theirs = await under.personCommit({ "notes/a.md": "two\n" }, { parents: [root], move: false });
      under.setMerging(true);
      await expect(store.advance(forward(root, theirs))).rejects.toMatchObject({ code: "REPO_BUSY" });
      under.setMerging(false);
      expect(await store.advance(forward(root, theirs))).toMatchObject({ kind: "moved" });
    });
  });
}
