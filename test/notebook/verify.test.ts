import { expect, test } from "vitest";
import { NotesError } from "../../src/domain/errors.ts";
import type { BlobId, CommitId, RepoPath } from "../../src/domain/note.ts";
import { createNoteIndex } from "../../src/index/create.ts";
import { verifyNotebook } from "../../src/notebook/verify.ts";
import type { NoteStore } from "../../src/store/note-store.ts";
import { at, blobOf, draft } from "../support/drafts.ts";
import { openMemoryStore } from "../support/memory/memory-store.ts";

async function notebook(files: Readonly<Record<string, string>>) {
  const store = openMemoryStore();
  const index = createNoteIndex();
  const drafts = Object.entries(files).map(([path, text]) => draft(path, text));
  if (drafts.length > 0) await store.commit(drafts);
  const follow = async () => {
    const tip = await store.tip();
    if (tip === null) return;
    const commits = [];
    for await (const events of store.history(index.head, tip)) commits.push(events);
    await index.apply(commits, store.readBlob, tip);
  };
  await follow();
  const verify = (over: Partial<NoteStore> = {}) =>
    verifyNotebook({ store: { ...store, ...over }, index, newIndex: () => createNoteIndex() });
  return { store, index, follow, verify };
}

test("a sound notebook equals one rebuilt from Git", async () => {
  const { verify, index } = await notebook({ "notes/a.md": "# A\n", "notes/b.md": "# B\n" });
  const found = await verify();
  expect(found).toEqual({ digest: index.digest(), rebuilt: index.digest(), equal: true, problems: [] });
});

test("an empty notebook is sound", async () => {
  expect(await (await notebook({})).verify()).toMatchObject({ equal: true, problems: [] });
});

test("writes during the rebuild are followed before the two are compared", async () => {
  const { store, follow, verify } = await notebook({ "notes/a.md": "# A\n" });
  let wrote = false;
  const found = await verify({
    history(after: CommitId | null, to: CommitId) {
      const real = store.history(after, to);
      return (async function* () {
        yield* real;
        if (wrote) return;
        wrote = true;
        await store.commit([draft("notes/b.md", "# B\n")]);
        await follow();
      })();
    },
  });
  expect(wrote).toBe(true);
  expect(found).toMatchObject({ equal: true, problems: [] });
});

test("an index that says something else is found out", async () => {
  const { store, index } = await notebook({ "notes/a.md": "# A\n" });
  const types = ["general"];
  const found = await verifyNotebook({
    store,
    index,
    newIndex: () => createNoteIndex({ types, roots: [] }),
  });
  expect(found.equal).toBe(false);
  expect(found.problems).toEqual([{ kind: "index", path: "notes/a.md", detail: expect.any(String) }]);
});

test("missing, left over, new and stale files are named; an edit that waits is no problem", async () => {
  const { store, verify } = await notebook({
    "notes/gone.md": "# G\n",
    "notes/edited.md": "# E\n",
    "notes/stale.md": "# S\n",
  });
  store.person.save("notes/gone.md", null);
  store.person.save("notes/edited.md", "# E\n\nmore\n");
  store.person.save("notes/new.md", "# N\n");
  store.person.save("notes/stale.md", "# old\n");
  store.workTree.accept(at("notes/stale.md"), blobOf("# old\n"));
  store.person.save("notes/left.md", "# L\n");
  store.workTree.accept(at("notes/left.md"), blobOf("# L\n"));
  store.person.save("notes/latin.md", Uint8Array.of(0xe9));
  const { problems, equal } = await verify();
  expect(equal).toBe(true);
  expect(problems.map(({ kind, path }) => `${kind} ${path}`)).toEqual([
    "missing notes/gone.md",
    "orphan notes/latin.md",
    "orphan notes/left.md",
    "orphan notes/new.md",
    "stale notes/stale.md",
  ]);
});

test("files are another branch's while HEAD is elsewhere", async () => {
  const { store, verify } = await notebook({ "notes/a.md": "# A\n" });
  store.person.save("notes/a.md", null);
  store.person.setState({ state: "elsewhere", path: "HEAD", at: "refs/heads/other" });
  expect((await verify()).problems).toEqual([]);
});

test("blobs that are missing or hold other bytes are named with their paths", async () => {
  const { store, verify } = await notebook({ "notes/a.md": "# A\n", "notes/b.md": "# B\n" });
  const found = await verify({
    async readBlob(id: BlobId) {
      if (id === blobOf("# A\n")) throw new NotesError("UNKNOWN_COMMIT", `The repository has no blob ${id}.`);
      return id === blobOf("# B\n") ? Buffer.from("# X\n") : store.readBlob(id);
    },
  });
  expect(found.equal).toBe(false);
  expect(found.rebuilt).toBe("");
  expect(found.problems.map(({ kind, path }) => `${kind} ${path}`)).toEqual([
    "corrupt ",
    "missing notes/a.md",
    "corrupt notes/b.md",
  ]);
});

test("two files with one id are named", async () => {
  const text = "---\nid: twin\n---\n";
  const { verify } = await notebook({ "notes/a.md": `${text}a\n`, "notes/b.md": `${text}b\n` });
  expect((await verify()).problems).toEqual([
    {
      kind: "duplicate_id",
      path: "notes/b.md" as RepoPath,
      detail: expect.stringContaining("twin belongs to notes/a.md"),
    },
  ]);
});
