import { afterEach, beforeEach, expect, test } from "vitest";
import type { Change } from "../../../src/domain/change.ts";
import type { CommitId } from "../../../src/domain/note.ts";
import type { Changed, Listener } from "../../../src/notebook/notebook.ts";
import { at } from "../../support/drafts.ts";
import { agent, openTestNotebook, PERSON, type TestNotebook } from "../../support/open-notebook.ts";
import { until } from "../../support/wait.ts";

let on: TestNotebook;
beforeEach(async () => {
  on = await openTestNotebook();
});
afterEach(() => on.dispose());

const HOW = {
  author: { name: "Pat", email: "pat@example.com" },
  via: "sync",
  reason: "why not",
  from: "from origin",
} as const;
const BODY = "one\n\ntwo\n\nthree\n";

function create(title: string) {
  const change: Change = {
    ...{ kind: "create", title, content: BODY, noteType: "general", tags: [], extra: {} },
    ...{ pinned: false, expiresInHours: null, folder: null },
  };
  return on.notebook.write({ change, reason: null, idempotency: null }, agent("planner"));
}

const textAt = async (path: string) => {
  const blob = await on.store.blobAt((await on.store.tip()) as CommitId, at(path));
  return blob === null ? null : Buffer.from(await on.store.readBlob(blob)).toString();
};
const commit = (parents: CommitId[], files: Record<string, string | null>) =>
  on.store.person.commit(files, { parents, move: false });

async function begin(files: Record<string, string>): Promise<CommitId> {
  const root = commit([], files);
  await on.notebook.join(root, HOW);
  return root;
}

/** Ours and theirs each commit on the same root; ours through the branch. */
async function sides(
  root: CommitId,
  ours: Record<string, string | null>,
  theirs: Record<string, string | null>,
) {
  const mine = commit([root], ours);
  await on.notebook.join(mine, HOW);
  return { mine, other: commit([root], theirs) };
}

test("a branch that has it, that lacks it alone, and that has work of its own", async () => {
  const root = await begin({ "notes/a.md": BODY });
  const next = commit([root], { "notes/b.md": "b\n" });
  expect(await on.notebook.join(next, HOW)).toEqual({
    kind: "fast_forward",
    tip: next,
    commit: next,
    conflicts: [],
  });
  expect(await on.notebook.join(root, HOW)).toEqual({
    kind: "up_to_date",
    tip: next,
    commit: root,
    conflicts: [],
  });
  const other = commit([root], { "notes/c.md": "c\n" });
  const joined = await on.notebook.join(other, HOW);
  expect(joined).toMatchObject({ kind: "merged", conflicts: [] });
  const info = await on.store.commitInfo(joined.commit);
  expect(info).toMatchObject({ parents: [next, other], author: HOW.author, reason: "why not" });
  expect(info.subject).toBe("merge: a note from origin");
  expect([on.store.person.text("notes/b.md"), on.store.person.text("notes/c.md")]).toEqual(["b\n", "c\n"]);
  expect((await on.notebook.status()).notes).toBe(3);
  expect((await on.notebook.verify()).equal).toBe(true);
});

test("both changed one note in different places: one text, and its subscribers hear of it with the way it came", async () => {
  const root = await begin({ "notes/a.md": BODY });
  const { other } = await sides(
    root,
    { "notes/a.md": BODY.replace("one", "ONE") },
    { "notes/a.md": BODY.replace("three", "THREE") },
  );
  const heard: Changed[] = [];
  const listener: Listener = { changed: (change) => heard.push(change), lagged: () => {}, failed: () => {} };
  await on.notebook.subscribe(listener, {}, null, PERSON);
  expect((await on.notebook.join(other, { ...HOW, via: "push" })).kind).toBe("merged");
  expect(await textAt("notes/a.md")).toBe("ONE\n\ntwo\n\nTHREE\n");
  await until("the change to be heard", () => heard.length === 1);
  expect(heard[0]).toMatchObject({ path: "notes/a.md", via: "push", action: "update" });
});

test("edit against delete keeps the edit on either side, and absence deletes only what both had", async () => {
  const root = await begin({ "notes/a.md": "a\n", "notes/b.md": "b\n", "notes/c.md": "c\n" });
  const { other } = await sides(
    root,
    { "notes/a.md": null, "notes/b.md": "b edited\n", "notes/new.md": "ours is new\n" },
    { "notes/a.md": "a edited\n", "notes/b.md": null, "notes/c.md": null },
  );
  expect((await on.notebook.join(other, HOW)).conflicts).toEqual([]);
  expect(await textAt("notes/a.md")).toBe("a edited\n");
  expect(await textAt("notes/b.md")).toBe("b edited\n");
  expect(await textAt("notes/c.md")).toBeNull();
  expect(await textAt("notes/new.md")).toBe("ours is new\n");
});

const note = (id: string, body: string) => `---\nid: ${id}\ntitle: T\n---\n\n${body}`;

test("a note that one side moved and the other changed is one note, at the new path", async () => {
  const root = await begin({ "notes/a.md": note("n1", BODY), "notes/b.md": note("n2", BODY) });
  const { other } = await sides(
    root,
    {
      "notes/a.md": null,
      "notes/moved/a.md": note("n1", BODY),
      "notes/b.md": note("n2", BODY.replace("one", "ONE")),
    },
    {
      "notes/a.md": note("n1", BODY.replace("two", "TWO")),
      "notes/b.md": null,
      "notes/moved/b.md": note("n2", BODY.replace("three", "THREE")),
    },
  );
  const joined = await on.notebook.join(other, HOW);
  expect((await on.store.commitInfo(joined.commit)).proved?.noteIds).toEqual(["n2"]);
  expect(await textAt("notes/a.md")).toBeNull();
  expect(await textAt("notes/b.md")).toBeNull();
  expect(await textAt("notes/moved/a.md")).toBe(note("n1", BODY.replace("two", "TWO")));
  expect(await textAt("notes/moved/b.md")).toBe(note("n2", "ONE\n\ntwo\n\nTHREE\n"));
  expect((await on.notebook.status()).duplicates).toEqual([]);
  expect(on.notebook.metadata("n2")?.path).toBe("notes/moved/b.md");
});

