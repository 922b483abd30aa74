import { beforeEach, expect, test } from "vitest";
import type { CommitId } from "../../../src/domain/note.ts";
import { type MemoryStore, openMemoryStore } from "../../support/memory/memory-store.ts";
import { at, type Harness, harness, PAT } from "./reconcile-harness.ts";

let h: Harness & { store: MemoryStore };
const start = (settings: Parameters<typeof harness>[1] = {}) =>
  harness((clock) => openMemoryStore({ now: () => clock.now() }), settings);
beforeEach(() => {
  h = start();
});

/** A person saves, and the watcher tells. */
async function save(name: string, text: string | null): Promise<void> {
  h.store.person.save(at(name), text);
  await h.reconciler.hint([at(name)]);
}
/** A note that everybody knows: committed by an agent, lying on the disk. */
const note = (name: string, text: string) => h.agent(at(name), text);
const tipText = async (name: string) => {
  const tip = await h.store.tip();
  const blob = tip === null ? null : await h.store.blobAt(tip, at(name));
  return blob === null ? null : Buffer.from(await h.store.readBlob(blob)).toString();
};
const text = (name: string) => h.store.person.text(at(name));
const adopted = () => h.commits.filter(({ draft }) => draft.message.source === "disk");
const filesOf = (commit: { draft: { files: readonly { path: string }[] } } | undefined) =>
  commit?.draft.files.map((file) => file.path).sort();

test("a save is committed once it lay unchanged for the quiet time, as its person's", async () => {
  await note("x", "one\n");
  await save("x", "two\n");
  expect([h.reconciler.dirty(at("x")), h.reconciler.unsettled()]).toEqual([true, [at("x")]]);
  await h.pass(9_999);
  expect(adopted()).toEqual([]);
  await h.pass(1);
  expect(await tipText("x")).toBe("two\n");
  expect(adopted()).toHaveLength(1);
  const { draft } = adopted()[0] ?? {};
  expect(draft).toMatchObject({ author: PAT, origin: "disk" });
  expect(draft?.message).toMatchObject({ action: "adopt", source: "disk", noteType: null, agent: null });
  expect(draft?.message.noteIds).toEqual([h.ids.get(at("x"))]);
  expect([h.reconciler.dirty(at("x")), h.reconciler.unsettled()]).toEqual([false, []]);
});

test("an editor that saves every two seconds is committed after the longest wait, with its last save", async () => {
  await note("x", "one\n");
  for (let i = 0; i < 150; i++) {
    await save("x", `save ${i}\n`);
    await h.pass(2_000);
  }
  expect(adopted()).toHaveLength(1);
  expect(await tipText("x")).toBe("save 149\n");
});

test("the same bytes written again, and our own writes, make no commit ever", async () => {
  await note("x", "one\n");
  await save("x", "one\n");
  await h.reconciler.scanAll("interval");
  await h.pass(1_000_000);
  expect(h.commits).toHaveLength(1);
  expect(h.reconciler.unsettled()).toEqual([]);
});

test("an edit undone before it settled is none", async () => {
  await note("x", "one\n");
  await save("x", "two\n");
  await save("x", "one\n");
  await h.pass(60_000);
  expect(h.commits).toHaveLength(1);
});

test("500 files saved at once are one commit of 500 notes", async () => {
  for (let i = 0; i < 500; i++) {
    h.store.person.save(at(`n${i}`), `# Title ${i}\n`);
    if (i % 100 === 99) {
      await h.reconciler.hint(["notes"]);
      h.clock.advance(50);
    }
  }
  await h.pass(20_000);
  expect(adopted()).toHaveLength(1);
  expect(adopted()[0]?.draft.message).toMatchObject({ title: "500 notes" });
  expect(adopted()[0]?.draft.message.noteIds).toHaveLength(500);
});

test("a rename keeps its id and is one commit of a deletion and an addition, whoever is seen first", async () => {
  await note("old", "# Same\n");
  const id = h.ids.get(at("old"));
  h.store.person.save(at("new"), "# Same\n");
  h.store.person.save(at("old"), null);
  await h.reconciler.hint([at("new")]);
  await h.pass(3_000);
  await h.reconciler.hint([at("old")]);
  await h.pass(9_999);
  expect(adopted()).toEqual([]);
  await h.pass(1);
  expect(adopted()).toHaveLength(1);
  expect(filesOf(adopted()[0])).toEqual([at("new"), at("old")]);
  expect(adopted()[0]?.draft.message.noteIds).toEqual([id]);
  expect([h.ids.get(at("new")), h.ids.get(at("old"))]).toEqual([id, undefined]);
});

