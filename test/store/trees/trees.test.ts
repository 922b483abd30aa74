import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { BlobId, RepoPath } from "../../../src/domain/note.ts";
import { blobId } from "../../../src/store/objects/object-id.ts";
import { gitObjects } from "../../../src/store/objects/objects.ts";
import { packBuilder } from "../../../src/store/objects/pack-bytes.ts";
import { writePack } from "../../../src/store/objects/pack-writer.ts";
import { treeChain, type WrittenTree } from "../../../src/store/trees/trees.ts";
import { type GitRepo, gitRepo } from "../../support/git-repo.ts";

const at = (path: string) => path as RepoPath;
const blob = (n: number): BlobId => blobId(Buffer.from(`blob ${n}\n`));

/** Names that sort one way as files and another as folders, and some beyond ASCII. */
const NAMES = ["a", "a.b", "a-b", "a0", "aa", "ä", "字", "z"];

/** A repository with every kind of entry, in its index too. */
function mixedRepo(): { repo: GitRepo; root: string } {
  const repo = gitRepo();
  for (const path of ["a/a", "a/z", "a.b/aa", "a0", "z/a/a/a", "字/ä"]) {
    mkdirSync(dirname(join(repo.root, path)), { recursive: true });
    writeFileSync(join(repo.root, path), path);
  }
  symlinkSync("a0", join(repo.root, "link"));
  repo.git("add", "-A");
  repo.git("update-index", "--chmod=+x", "a0");
  repo.git("update-index", "--add", "--cacheinfo", `160000,${"5".repeat(40)},module`);
  for (let n = 0; n < 5; n++) repo.gitBytes(["hash-object", "-w", "--stdin"], `blob ${n}\n`);
  return { repo, root: repo.git("write-tree") };
}

const chainOf = (repo: GitRepo, maxBytes?: number) => {
  const objects = gitObjects(repo.gitdir);
  return treeChain((id) => objects.read("tree", id), maxBytes === undefined ? {} : { maxBytes });
};
const writeAll = (chain: ReturnType<typeof treeChain>) => {
  const trees: WrittenTree[] = [];
  return { id: chain.write((tree) => trees.push(tree)), trees };
};

type Op = { path: string; blob: number | null };
const segment = fc.constantFrom(...NAMES);
const opArb: fc.Arbitrary<Op> = fc.record({
  path: fc.array(segment, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("/")),
  blob: fc.option(fc.nat(4), { freq: 2 }),
});

test("any chain of edits gives the trees that git write-tree gives, in one verified pack", async () => {
  const { repo, root } = mixedRepo();
  repo.git("commit", "-q", "-m", "mixed");
  const builder = packBuilder();
  const wanted: string[] = [];
  fc.assert(
    fc.property(
      fc.array(fc.array(opArb, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 3 }),
      (drafts) => {
        repo.git("read-tree", "HEAD");
        const made = new Map<string, Buffer>();
        const chain = treeChain((id) => made.get(id) ?? repo.gitBytes(["cat-file", "tree", id]), {
          maxBytes: 600,
        });
        chain.start(root);
        for (const draft of drafts) {
          const lines: string[] = [];
          for (const op of draft) {
            const id = op.blob === null ? null : blob(op.blob);
            try {
              const before = chain.blobAt(at(op.path));
              chain.set(at(op.path), id);
              if (id !== null)
                lines.push(
                  `${op.path === "a0" && before !== null ? "100755" : "100644"} ${id}\t${op.path}\n`,
                );
              else if (before !== null) lines.push(`0 ${"0".repeat(40)}\t${op.path}\n`);
            } catch (error) {
              expect(error).toMatchObject({ code: "CONFLICT" });
            }
          }
          if (lines.length > 0) repo.gitBytes(["update-index", "--add", "--index-info"], lines.join(""));
          const id = chain.write((tree) => {
            expect(made.has(tree.id) && made.get(tree.id)?.equals(tree.bytes) === false).toBe(false);
            made.set(tree.id, tree.bytes);
            builder.add("tree", tree.id, tree.bytes, tree.edit);
          });
          expect(id).toBe(repo.git("write-tree"));
          wanted.push(id);
        }
      },
    ),
    { numRuns: 25 },
  );
  const { name } = await writePack(repo.gitdir, builder.finish());
  repo.git("verify-pack", join(repo.gitdir, `objects/pack/pack-${name}.idx`));
  const objects = gitObjects(repo.gitdir);
  for (const id of wanted)
    expect(objects.read("tree", id).equals(repo.gitBytes(["cat-file", "tree", id]))).toBe(true);
});