test("both moved one note: it lies at the smaller path, and is still one", async () => {
  const root = await begin({ "notes/a.md": note("n1", BODY) });
  const { other } = await sides(
    root,
    { "notes/a.md": null, "notes/y.md": note("n1", BODY.replace("one", "ONE")) },
    { "notes/a.md": null, "notes/x.md": note("n1", BODY.replace("three", "THREE")) },
  );
  await on.notebook.join(other, HOW);
  expect(await textAt("notes/x.md")).toBe(note("n1", "ONE\n\ntwo\n\nTHREE\n"));
  expect(await textAt("notes/y.md")).toBeNull();
});

test("a criss-cross: two merges of the same two sides merge, whichever side comes second", async () => {
  const root = await begin({ "notes/a.md": BODY, "notes/b.md": BODY });
  const a = commit([root], { "notes/a.md": BODY.replace("two", "A") });
  const b = commit([root], { "notes/a.md": BODY.replace("two", "B"), "notes/b.md": null });
  const [m1, m2] = [
    commit([a, b], { "notes/a.md": BODY.replace("two", "A"), "notes/b.md": null, "notes/m1.md": "1\n" }),
    commit([b, a], { "notes/a.md": BODY.replace("two", "B"), "notes/m2.md": "2\n" }),
  ];
  await on.notebook.join(m1, HOW);
  const joined = await on.notebook.join(m2, HOW);
  expect(joined).toMatchObject({ kind: "merged", conflicts: [] });
  expect([await textAt("notes/m1.md"), await textAt("notes/m2.md")]).toEqual(["1\n", "2\n"]);
  expect(await textAt("notes/b.md")).toBeNull();
  const first = await textAt("notes/a.md");
  const other = await openTestNotebook({ store: on.store, stateDir: `${on.stateDir}-b` });
  on.store.person.moveTip(m2);
  await other.notebook.join(m1, HOW);
  expect(await textAt("notes/a.md")).toBe(first);
  await other.dispose();
});

test.each([
  ["a note", { "notes/a.md": BODY.replace("two", "2") }, { "notes/b.md": null }],
  ["2 notes", { "notes/a.md": BODY.replace("two", "2") }, { "notes/b.md": null, "notes/c.md": "c\n" }],
  ["a conflict", { "notes/a.md": "mine\n" }, { "notes/a.md": "theirs\n" }],
  ["2 conflicts", { "notes/a.md": "1\n", "notes/b.md": "1\n" }, { "notes/a.md": "2\n", "notes/b.md": "2\n" }],
  ["a file", { "notes/a.md": "1\n" }, { "README.txt": "read\n" }],
  ["nothing new", { "notes/b.md": null, "notes/c.md": "c\n" }, { "notes/b.md": null }],
  ["nothing new", { "notes/b.md": BODY.replace("two", "2") }, { "notes/b.md": null }],
])("a merge is named by what came with it: %s", async (what, ours, theirs) => {
  const root = await begin({ "notes/a.md": BODY, "notes/b.md": BODY });
  const { other } = await sides(root, ours, theirs);
  const { commit: made } = await on.notebook.join(other, HOW);
  expect((await on.store.commitInfo(made)).subject).toBe(`merge: ${what} from origin`);
});

test("a person's unsaved edit of a note that comes in is committed first and merged", async () => {
  const root = await begin({ "notes/a.md": BODY });
  on.store.person.save("notes/a.md", BODY.replace("one", "mine"));
  const other = commit([root], { "notes/a.md": BODY.replace("three", "theirs") });
  expect((await on.notebook.join(other, HOW)).kind).toBe("merged");
  expect(on.store.person.text("notes/a.md")).toBe("mine\n\ntwo\n\ntheirs\n");
});

test("a person's edit of a file that is no note refuses the join by name, and nothing moves", async () => {
  const root = await begin({ "README.txt": "one\n" });
  on.store.person.save("README.txt", "mine\n");
  const other = commit([root], { "README.txt": "theirs\n" });
  await expect(on.notebook.join(other, HOW)).rejects.toMatchObject({
    code: "CONFLICT",
    data: { reason: "dirty_files", paths: ["README.txt"] },
  });
  expect(await on.store.tip()).toBe(root);
});

test("a history that shares nothing is refused, and an unknown commit too", async () => {
  await begin({ "notes/a.md": "a\n" });
  const stranger = commit([], { "notes/z.md": "z\n" });
  await expect(on.notebook.join(stranger, HOW)).rejects.toMatchObject({
    code: "CONFLICT",
    data: { reason: "unrelated" },
  });
  await expect(on.notebook.join("12".repeat(20) as CommitId, HOW)).rejects.toMatchObject({
    code: "UNKNOWN_COMMIT",
  });
});

test("writes go on while a join is under way, and each is in the branch", async () => {
  const root = await begin({ "notes/a.md": BODY });
  const other = commit([root], { "notes/t.md": "t\n" });
  const [, joined] = await Promise.all([create("Before"), on.notebook.join(other, HOW), create("After")]);
  const tip = (await on.store.tip()) as CommitId;
  expect(await on.store.isAncestor(joined.commit, tip)).toBe(true);
  expect((await on.notebook.status()).notes).toBe(4);
});