test("delete and create again a moment later is an edit, not a deletion and a new note", async () => {
  await note("x", "one\n");
  await save("x", null);
  await h.pass(250);
  await save("x", "two\n");
  await h.pass(10_000);
  expect(adopted().map((commit) => commit.draft.files)).toEqual([
    [expect.objectContaining({ path: at("x"), bytes: Buffer.from("two\n") })],
  ]);
});

test("a deletion settles as any edit, and says which note went", async () => {
  await note("x", "one\n");
  const id = h.ids.get(at("x"));
  await save("x", null);
  await h.pass(10_000);
  expect(await tipText("x")).toBeNull();
  expect(adopted()[0]?.draft.message.noteIds).toEqual([id]);
});

test("asked for at once, an edit is committed at once and a deletion only when it is a second old", async () => {
  await note("x", "one\n");
  await note("y", "one\n");
  await save("x", "two\n");
  expect(await h.reconciler.settle([at("x")], "moved the deadline")).toEqual([h.commits[2]?.id]);
  expect(adopted()[0]?.draft.message.reason).toBe("moved the deadline");
  await save("y", null);
  const settled = h.reconciler.settle([at("y")]);
  await h.pass(999);
  expect(await tipText("y")).toBe("one\n");
  await h.pass(1);
  expect(await settled).toHaveLength(1);
  expect(await tipText("y")).toBeNull();
});

test("asked for everything, an edit that no event told of is found and committed", async () => {
  await note("x", "one\n");
  h.store.person.save(at("x"), "unseen\n");
  h.store.person.save(at("y"), "new\n");
  expect(await h.reconciler.settle()).toHaveLength(1);
  expect([await tipText("x"), await tipText("y")]).toEqual(["unseen\n", "new\n"]);
});

test("an agent's write on top of an unsettled edit commits the edit first", async () => {
  await note("x", "one\n");
  await save("x", "by hand\n");
  await h.agent(at("x"), "by agent\n");
  expect(h.commits.map(({ draft }) => String(draft.files[0]?.bytes))).toEqual([
    "one\n",
    "by hand\n",
    "by agent\n",
  ]);
  expect(text("x")).toBe("by agent\n");
});

test("a staged file waits for its owner's commit, and then is level", async () => {
  await note("x", "one\n");
  await save("x", "two\n");
  h.store.person.stage(at("x"));
  await h.pass(60_000);
  expect(await h.reconciler.settle([at("x")], undefined, "person")).toEqual([]);
  expect([adopted(), h.reconciler.held(at("x"))]).toEqual([[], "staged"]);
  h.store.person.commit({ [at("x")]: "two\n" });
  h.store.person.stage();
  await h.reconciler.onHeadMoved();
  await h.pass(60_000);
  expect([adopted(), h.reconciler.unsettled()]).toEqual([[], []]);
  expect(h.store.workTree.base(at("x"))).toBe(h.store.workTree.blob(at("x")));
});

test("what was unstaged again settles", async () => {
  await note("x", "one\n");
  await save("x", "two\n");
  h.store.person.stage(at("x"));
  await h.pass(60_000);
  h.store.person.stage();
  await h.reconciler.onHeadMoved();
  await h.pass(1);
  expect(await tipText("x")).toBe("two\n");
});

test("what was unstaged unseen settles after the next full scan", async () => {
  await note("x", "one\n");
  await save("x", "two\n");
  h.store.person.stage(at("x"));
  await h.pass(60_000);
  h.store.person.stage();
  await h.reconciler.scanAll("interval");
  expect(await tipText("x")).toBe("two\n");
});

test("what was unstaged unseen settles when its owner, or a door, asks for it", async () => {
  for (const by of ["person", "daemon"] as const) {
    await note(by, "one\n");
    await save(by, "two\n");
    h.store.person.stage(at(by));
    await h.pass(60_000);
    h.store.person.stage();
    expect(await h.reconciler.settle(by === "person" ? undefined : [at(by)], undefined, by)).toHaveLength(1);
    expect(await tipText(by)).toBe("two\n");
  }
});

test("both halves of a staged rename wait", async () => {
  await note("old", "# Same\n");
  h.store.person.save(at("old"), null);
  h.store.person.save(at("new"), "# Same\n");
  h.store.person.stage(at("new"));
  await h.reconciler.hint([at("old"), at("new")]);
  await h.pass(60_000);
  expect(adopted()).toEqual([]);
  expect([h.reconciler.held(at("old")), h.reconciler.held(at("new"))]).toEqual(["staged", "staged"]);
});