test("a whole draft rolls back to the very same tree, deletions of last files included", () => {
  const { repo, root } = mixedRepo();
  fc.assert(
    fc.property(fc.array(opArb, { minLength: 1, maxLength: 8 }), (ops) => {
      const chain = chainOf(repo);
      chain.start(root);
      for (const { path, blob: n } of [...ops, { path: "z/a/a/a", blob: null }])
        try {
          chain.set(at(path), n === null ? null : blob(n));
        } catch (error) {
          expect(error).toMatchObject({ code: "CONFLICT" });
        }
      chain.rollback();
      expect(writeAll(chain).id).toBe(root);
    }),
    { numRuns: 50 },
  );
});

test("links, submodules and folders are refused, and a file is no folder; nothing changes", () => {
  const { repo, root } = mixedRepo();
  const chain = chainOf(repo);
  chain.start(root);
  for (const path of ["link", "module", "a", "a0/x", "link/x", "module/x/y"]) {
    expect(chain.blobAt(at(path))).toBeNull();
    const put = () => chain.set(at(path), blob(1));
    expect(put).toThrow(expect.objectContaining({ code: "CONFLICT", data: { path: path.split("/x")[0] } }));
  }
  for (const path of ["link", "module", "a"])
    expect(() => chain.set(at(path), null)).toThrow(/can't be written/);
  chain.set(at("a0/x"), null);
  chain.set(at("none/at/all"), null);
  expect(writeAll(chain)).toEqual({ id: root, trees: [] });
});

test("an empty repository begins with the first file and may end empty again", () => {
  const repo = gitRepo();
  const chain = chainOf(repo);
  chain.start(null);
  chain.set(at("notes/2026/a.md"), blob(0));
  const first = writeAll(chain);
  expect(first.trees.map((tree) => tree.edit)).toEqual([undefined, undefined, undefined]);
  expect(first.trees.at(-1)?.id).toBe(first.id);
  chain.set(at("notes/2026/a.md"), null);
  expect(writeAll(chain).id).toBe("4b825dc642cb6eb9a060e54bf8d69288fbee4904");
  expect(chain.list("notes")).toEqual([]);
});

test("listing shows a folder as patched so far", () => {
  const { repo, root } = mixedRepo();
  const chain = chainOf(repo);
  chain.start(root);
  chain.set(at("字/b"), blob(2));
  expect(chain.list("字")).toEqual([
    { name: "b", mode: "100644", id: blob(2) },
    { name: "ä", mode: "100644", id: expect.any(String) },
  ]);
  expect(chain.blobAt(at("字/b"))).toBe(blob(2));
});

test("going to another tree reads only what differs, and unwritten changes are gone", () => {
  const { repo, root } = mixedRepo();
  const objects = gitObjects(repo.gitdir);
  const reads: string[] = [];
  const chain = treeChain((id) => {
    reads.push(id);
    return objects.read("tree", id);
  });
  chain.start(root);
  for (const folder of ["a", "z/a/a", "字"]) chain.list(folder);
  repo.git("update-index", "--add", "--cacheinfo", `100644,${blob(3)},z/new`);
  const next = repo.git("write-tree");
  chain.set(at("a/a"), blob(1));
  reads.length = 0;
  chain.start(next);
  for (const folder of ["z/a/a", "字"]) chain.list(folder);
  expect(reads.length).toBe(3);
  expect(chain.blobAt(at("z/new"))).toBe(blob(3));
  expect(chain.blobAt(at("a/a"))).toBe(repo.git("rev-parse", `${next}:a/a`));
  chain.start(null);
  expect(chain.blobAt(at("a/a"))).toBeNull();
});

test("a bound on memory changes no result", () => {
  const { repo, root } = mixedRepo();
  const small = chainOf(repo, 0);
  const large = chainOf(repo);
  for (const chain of [small, large]) chain.start(root);
  for (const path of ["z/a/a/b", "a/b", "z/a/c", "字/d"])
    for (const chain of [small, large]) chain.set(at(path), blob(1));
  expect(writeAll(small).id).toBe(writeAll(large).id);
});
