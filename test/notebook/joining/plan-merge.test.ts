import fc from "fast-check";
import { expect, test } from "vitest";
import { conflictMarkers } from "../../../src/domain/conflict-markers.ts";
import { blobIdOf } from "../../../src/domain/identity.ts";
import { NOTE_TYPES, type RepoPath } from "../../../src/domain/note.ts";
import { readNoteFile } from "../../../src/domain/note-file.ts";
import type { Parted } from "../../../src/notebook/joining/parted.ts";
import { planMerge } from "../../../src/notebook/joining/plan-merge.ts";
import { noteWords } from "../../../src/notebook/reconcile/note-words.ts";
import type { Entry, EntryChange } from "../../../src/store/advance.ts";

const types = new Set(Object.keys(NOTE_TYPES));
const deps = { words: noteWords(types), isNote: (path: RepoPath) => path.endsWith(".md"), blobId: blobIdOf };

type Tree = ReadonlyMap<string, string>;
const paths = ["notes/a.md", "notes/b.md", "notes/c.md", "x", "x/y.txt", "z.txt"];
const line = fc.constantFrom("one", "two", "three", "four", "five");
const text = fc
  .record({
    id: fc.constantFrom("n1", "n2", "n3"),
    status: fc.constantFrom("open", "resolved"),
    lines: fc.array(line, { maxLength: 4 }),
  })
  .map(({ id, status, lines }) => `---\nid: ${id}\nstatus: ${status}\n---\n\n${lines.join("\n\n")}\n`);
/** A tree in which no path is a file and a folder at once. */
const tree: fc.Arbitrary<Tree> = fc
  .array(fc.tuple(fc.constantFrom(...paths), text), { maxLength: 5 })
  .map((files) => new Map(files))
  .filter((files) => !(files.has("x") && files.has("x/y.txt")));

const blobs = new Map<string, Uint8Array>();
function entryOf(content: string | undefined): Entry | null {
  if (content === undefined) return null;
  const bytes = Buffer.from(content);
  const id = blobIdOf(bytes);
  blobs.set(id, bytes);
  return { mode: "100644", id };
}
function changes(base: Tree, side: Tree): Map<RepoPath, EntryChange> {
  const found = new Map<RepoPath, EntryChange>();
  for (const name of [...new Set([...base.keys(), ...side.keys()])].sort()) {
    const path = name as RepoPath;
    const [before, after] = [entryOf(base.get(name)), entryOf(side.get(name))];
    if (before?.id !== after?.id) found.set(path, { path, before, after });
  }
  return found;
}
const textOf = (id: string) => Buffer.from(blobs.get(id) ?? "").toString();

async function mergeTrees(base: Tree, ours: Tree, theirs: Tree) {
  const parted: Parted = {
    ours: changes(base, ours),
    theirs: changes(base, theirs),
    read: async (id) => blobs.get(id) ?? new Uint8Array(),
    isStored: () => true,
  };
  const { files, clashes } = await planMerge(deps, parted);
  const result = new Map(ours);
  for (const { path, expected, entry, bytes } of files) {
    expect(expected?.id).toBe(entryOf(ours.get(path))?.id);
    if (bytes !== undefined && entry !== null) blobs.set(entry.id, bytes);
    if (entry === null) result.delete(path);
    else result.set(path, textOf(entry.id));
  }
  return { result, clashes };
}

test("identical sides and an unchanged side give the other, without a conflict", async () => {
  await fc.assert(
    fc.asyncProperty(tree, tree, async (base, side) => {
      for (const [ours, theirs] of [
        [side, side],
        [base, side],
        [side, base],
      ] as const) {
        const { result, clashes } = await mergeTrees(base, ours, theirs);
        expect(clashes).toEqual([]);
        expect(new Map([...result].sort())).toEqual(new Map([...side].sort()));
      }
    }),
    { numRuns: 200 },
  );
});

test("any merge is a tree that can be checked out, of readable notes without markers, and loses no text", async () => {
  await fc.assert(
    fc.asyncProperty(tree, tree, tree, async (base, ours, theirs) => {
      const { result, clashes } = await mergeTrees(base, ours, theirs);
      expect(result.has("x") && result.has("x/y.txt")).toBe(false);
      for (const [path, content] of result) {
        expect(conflictMarkers(content)).toBeNull();
        if (path.endsWith(".md"))
          expect(readNoteFile(path as RepoPath, Buffer.from(content), types).kind).toBe("note");
      }
      // A line that a side has and the base nowhere had is in the result, or in what is kept of theirs.
      const everywhere = [...result.values(), ...clashes.map(({ theirs: id }) => textOf(id))].join("\n");
      const old = [...base.values()].join("\n");
      // Of two ids given to one file the older note's stays.
      for (const side of [ours, theirs])
        for (const content of side.values())
          for (const one of content.split("\n"))
            if (one !== "" && !one.startsWith("id: ") && !old.includes(one))
              expect(everywhere).toContain(one);
    }),
    { numRuns: 300 },
  );
});

test("which files there are does not hang on the side, and neither does a note's text where nothing conflicts", async () => {
  await fc.assert(
    fc.asyncProperty(tree, tree, tree, async (base, ours, theirs) => {
      const [one, two] = [await mergeTrees(base, ours, theirs), await mergeTrees(base, theirs, ours)];
      if (one.clashes.length + two.clashes.length > 0) return;
      expect([...one.result.keys()].sort()).toEqual([...two.result.keys()].sort());
    }),
    { numRuns: 300 },
  );
});