test("a deletion waits for the commit of the text staged elsewhere, though that file was edited again", async () => {
  await note("old", "# Same\n");
  h.store.person.save(at("old"), null);
  h.store.person.save(at("new"), "# Same\n");
  h.store.person.stage(at("new"));
  h.store.person.save(at("new"), "# Same\n\nand more\n");
  await h.reconciler.hint([at("old"), at("new")]);
  await h.pass(60_000);
  expect(await h.reconciler.settle(undefined, undefined, "person")).toEqual([]);
  expect([adopted(), h.reconciler.held(at("old"))]).toEqual([[], "staged"]);
  h.store.person.commit({ [at("new")]: "# Same\n" });
  h.store.person.stage();
  await h.reconciler.onHeadMoved();
  await h.pass(60_000);
  expect([await tipText("old"), await tipText("new")]).toEqual([null, "# Same\n\nand more\n"]);
  expect(h.reconciler.unsettled()).toEqual([]);
});

test("the untracked half of a rename whose removal is staged waits as that does", async () => {
  await note("old", "# Same\n");
  h.store.person.save(at("old"), null);
  h.store.person.stage(at("old"));
  h.store.person.save(at("new"), "# Same\n");
  await h.reconciler.hint([at("old"), at("new")]);
  await h.pass(60_000);
  expect([adopted(), h.reconciler.held(at("new"))]).toEqual([[], "staged"]);
  h.store.person.stage();
  await h.reconciler.onHeadMoved();
  await h.pass(60_000);
  expect([await tipText("old"), await tipText("new")]).toEqual([null, "# Same\n"]);
});

test("in manual mode only the person's own commit commits", async () => {
  h = start({ commit: "manual" });
  await note("x", "one\n");
  await save("x", "two\n");
  await h.pass(1_000_000);
  expect(await h.reconciler.settle([at("x")])).toEqual([]);
  expect([h.reconciler.dirty(at("x")), h.reconciler.held(at("x"))]).toEqual([true, "manual"]);
  expect(await h.reconciler.settle(undefined, "done", "person")).toHaveLength(1);
  expect(await tipText("x")).toBe("two\n");
});

test("conflicted copies and unfit files are reported and never committed; what the branch holds is a note", async () => {
  await note("a (conflicted copy)", "kept by its owner\n");
  h.store.person.save(at("x (conflicted copy)"), "theirs\n");
  h.store.person.save(at("x.sync-conflict-20261130-101500-ABCDEFG"), "theirs\n");
  h.store.person.save(at("a (conflicted copy)"), "edited\n");
  h.store.workTree.put(at("binary"), new Uint8Array([0xff, 0xfe, 0]));
  h.store.person.save(at("~$office"), "litter\n");
  await h.reconciler.scanAll("interval");
  await h.pass(60_000);
  expect(adopted().map(filesOf)).toEqual([[at("a (conflicted copy)")]]);
  expect(
    h.reconciler
      .reported()
      .map((report) => report.path)
      .sort(),
  ).toEqual([at("binary"), at("x (conflicted copy)"), at("x.sync-conflict-20261130-101500-ABCDEFG")].sort());
  h.store.person.save(at("binary"), null);
  await h.reconciler.scanAll("interval");
  expect(h.reconciler.reported()).toHaveLength(2);
});

test("a file that can't be parsed is committed as it is", async () => {
  await save("broken", "---\ntitle: a: b: [\n---\n\nbody\n");
  await h.pass(10_000);
  expect(await tipText("broken")).toBe("---\ntitle: a: b: [\n---\n\nbody\n");
});

test("an untouched file is brought forward when the branch moved on, and one it lost goes", async () => {
  await note("x", "one\n");
  await note("y", "one\n");
  h.store.person.commit({ [at("x")]: "pushed\n", [at("y")]: null, [at("z")]: "new\n" });
  await h.reconciler.onHeadMoved();
  await h.rest();
  expect([text("x"), text("y"), text("z")]).toEqual(["pushed\n", null, "new\n"]);
  expect([adopted(), h.reconciler.pending()]).toEqual([[], []]);
});

