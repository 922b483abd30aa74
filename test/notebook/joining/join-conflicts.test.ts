/** What two heads changed differently: kept, listed by the note it is of, resolved, and let go where nothing was joined. */
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Change } from "../../../src/domain/change.ts";
import type { CommitId, NoteId } from "../../../src/domain/note.ts";
import { at } from "../../support/drafts.ts";
import { openTestNotebook, PERSON, type TestNotebook } from "../../support/open-notebook.ts";

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

const note = (id: string, body: string) => `---\nid: ${id}\ntitle: T\n---\n\n${body}`;

test("both changed one line: ours stands, theirs is listed, and an update resolves it", async () => {
  const root = await begin({ "notes/a.md": BODY });
  const theirs = BODY.replace("two", "theirs");
  const { other } = await sides(
    root,
    { "notes/a.md": BODY.replace("two", "ours") },
    { "notes/a.md": theirs },
  );
  const { conflicts } = await on.notebook.join(other, HOW);
  expect(conflicts).toHaveLength(1);
  expect(await on.notebook.conflicts()).toEqual(conflicts);
  const [kept] = conflicts;
  if (kept === undefined) throw new Error("none");
  expect(kept.path).toBe("notes/a.md");
  expect(Buffer.from(await on.store.readBlob(kept.theirs)).toString()).toBe(theirs);
  expect(await textAt("notes/a.md")).toBe(BODY.replace("two", "ours"));
  const note = on.notebook.metadata(kept.note_id);
  expect(note?.path).toBe("notes/a.md");
  if (note === undefined || note === null) throw new Error("no note");
  const change: Change = {
    ...{ kind: "update", noteId: note.note_id as NoteId, onConflict: "fail" },
    content: BODY.replace("two", "both"),
  };
  await on.notebook.write({ change, reason: null, idempotency: null }, PERSON);
  expect(await on.notebook.conflicts()).toEqual([]);
});

test("a conflict of a note that theirs moved names the note, and an update of it resolves the conflict", async () => {
  const root = await begin({ "notes/a.md": note("n1", BODY) });
  const { other } = await sides(
    root,
    { "notes/a.md": note("n1", BODY.replace("two", "ours")) },
    { "notes/a.md": null, "notes/moved/a.md": note("n1", BODY.replace("two", "theirs")) },
  );
  const { conflicts } = await on.notebook.join(other, HOW);
  expect(conflicts).toMatchObject([{ note_id: "n1", path: "notes/moved/a.md" }]);
  const change: Change = {
    ...{ kind: "update", noteId: "n1" as NoteId, onConflict: "fail" },
    content: BODY.replace("two", "both"),
  };
  await on.notebook.write({ change, reason: null, idempotency: null }, PERSON);
  expect(await on.notebook.conflicts()).toEqual([]);
});

test("files that are no notes are merged by lines, and else ours stays and theirs is listed by its path", async () => {
  const root = await begin({ "lib/a.txt": BODY, "lib/b.txt": BODY, "lib/c.bin": "\0one" });
  const { other } = await sides(
    root,
    { "lib/a.txt": BODY.replace("one", "ONE"), "lib/b.txt": "ours\n", "lib/c.bin": "\0ours" },
    { "lib/a.txt": BODY.replace("three", "THREE"), "lib/b.txt": "theirs\n", "lib/c.bin": "\0theirs" },
  );
  const { conflicts } = await on.notebook.join(other, HOW);
  expect(await textAt("lib/a.txt")).toBe("ONE\n\ntwo\n\nTHREE\n");
  expect(await textAt("lib/b.txt")).toBe("ours\n");
  expect(await textAt("lib/c.bin")).toBe("\0ours");
  expect(conflicts.map(({ note_id, path }) => [note_id, path])).toEqual([
    ["lib/b.txt", "lib/b.txt"],
    ["lib/c.bin", "lib/c.bin"],
  ]);
  const resolved = commit(
    [await on.store.tip()].flatMap((id) => id ?? []),
    { "lib/b.txt": "both\n" },
  );
  await on.notebook.join(resolved, HOW);
  expect((await on.notebook.conflicts()).map(({ path }) => path)).toEqual(["lib/c.bin"]);
});

test("a file of ours where theirs has a folder stays, and what lay in theirs is listed", async () => {
  const root = await begin({ "notes/a.md": "a\n", x: "x\n" });
  const { other } = await sides(
    root,
    { "notes/d.md": "a file\n", x: "x of ours\n" },
    { "notes/d.md/e.md": "in a folder\n", x: null, "x/y.txt": "y\n" },
  );
  const { conflicts } = await on.notebook.join(other, HOW);
  expect(await textAt("notes/d.md")).toBe("a file\n");
  expect(await textAt("x")).toBe("x of ours\n");
  expect(conflicts.map(({ path }) => path).sort()).toEqual(["notes/d.md/e.md", "x/y.txt"]);
});

test("a join that is refused leaves no conflict behind, and one that was kept before stays", async () => {
  const root = await begin({ "notes/a.md": BODY, "notes/b.md": BODY, "README.txt": "one\n" });
  const clashing = (name: string) => ({ [`notes/${name}.md`]: BODY.replace("two", "theirs") });
  const { other } = await sides(
    root,
    { "notes/a.md": BODY.replace("two", "ours"), "notes/b.md": BODY.replace("two", "ours") },
    clashing("a"),
  );
  const before = (await on.notebook.join(other, HOW)).conflicts;
  expect(before).toHaveLength(1);
  on.store.person.save("README.txt", "mine\n");
  const next = commit([other], { ...clashing("b"), "README.txt": "theirs\n" });
  await expect(on.notebook.join(next, HOW)).rejects.toMatchObject({ data: { reason: "dirty_files" } });
  expect(await on.notebook.conflicts()).toEqual(before);
  on.store.person.save("README.txt", "one\n");
  expect((await on.notebook.join(next, HOW)).conflicts).toMatchObject([{ path: "notes/b.md" }]);
  expect(await on.notebook.conflicts()).toHaveLength(2);
});
