/** What every store promises, as tests: run by `memory-store.test.ts` and `git-store.test.ts`. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { CommitEvents } from "../../src/domain/event.ts";
import type { BlobId, CommitId } from "../../src/domain/note.ts";
import type { NoteStore } from "../../src/store/note-store.ts";
import { at, blobOf, committed, draft, message } from "../support/drafts.ts";

export interface StoreUnderTest {
  readonly store: NoteStore;
  /** A person saves a working file; null deletes it. */
  save(path: string, content: string | Uint8Array | null): void;
  text(path: string): string | null;
  /** Commit on given parents (default: the tip) without proof; moves the branch unless `move` is false. */
  personCommit(
    files: Readonly<Record<string, string | null>>,
    options?: { parents?: CommitId[]; atMs?: number; move?: boolean },
  ): Promise<CommitId>;
  /** A merge of the branch is under way, or no longer. */
  setMerging(on: boolean): void;
  close(): Promise<void>;
}

async function all(events: AsyncIterable<CommitEvents>): Promise<CommitEvents[]> {
  const list: CommitEvents[] = [];
  for await (const event of events) list.push(event);
  return list;
}

const code = (name: string) => expect.objectContaining({ code: name });

export function noteStoreContract(name: string, open: () => Promise<StoreUnderTest>): void {
  describe(`${name} keeps the contract of a note store`, () => {
    let under: StoreUnderTest;
    let store: NoteStore;
    beforeEach(async () => {
      under = await open();
      store = under.store;
    });
    afterEach(() => under.close());

    /** Commit one draft and return its commit id. */
    async function put(path: string, text: string | null, before: string | null = null): Promise<CommitId> {
      const { outcomes } = await store.commit([draft(path, text, before)]);
      return committed(outcomes[0]).events.commit.id;
    }

    test("a person's mark is what was set last, each under its own name", async () => {
      const [one, two] = [await put("notes/a.md", "one\n"), await put("notes/b.md", "two\n")];
      expect(await store.reviewMark("abcdefghijklmnop")).toBeNull();
      await store.setReviewMark("abcdefghijklmnop", one);
      await store.setReviewMark("abcdefghijklmnop", two);
      await store.setReviewMark("2222222222222222", one);
      expect(await store.reviewMark("abcdefghijklmnop")).toBe(two);
      expect(await store.reviewMark("2222222222222222")).toBe(one);
    });

    test("an unborn branch has no tip, and its first commit has no parent", async () => {
      expect(await store.tip()).toBeNull();
      expect((await store.state()).state).toBe("unborn");
      const publication = await store.commit([draft("notes/a.md", "one\n")]);
      const { events } = committed(publication.outcomes[0]);
      expect(publication.base).toBeNull();
      expect(publication.tip).toBe(events.commit.id);
      expect(events.commit.parents).toEqual([]);
      expect(await store.tip()).toBe(publication.tip);
      expect((await store.state()).state).toBe("ok");
    });

    test("a write, an update and a removal each come back as one event, and the files follow", async () => {
      const made = committed((await store.commit([draft("notes/a.md", "one\n")])).outcomes[0]);
      expect(made.pending).toEqual([]);
      expect(made.events.events).toEqual([
        {
          kind: "written",
          commit: made.events.commit,
          path: "notes/a.md",
          before: null,
          after: blobOf("one\n"),
          by: made.events.commit.id,
          renamedFrom: null,
        },
      ]);
      expect(under.text("notes/a.md")).toBe("one\n");
      await put("notes/a.md", "two\n", "one\n");
      expect(under.text("notes/a.md")).toBe("two\n");
      expect(store.workTree.base(at("notes/a.md"))).toBe(blobOf("two\n"));
      const gone = committed((await store.commit([draft("notes/a.md", null, "two\n")])).outcomes[0]);
      expect(gone.events.events).toMatchObject([
        { kind: "removed", path: "notes/a.md", before: blobOf("two\n") },
      ]);
      expect(under.text("notes/a.md")).toBeNull();
      expect(store.workTree.base(at("notes/a.md"))).toBeNull();
    });

    test("a chain is one commit a draft, each the parent of the next, and history tells the same", async () => {
      const chain = [1, 2, 3].map((n) => draft(`notes/${n}.md`, `text ${n}\n`));
      const { base, tip, outcomes } = await store.commit(chain);
      const told = outcomes.map((o) => committed(o).events);
      expect(told.map((e) => e.commit.parents)).toEqual([
        base === null ? [] : [base],
        [told[0]?.commit.id],
        [told[1]?.commit.id],
      ]);
      expect(told.at(-1)?.commit.id).toBe(tip);
      if (tip === null) throw new Error("no tip");
      expect(await all(store.history(null, tip))).toEqual(told);
      expect(await all(store.history(told[1]?.commit.id ?? null, tip))).toEqual([told[2]]);
      expect(await all(store.history(tip, tip))).toEqual([]);
    });

    test("a commit of ours is proved, keeps its author and trailers; a person's is not", async () => {
      const one = draft("notes/a.md", "one\n", null, {
        message: message({ reason: "because", session: "s1" }),
      });
      const { commit } = committed((await store.commit([one])).outcomes[0]).events;
      expect(commit.proved).toMatchObject({ action: "create", agent: "planner", session: "s1" });
      expect(commit).toMatchObject({ author: one.author, reason: "because" });
      expect(Date.parse(commit.at)).toBe(one.atMs);
      const byHand = await under.personCommit({ "notes/b.md": "b\n" });
      const [told] = await all(store.history(commit.id, byHand));
      expect(told?.commit.proved).toBeNull();
      expect(told?.events).toMatchObject([{ kind: "written", path: "notes/b.md", by: byHand }]);
    });

    test("a draft whose path moved on answers conflict alone, and later drafts are built without it", async () => {
      await put("notes/a.md", "one\n");
      const { outcomes, tip } = await store.commit([
        draft("notes/b.md", "b\n"),
        draft("notes/a.md", "mine\n", "other\n"),
        draft("notes/c.md", "c\n"),
        draft("notes/a.md", null, "mine\n"),
      ]);
      expect(outcomes.map((o) => o.kind)).toEqual(["committed", "conflict", "committed", "conflict"]);
      expect(outcomes[1]).toEqual({ kind: "conflict", path: "notes/a.md", current: blobOf("one\n") });
      if (tip === null) throw new Error("no tip");
      expect((await store.list(tip)).map((f) => f.path)).toEqual(["notes/a.md", "notes/b.md", "notes/c.md"]);
      expect(under.text("notes/a.md")).toBe("one\n");
    });

    test("when nothing is committed the tip stays", async () => {
      const tip = await put("notes/a.md", "one\n");
      const answer = await store.commit([draft("notes/a.md", "x\n")]);
      expect(answer).toMatchObject({ base: tip, tip, outcomes: [{ kind: "conflict" }] });
      expect(await store.tip()).toBe(tip);
    });

    test("a chain may write one path several times", async () => {
      const { outcomes } = await store.commit([
        draft("notes/a.md", "one\n"),
        draft("notes/a.md", "two\n", "one\n"),
        draft("notes/a.md", "three\n", "two\n"),
      ]);
      expect(outcomes.map((o) => o.kind)).toEqual(["committed", "committed", "committed"]);
      expect(under.text("notes/a.md")).toBe("three\n");
    });

    test("a folder in the way of a file, or a file in the way of a folder, blocks the path", async () => {
      await put("notes/a.md", "one\n");
      const { outcomes } = await store.commit([draft("notes/a.md/b.md", "x\n"), draft("notes", "x\n")]);
      expect(outcomes.map((o) => o.kind)).toEqual(["blocked", "blocked"]);
      expect(under.text("notes/a.md")).toBe("one\n");
    });

    test("a working file that a person changed refuses a door's write as dirty and stays", async () => {
      await put("notes/a.md", "one\n");
      under.save("notes/a.md", "theirs\n");
      const { outcomes } = await store.commit([
        draft("notes/a.md", "ours\n", "one\n"),
        draft("notes/b.md", "b\n"),
      ]);
      expect(outcomes[0]).toEqual({ kind: "dirty", paths: ["notes/a.md"] });
      expect(outcomes[1]?.kind).toBe("committed");
      expect(under.text("notes/a.md")).toBe("theirs\n");
    });

    test("a new file that a person put at the path is dirty too", async () => {
      under.save("notes/a.md", "theirs\n");
      const { outcomes } = await store.commit([draft("notes/a.md", "ours\n")]);
      expect(outcomes).toEqual([{ kind: "dirty", paths: ["notes/a.md"] }]);
      expect(await store.tip()).toBeNull();
    });

    test("a hand edit is adopted as it lies there, and refused when the file changed again", async () => {
      await put("notes/a.md", "one\n");
      under.save("notes/a.md", "theirs\n");
      const adopt = (text: string) =>
        draft("notes/a.md", text, "one\n", {
          origin: "disk",
          message: message({ action: "adopt", source: "disk" }),
        });
      expect((await store.commit([adopt("older\n")])).outcomes).toEqual([
        { kind: "dirty", paths: ["notes/a.md"] },
      ]);
      committed((await store.commit([adopt("theirs\n")])).outcomes[0]);
      expect(under.text("notes/a.md")).toBe("theirs\n");
      expect(store.workTree.base(at("notes/a.md"))).toBe(blobOf("theirs\n"));
      const both = await store.commit([draft("notes/a.md", "after\n", "theirs\n")]);
      committed(both.outcomes[0]);
      expect(under.text("notes/a.md")).toBe("after\n");
    });

    test("a hand edit and a door's write to it go in one chain", async () => {
      await put("notes/a.md", "one\n");
      under.save("notes/a.md", "theirs\n");
      const { outcomes } = await store.commit([
        draft("notes/a.md", "theirs\n", "one\n", { origin: "disk" }),
        draft("notes/a.md", "theirs and ours\n", "theirs\n"),
      ]);
      expect(outcomes.map((o) => o.kind)).toEqual(["committed", "committed"]);
      expect(under.text("notes/a.md")).toBe("theirs and ours\n");
    });

    test("one draft may name many files, and an exact-content move is told as a rename", async () => {
      await store.commit([draft("notes/a.md", "one\n"), draft("notes/b.md", "b\n")]);
      const two = draft("notes/z.md", "one\n");
      const away = draft("notes/a.md", null, "one\n");
      const { outcomes } = await store.commit([{ ...two, files: [...two.files, ...away.files] }]);
      expect(committed(outcomes[0]).events.events).toMatchObject([
        { kind: "removed", path: "notes/a.md" },
        { kind: "written", path: "notes/z.md", renamedFrom: "notes/a.md" },
      ]);
    });

    test("an empty file or two additions of one blob are no rename", async () => {
      const files = { "notes/a.md": "one\n", "notes/e.md": "" };
      const first = await under.personCommit(files);
      const next = await under.personCommit({
        "notes/a.md": null,
        "notes/e.md": null,
        "notes/x.md": "one\n",
        "notes/y.md": "one\n",
        "notes/f.md": "",
      });
      const [told] = await all(store.history(first, next));
      const written = told?.events.filter((e) => e.kind === "written") ?? [];
      expect(written.map((e) => e.renamedFrom)).toEqual([null, null, null]);
    });

    test("a draft without files makes an empty commit", async () => {
      const tip = await put("notes/a.md", "one\n");
      const empty = { ...draft("notes/a.md", null), files: [] };
      const { events } = committed((await store.commit([empty])).outcomes[0]);
      expect(events.events).toEqual([]);
      expect(events.commit.parents).toEqual([tip]);
    });

    test("a merge draft carries its other parents, and `by` names who changed a path there", async () => {
      const root = await put("notes/a.md", "one\n");
      const theirs = await under.personCommit({ "notes/t.md": "t\n" }, { move: false });
      const ours = await put("notes/o.md", "o\n");
      const { outcomes } = await store.commit([draft("notes/t.md", "t\n", null, { mergeParents: [theirs] })]);
      const { commit, events } = committed(outcomes[0]).events;
      expect(commit.parents).toEqual([ours, theirs]);
      expect(events).toMatchObject([{ path: "notes/t.md", by: theirs }]);
      const told = await all(store.history(root, commit.id));
      expect(new Set(told.map((e) => e.commit.id))).toEqual(new Set([theirs, ours, commit.id]));
      expect(told.at(-1)?.commit.id).toBe(commit.id);
      expect(await store.mergeBases(ours, theirs)).toEqual([root]);
      expect(await store.isAncestor(theirs, commit.id)).toBe(true);
      expect(await store.isAncestor(theirs, ours)).toBe(false);
    });

    test("what others committed meanwhile is kept, and the chain is built on it", async () => {
      await put("notes/a.md", "one\n");
      const theirs = await under.personCommit({ "notes/b.md": "b\n" });
      const { base, tip, outcomes } = await store.commit([draft("notes/c.md", "c\n")]);
      expect(base).toBe(theirs);
      expect(committed(outcomes[0]).events.commit.parents).toEqual([theirs]);
      if (tip === null) throw new Error("no tip");
      expect((await store.list(tip)).map((f) => f.path)).toEqual(["notes/a.md", "notes/b.md", "notes/c.md"]);
    });

    test("only Markdown under the roots is listed and told", async () => {
      const first = await under.personCommit({
        "notes/a.md": "a\n",
        "notes/a.txt": "no\n",
        "src/b.md": "no\n",
        "notes/.hidden/c.md": "no\n",
        "memory/workspace/k.md": "k\n",
      });
      const paths = ["memory/workspace/k.md", "notes/a.md"];
      expect((await store.list(first)).map((f) => f.path)).toEqual(paths);
      expect((await store.diff(null, first)).map((c) => c.path)).toEqual(paths);
      const next = await under.personCommit({ "src/b.md": "other\n" });
      expect(await store.diff(first, next)).toEqual([]);
      expect(await all(store.history(first, next))).toMatchObject([{ events: [] }]);
    });

    test("blobs and paths can be read at any commit", async () => {
      const first = await put("notes/a.md", "one\n");
      const second = await put("notes/a.md", "two\n", "one\n");
      expect(await store.blobAt(first, at("notes/a.md"))).toBe(blobOf("one\n"));
      expect(await store.blobAt(second, at("notes/a.md"))).toBe(blobOf("two\n"));
      expect(await store.blobAt(second, at("notes/none.md"))).toBeNull();
      expect(await store.blobAt(second, at("notes"))).toBeNull();
      expect(Buffer.from(await store.readBlob(blobOf("one\n"))).toString()).toBe("one\n");
      await expect(store.readBlob("12".repeat(20) as BlobId)).rejects.toEqual(code("UNKNOWN_COMMIT"));
    });

    test("commits resolve by short id and by time", async () => {
      const first = await put("notes/a.md", "one\n");
      const second = draft("notes/a.md", "two\n", "one\n");
      const tip = committed((await store.commit([second])).outcomes[0]).events.commit.id;
      expect(await store.resolveCommit(first.slice(0, 10))).toBe(first);
      expect(await store.resolveCommit(tip)).toBe(tip);
      for (const bad of ["abc", "zzzzzzzz", "12".repeat(20), blobOf("one\n")]) {
        await expect(store.resolveCommit(bad)).rejects.toEqual(code("UNKNOWN_COMMIT"));
      }
      expect(await store.commitAt(second.atMs)).toBe(tip);
      expect(await store.commitAt(second.atMs - 1)).toBe(first);
      expect(await store.commitAt(0)).toBeNull();
    });

    test("an unfinished merge refuses writes and reads go on", async () => {
      const tip = await put("notes/a.md", "one\n");
      under.setMerging(true);
      await expect(store.commit([draft("notes/b.md", "b\n")])).rejects.toEqual(code("REPO_BUSY"));
      expect((await store.state()).state).toBe("merge");
      expect((await store.list(tip)).length).toBe(1);
      under.setMerging(false);
      committed((await store.commit([draft("notes/b.md", "b\n")])).outcomes[0]);
    });

    test("a draft that no caller should make is refused whole", async () => {
      for (const path of ["../x.md", "notes//a.md", "/etc/x.md", "notes/.git/x.md", "notes/./a.md", ""]) {
        await expect(store.commit([draft(path, "x")])).rejects.toEqual(code("INVALID_PARAMS"));
      }
      await expect(store.commit([])).rejects.toEqual(code("INVALID_PARAMS"));
      const forged = { name: "x>\nauthor y", email: "x@y" };
      const bad = draft("notes/a.md", "x", null, { author: forged });
      await expect(store.commit([bad])).rejects.toEqual(code("INVALID_PARAMS"));
      expect(await store.tip()).toBeNull();
    });

    test("a scan tells what lies on disk, under the roots alone", async () => {
      await put("notes/a.md", "one\n");
      await put("notes/b.md", "b\n");
      under.save("notes/a.md", "edited\n");
      under.save("notes/b.md", null);
      under.save("notes/deep/c.md", "new\n");
      under.save("notes/d.txt", "no note\n");
      under.save("notes/latin.md", Buffer.from([0xe4, 0x0a]));
      const found = await store.workTree.scan();
      expect(found.map((f) => [f.kind, f.path])).toEqual([
        ["file", "notes/a.md"],
        ["absent", "notes/b.md"],
        ["file", "notes/deep/c.md"],
        ["unfit", "notes/latin.md"],
      ]);
      expect(found[0]).toMatchObject({ blob: blobOf("edited\n") });
      expect(await store.workTree.scan([at("notes/none.md")])).toEqual([
        { kind: "absent", path: "notes/none.md" },
      ]);
      expect(await store.workTree.under("notes/deep")).toEqual(["notes/deep/c.md"]);
      expect(await store.workTree.read(at("notes/none.md"))).toBeNull();
    });

    test("a file is brought forward to the tip unless a person saved it", async () => {
      await put("notes/a.md", "one\n");
      await put("notes/b.md", "b\n");
      const tip = await under.personCommit({
        "notes/a.md": "pulled\n",
        "notes/b.md": null,
        "notes/c.md": "c\n",
      });
      const { workTree } = store;
      const blob = (path: string) => store.blobAt(tip, at(path));
      expect(await workTree.bringForward(at("notes/a.md"), await blob("notes/a.md"), blobOf("one\n"))).toBe(
        true,
      );
      expect(await workTree.bringForward(at("notes/c.md"), await blob("notes/c.md"), null)).toBe(true);
      expect([under.text("notes/a.md"), under.text("notes/c.md")]).toEqual(["pulled\n", "c\n"]);
      expect(workTree.base(at("notes/a.md"))).toBe(blobOf("pulled\n"));
      under.save("notes/b.md", "mine\n");
      expect(await workTree.bringForward(at("notes/b.md"), null, blobOf("b\n"))).toBe(false);
      expect(under.text("notes/b.md")).toBe("mine\n");
      expect(await workTree.bringForward(at("notes/b.md"), null, blobOf("mine\n"))).toBe(true);
      expect(under.text("notes/b.md")).toBeNull();
    });

    test("accept moves base without touching a file", async () => {
      store.workTree.accept(at("notes/a.md"), blobOf("x\n"));
      expect(store.workTree.base(at("notes/a.md"))).toBe(blobOf("x\n"));
      expect([...store.workTree.basePaths()]).toEqual(["notes/a.md"]);
      expect([...store.workTree.basePaths("notes")]).toEqual(["notes/a.md"]);
      expect([...store.workTree.basePaths("note")]).toEqual([]);
      store.workTree.accept(at("notes/a.md"), null);
      expect([...store.workTree.basePaths()]).toEqual([]);
      expect(under.text("notes/a.md")).toBeNull();
    });

    test("a conflict is kept once for each note and other side, until it is dropped", async () => {
      await put("notes/a.md", "ours\n");
      const theirs = await put("notes/b.md", "theirs\n");
      const other = await put("notes/b.md", "others\n", "theirs\n");
      expect(other).not.toBe(theirs);
      const kept = {
        note_id: "note_1",
        path: at("notes/a.md"),
        base: null,
        ours: blobOf("ours\n"),
        theirs: blobOf("theirs\n"),
        since: "2026-11-30T10:15:00.000Z",
      };
      expect(await store.keepConflict(kept)).toBe(true);
      expect(await store.keepConflict({ ...kept, since: "2027-01-01T00:00:00.000Z" })).toBe(false);
      await store.keepConflict({ ...kept, theirs: blobOf("others\n") });
      await store.keepConflict({ ...kept, note_id: "note_2" });
      const listed = await store.conflicts();
      expect(listed.filter((c) => c.note_id === "note_1")).toHaveLength(2);
      expect(listed).toContainEqual(kept);
      await store.forgetConflict({ ...kept, theirs: blobOf("others\n") });
      expect((await store.conflicts()).filter((c) => c.note_id === "note_1")).toEqual([kept]);
      await store.dropConflicts("note_1");
      expect((await store.conflicts()).map((c) => c.note_id)).toEqual(["note_2"]);
    });
  });
}