test("a pull that moved branch and files together is level at once", async () => {
  await note("x", "one\n");
  h.store.person.save(at("x"), "pulled\n");
  await h.reconciler.hint([at("x")]);
  h.store.person.commit({ [at("x")]: "pulled\n" });
  await h.reconciler.onHeadMoved();
  await h.pass(60_000);
  expect([adopted(), h.reconciler.unsettled()]).toEqual([[], []]);
});

test("both sides changed and merge: one commit of the merged text, and the file holds it", async () => {
  await note("x", "# T\na\n-\nb\n");
  h.store.person.commit({ [at("x")]: "# T\nA\n-\nb\n" });
  await save("x", "# T\na\n-\nB\n");
  await h.pass(10_000);
  expect([await tipText("x"), text("x")]).toEqual(["# T\nA\n-\nB\n", "# T\nA\n-\nB\n"]);
  expect(adopted().map(({ draft }) => draft)).toMatchObject([
    { author: PAT, message: { action: "merge", source: "disk", noteIds: [h.ids.get(at("x"))] } },
  ]);
  expect(h.reconciler.unsettled()).toEqual([]);
});

test("a person who committed with Git and saved on has no conflict with themself", async () => {
  await note("x", "one\n");
  h.store.person.commit({ [at("x")]: "one\ncommitted\n" });
  await save("x", "one\ncommitted\nand more\n");
  await h.pass(10_000);
  expect([await tipText("x"), await h.store.conflicts()]).toEqual(["one\ncommitted\nand more\n", []]);
  expect(adopted()).toMatchObject([{ draft: { origin: "disk", message: { action: "adopt" } } }]);

  h.store.person.commit({ [at("x")]: "one\ncommitted\nand more\nours\nboth\n" });
  await save("x", "one\ncommitted\nand more\nours\n");
  await h.pass(10_000);
  expect([text("x"), await h.store.conflicts()]).toEqual(["one\ncommitted\nand more\nours\nboth\n", []]);
});

test("both sides changed the same: the branch stays, the save stays in its file, and is kept as a conflict", async () => {
  await note("x", "one\n");
  h.store.person.commit({ [at("x")]: "ours\n" });
  await save("x", "theirs\n");
  await h.pass(10_000);
  expect([await tipText("x"), text("x"), adopted()]).toEqual(["ours\n", "theirs\n", []]);
  const [kept] = await h.store.conflicts();
  expect(kept).toMatchObject({ note_id: h.ids.get(at("x")), path: at("x") });
  expect(kept && String(Buffer.from(await h.store.readBlob(kept.theirs)))).toBe("theirs\n");
  expect(h.reconciler.held(at("x"))).toBe("conflict");
  await h.reconciler.scanAll("interval");
  await h.pass(1_000_000);
  expect([adopted(), (await h.store.conflicts()).length]).toEqual([[], 1]);
});

test("a conflict ends when the person saves something that merges, or commits theirs", async () => {
  await note("x", "one\n-\ntwo\n");
  h.store.person.commit({ [at("x")]: "ours\n-\ntwo\n" });
  await save("x", "theirs\n-\ntwo\n");
  await h.pass(10_000);
  expect(await h.store.conflicts()).toHaveLength(1);
  await save("x", "one\n-\nTWO\n");
  await h.pass(10_000);
  expect([await tipText("x"), text("x")]).toEqual(["ours\n-\nTWO\n", "ours\n-\nTWO\n"]);
  expect(await h.store.conflicts()).toEqual([]);

  h.store.person.commit({ [at("x")]: "OURS\n-\nTWO\n" });
  await save("x", "mine\n-\nTWO\n");
  await h.pass(10_000);
  expect(await h.reconciler.settle([at("x")], undefined, "daemon")).toEqual([]);
  expect(await h.reconciler.settle([at("x")], undefined, "person")).toHaveLength(1);
  expect([await tipText("x"), text("x"), await h.store.conflicts()]).toEqual([
    "mine\n-\nTWO\n",
    "mine\n-\nTWO\n",
    [],
  ]);
});

test("edit against delete keeps the edit, both ways", async () => {
  await note("x", "one\n");
  await note("y", "one\n");
  h.store.person.commit({ [at("x")]: null, [at("y")]: "edited\n" });
  await save("x", "edited\n");
  await save("y", null);
  await h.pass(250);
  expect(text("y")).toBeNull();
  await h.pass(10_000);
  expect([await tipText("x"), text("x")]).toEqual(["edited\n", "edited\n"]);
  expect([await tipText("y"), text("y")]).toEqual(["edited\n", "edited\n"]);
});

