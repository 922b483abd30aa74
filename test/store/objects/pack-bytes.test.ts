/** Random histories in packs of ours, held against what native Git makes of the same: trees, idx, whole packs. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { NotesError } from "../../../src/domain/errors.ts";
import { mergePacks } from "../../../src/store/objects/merge-packs.ts";
import { blobId, commitId, type ObjectId } from "../../../src/store/objects/object-id.ts";
import { type FinishedPack, packBuilder } from "../../../src/store/objects/pack-bytes.ts";
import { unfinishedPackFile } from "../../../src/store/objects/pack-names.ts";
import { writePack } from "../../../src/store/objects/pack-writer.ts";
import { treeChain } from "../../../src/store/trees/trees.ts";
import { at } from "../../support/drafts.ts";
import { type GitRepo, gitRepo } from "../../support/git-repo.ts";

interface Step {
  readonly path: string;
  /** Null removes it. */
  readonly text: string | null;
}

/** Names that sort one way as files and another as folders, some beyond ASCII, in folders that grow. */
const NAMES = ["a", "a.b", "a-b", "a0", "ä", "字", ...Array.from({ length: 12 }, (_, n) => `n${n}.md`)];
const path = fc
  .array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 3 })
  .map((parts) => parts.join("/"));
const text = fc.oneof(
  fc.constantFrom("", "same\n", "x".repeat(5_000)),
  fc.string({ maxLength: 300, unit: "grapheme" }),
);
const step: fc.Arbitrary<Step> = fc.record({ path, text: fc.option(text, { freq: 4 }) });
const commits = fc.array(fc.array(step, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 30 });

interface Packed {
  readonly pack: FinishedPack;
  readonly trees: ReadonlyMap<ObjectId, Buffer>;
}

/** A chain of commits, as a group of the store packs it. */
function packed(groups: readonly (readonly Step[])[]): Packed {
  const builder = packBuilder();
  const trees = new Map<ObjectId, Buffer>();
  const chain = treeChain((id) => trees.get(id) ?? Buffer.alloc(0));
  chain.start(null);
  let parent: string | null = null;
  for (const steps of groups) {
    for (const { path: where, text: content } of steps) {
      const bytes = content === null ? null : Buffer.from(content);
      try {
        chain.set(at(where), bytes === null ? null : blobId(bytes));
      } catch (error) {
        // A folder stands there, or a file where a folder must be.
        if (error instanceof NotesError && error.code === "CONFLICT") continue;
        throw error;
      }
      if (bytes !== null) builder.add("blob", blobId(bytes), bytes);
    }
    const tree = chain.write(({ id, bytes, edit }) => {
      trees.set(id, bytes);
      builder.add("tree", id, bytes, edit);
    });
    const from = parent === null ? "" : `parent ${parent}\n`;
    const raw: Buffer = Buffer.from(
      `tree ${tree}\n${from}author a <a@b> 1 +0000\ncommitter a <a@b> 1 +0000\n\nx\n`,
    );
    parent = commitId(raw);
    builder.add("commit", parent, raw);
  }
  return { pack: builder.finish(), trees };
}

/** What `git index-pack --strict` makes of a pack, having checked every object and link in it. */
function idxByGit({ root, git }: GitRepo, pack: Buffer): Buffer {
  const file = join(root, "tried.pack");
  const idx = join(root, "tried.idx");
  writeFileSync(file, pack);
  git("index-pack", "--strict", "-o", idx, file);
  git("verify-pack", idx);
  return readFileSync(idx);
}

/** The lines of `git ls-tree -z`, last first: Git sorts them itself. */
function linesOf(tree: Buffer): string {
  const lines: string[] = [];
  for (let from = 0; from < tree.length; ) {
    const space = tree.indexOf(" ", from);
    const end = tree.indexOf(0, space);
    const mode = tree.toString("latin1", from, space).padStart(6, "0");
    const id = tree.toString("hex", end + 1, end + 21);
    const type = mode === "040000" ? "tree" : "blob";
    lines.push(`${mode} ${type} ${id}\t${tree.toString("utf8", space + 1, end)}\0`);
    from = end + 21;
  }
  return lines.reverse().join("");
}

/** Ids of the same entries by `git mktree`. */
function idsByGit({ gitBytes }: GitRepo, trees: Iterable<Buffer>): string[] {
  const input = [...trees].map((tree) => `${linesOf(tree)}\0`).join("");
  const out = gitBytes(["mktree", "--batch", "--missing", "-z"], input).toString();
  return out.split("\n").filter((line) => line !== "");
}

test("any history packs to what git index-pack accepts, with its very idx, and git mktree's trees", () => {
  const repo = gitRepo();
  fc.assert(
    fc.property(commits, (groups) => {
      const { pack, trees } = packed(groups);
      expect(idxByGit(repo, pack.pack).equals(pack.idx)).toBe(true);
      expect(idsByGit(repo, trees.values())).toEqual([...trees.keys()]);
    }),
    { numRuns: 25 },
  );
});

test("packs put together are one that git index-pack accepts, with its very idx", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(commits, { minLength: 2, maxLength: 4 }), async (histories) => {
      const repo = gitRepo();
      const names: string[] = [];
      for (const groups of histories) {
        const { name, release } = await writePack(repo.gitdir, packed(groups).pack);
        release();
        names.push(name);
      }
      const merged = mergePacks(repo.gitdir, names);
      const read = (ending: string) => readFileSync(unfinishedPackFile(repo.gitdir, merged.name, ending));
      expect(idxByGit(repo, read("pack")).equals(read("idx"))).toBe(true);
    }),
    { numRuns: 15 },
  );
});