test.each(["elsewhere", "rebase", "merge"] as const)(
  "while the repository is at %s nothing is adopted",
  async (state) => {
    await note("x", "one\n");
    await note("y", "one\n");
    await save("x", "edited before\n");
    h.store.person.setState({ state, path: "HEAD", at: "other" } as Parameters<
      typeof h.store.person.setState
    >[0]);
    await save("y", null);
    await h.pass(1_000_000);
    expect(await h.reconciler.settle()).toEqual([]);
    expect([adopted(), await tipText("x"), await tipText("y")]).toEqual([[], "one\n", "one\n"]);
    h.store.person.save(at("y"), "one\n");
    h.store.person.setState(null);
    await h.reconciler.onHeadMoved();
    await h.pass(10_000);
    expect([await tipText("x"), await tipText("y")]).toEqual(["edited before\n", "one\n"]);
  },
);

test("a checkout away and back of 500 notes, agents writing meanwhile, is no deletion, and then an edit is one", async () => {
  for (let i = 0; i < 500; i++) h.store.person.save(at(`n${i}`), `text ${i}\n`);
  await h.reconciler.settle();
  const before = h.commits.length;
  h.store.person.setState({ state: "elsewhere", path: "HEAD", at: "other" });
  for (let i = 0; i < 500; i++) h.store.person.save(at(`n${i}`), null);
  await h.reconciler.hint(["notes"]);
  await h.reconciler.onHeadMoved();
  await h.pass(60_000);
  await h.agent(at("n7"), "by agent\n");
  expect(text("n7")).toBeNull();
  for (let i = 0; i < 500; i++) h.store.person.save(at(`n${i}`), i === 7 ? "by agent\n" : `text ${i}\n`);
  h.store.person.setState(null);
  await h.reconciler.onHeadMoved();
  await h.pass(60_000);
  expect(h.commits.length - before).toBe(1);
  await save("n8", "edited after\n");
  await h.pass(10_000);
  expect(h.commits.length - before).toBe(2);
  expect(h.failures).toEqual([]);
});

test("a reset that keeps the files makes them edits again, and brings nothing back over them", async () => {
  await note("x", "one\n");
  const first = (await h.store.tip()) as CommitId;
  await note("x", "two\n");
  await note("y", "new\n");
  await h.reconciler.scanAll("interval");
  h.store.person.moveTip(first);
  await h.reconciler.onHeadMoved();
  await h.rest();
  expect([text("x"), text("y")]).toEqual(["two\n", "new\n"]);
  await h.pass(10_000);
  expect([await tipText("x"), await tipText("y")]).toEqual(["two\n", "new\n"]);
});

test("rewritten history that the daemon accepted itself comes into the files", async () => {
  await note("x", "one\n");
  const first = (await h.store.tip()) as CommitId;
  await note("x", "secret\n");
  await h.reconciler.scanAll("interval");
  h.store.person.moveTip(first);
  await h.reconciler.onHeadMoved(true);
  await h.pass(60_000);
  expect([text("x"), adopted()]).toEqual(["one\n", []]);
});

test("at the start what was saved long ago is committed at once, what is fresh waits", async () => {
  h.store.person.save(at("old"), "# Old\n");
  h.clock.advance(60_000);
  h.store.person.save(at("fresh"), "# Fresh\n");
  await h.reconciler.scanAll("start");
  expect(adopted().map(filesOf)).toEqual([[at("old")]]);
  await h.pass(10_000);
  expect(adopted().map(filesOf)).toEqual([[at("old")], [at("fresh")]]);
});

test("a busy repository is waited for without a failure, any other trouble is reported and tried again", async () => {
  await note("x", "one\n");
  const commit = h.store.commit;
  const refuse = { code: "REPO_BUSY" as "REPO_BUSY" | "STORAGE" };
  h.store.commit = async () => {
    const { NotesError } = await import("../../../src/domain/errors.ts");
    throw new NotesError(refuse.code, "no");
  };
  await save("x", "two\n");
  await h.pass(12_000);
  expect([h.failures, h.reconciler.unsettled()]).toEqual([[], [at("x")]]);
  refuse.code = "STORAGE";
  await h.pass(30_000);
  expect(h.failures.length).toBeGreaterThan(0);
  h.store.commit = commit;
  await h.pass(60_000);
  expect(await tipText("x")).toBe("two\n");
});

test("closing stops every timer", async () => {
  await save("x", "one\n");
  await h.reconciler.close();
  await h.pass(1_000_000);
  expect([h.commits, h.clock.waiting]).toEqual([[], 0]);
});
