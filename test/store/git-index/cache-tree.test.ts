import { chmodSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { cacheTreeFaults, cacheTreeOf } from "../../support/cache-tree-truth.ts";
import { blobOf, committed, draft } from "../../support/drafts.ts";
import { type StoreOnGit, storeOnGit } from "../../support/store-on-git.ts";

let open: StoreOnGit[] = [];
afterEach(async () => {
  for (const on of open) await on.store.close();
  open = [];
});

async function start(): Promise<StoreOnGit> {
  const on = await storeOnGit();
  open.push(on);
  return on;
}

/** Notes of ours and a person's first commit beside them, after which Git's own cache-tree is whole. */
async function startWith(...notes: string[]): Promise<StoreOnGit> {
  const on = await start();
  await on.store.commit(notes.map((path) => draft(path, path)));
  for (const path of ["code/0", "z"]) on.save(path, path);
  on.repo.git("add", "code", "z");
  on.repo.git("commit", "-q", "-m", "theirs");
  return on;
}

const commit = async (on: StoreOnGit, ...drafts: ReturnType<typeof draft>[]) => {
  for (const outcome of (await on.store.commit(drafts)).outcomes) committed(outcome);
};

const invalid = (on: StoreOnGit) =>
  [...cacheTreeOf(on.repo)].filter(([, { count }]) => count < 0).map(([path]) => path);

test("what Git knew as whole stays whole across our commits: new, changed and removed notes and folders", async () => {
  const on = await startWith("notes/a/1.md", "notes/b/1.md");
  await commit(on, draft("notes/a/1.md", "two", "notes/a/1.md"), draft("notes/new/deep/1.md", "new"));
  await commit(on, draft("notes/b/1.md", null, "notes/b/1.md"), draft("memory/字/1.md", "m"));
  await commit(on, draft("notes/new/2.md", "x"), draft("notes/new/deep/1.md", null, "new"));
  const nodes = cacheTreeOf(on.repo);
  expect([...nodes.keys()].sort()).toEqual(
    ["", "code", "memory", "memory/字", "notes", "notes/a", "notes/new"].sort(),
  );
  expect(invalid(on)).toEqual([]);
  expect(nodes.get("")?.id).toBe(on.repo.git("rev-parse", "HEAD^{tree}"));
  expect(cacheTreeFaults(on.repo)).toEqual([]);
  expect(on.repo.git("status", "--porcelain")).toBe("");
});

test("one that was never made becomes whole by our commits alone", async () => {
  const on = await start();
  await commit(on, draft("notes/a/1.md", "one"), draft("memory/m.md", "m"));
  expect(invalid(on)).toEqual([]);
  expect(cacheTreeOf(on.repo).get("")?.id).toBe(on.repo.git("rev-parse", "HEAD^{tree}"));
  await commit(on, draft("notes/a/1.md", null, "one"), draft("notes/b/2.md", "two"));
  expect(invalid(on)).toEqual([]);
  expect(cacheTreeFaults(on.repo)).toEqual([]);
});

test("what a person staged and took back is made whole by our next commit there", async () => {
  const on = await startWith("notes/a/1.md", "notes/b/1.md");
  on.save("notes/a/2.md", "staged");
  on.repo.git("add", "notes/a/2.md");
  on.repo.git("reset", "-q", "notes/a/2.md");
  on.repo.git("update-index", "--force-remove", "notes/a/nothing.md");
  await commit(on, draft("notes/a/1.md", "two", "notes/a/1.md"));
  expect(invalid(on)).toEqual([]);
  expect(cacheTreeFaults(on.repo)).toEqual([]);
});

test("a folder in which something is staged, and all above it, are left to Git; the others stay whole", async () => {
  const on = await startWith("notes/a/1.md", "notes/b/1.md", "notes/c/1.md");
  on.save("notes/b/2.md", "staged");
  on.repo.git("add", "notes/b/2.md");
  await commit(on, draft("notes/a/1.md", "two", "notes/a/1.md"), draft("notes/b/3.md", "three"));
  expect(invalid(on)).toEqual(["", "notes", "notes/b"]);
  expect(cacheTreeFaults(on.repo)).toEqual([]);
  on.repo.git("commit", "-q", "-m", "theirs");
  expect(on.repo.git("diff", "--stat", "HEAD~1", "--")).toMatch(/notes\/b\/2\.md/);
  await commit(on, draft("notes/b/3.md", "four", "three"));
  expect(invalid(on)).toEqual([]);
  expect(cacheTreeFaults(on.repo)).toEqual([]);
});

test("trees that Git wrote of what is staged are not taken for the branch's", async () => {
  const on = await startWith("notes/a/1.md", "notes/a/2.md");
  on.save("notes/a/2.md", "staged");
  on.repo.git("add", "notes/a/2.md");
  on.repo.git("write-tree");
  expect(invalid(on)).toEqual([]);
  await commit(on, draft("notes/a/1.md", "two", "notes/a/1.md"));
  expect(cacheTreeFaults(on.repo)).toEqual([]);
  on.repo.git("commit", "-q", "-m", "theirs");
  expect(on.repo.git("show", "HEAD:notes/a/1.md", "HEAD:notes/a/2.md")).toBe("twostaged");
});

test("a file that a person made executable is so in the tree, in the entry and under the id", async () => {
  const on = await startWith("notes/a.md");
  on.save("notes/run.md", "run");
  chmodSync(join(on.repo.root, "notes/run.md"), 0o755);
  await commit(on, draft("notes/run.md", "run", null, { origin: "disk" }));
  await commit(on, draft("notes/run.md", null, "run"), draft("notes/run.md", "again"));
  expect(cacheTreeFaults(on.repo)).toEqual([]);
});

const PATHS = ["notes/a/1.md", "notes/a/2.md", "notes/b/1.md", "notes/b/c/1.md", "notes/b.md", "memory/m.md"];
const person = fc.constantFrom(
  "add",
  "intend",
  "uncache",
  "conflict",
  "submodule",
  "code",
  "commit",
  "write-tree",
  "reset",
  "chmod",
);
const step = fc.oneof(
  { weight: 2, arbitrary: fc.tuple(fc.constant("us"), fc.subarray(PATHS, { minLength: 1 }), fc.nat(3)) },
  { weight: 1, arbitrary: fc.tuple(person, fc.subarray(PATHS, { minLength: 1, maxLength: 2 }), fc.nat(3)) },
);

function act(on: StoreOnGit, what: string, paths: readonly string[], n: number): void {
  const { repo } = on;
  const [path = ""] = paths;
  const commands: Record<string, () => unknown> = {
    add: () => repo.tryGit("update-index", "--add", "--cacheinfo", `100644,${blobOf("staged")},${path}`),
    intend: () => repo.tryGit("add", "-N", "."),
    uncache: () => repo.tryGit("rm", "-q", "--cached", path),
    conflict: () =>
      repo.gitBytes(
        ["update-index", "--index-info"],
        `0 ${"0".repeat(40)}\t${path}\n${[1, 2, 3].map((s) => `100644 ${blobOf("staged")} ${s}\t${path}\n`).join("")}`,
      ),
    submodule: () =>
      repo.git(
        "update-index",
        "--add",
        "--cacheinfo",
        `160000,${repo.git("rev-parse", "HEAD")},notes/sub${n}`,
      ),
    code: () => repo.git("update-index", "--add", "--cacheinfo", `100644,${blobOf("staged")},code/${n}`),
    commit: () => repo.tryGit("commit", "-q", "-m", "theirs"),
    "write-tree": () => repo.tryGit("write-tree"),
    reset: () => repo.git("reset", "-q"),
    chmod: () => repo.tryGit("update-index", "--chmod=+x", path),
  };
  commands[what]?.();
}

test("whatever a person does to the index in between, no valid id is other than Git's own", async () => {
  let proved = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 8 }), async (steps) => {
      const on = await startWith("notes/a/1.md", "notes/a/2.md", "notes/b/1.md");
      on.repo.gitBytes(["hash-object", "-w", "--stdin"], "staged");
      for (const [what, paths, n] of steps) {
        if (what !== "us") act(on, what, paths, n);
        else {
          const tip = await on.store.tip();
          const drafts = paths.map((path) => {
            const shown = on.repo.tryGit("show", `${tip}:${path}`);
            const before = shown.status === 0 ? shown.stdout : null;
            return draft(path, before !== null && n === 0 ? null : `text ${n}`, before);
          });
          await on.store.commit([...drafts, draft(`notes/n${n}/${tip}.md`, "x")]);
          proved += [...cacheTreeOf(on.repo).values()].filter(({ count }) => count >= 0).length;
        }
        expect(cacheTreeFaults(on.repo)).toEqual([]);
      }
      await on.store.close();
      open = [];
    }),
    { numRuns: 8 },
  );
  expect(proved).toBeGreaterThan(0);
});

test("the same path twice in a chain, and a folder that comes and goes within it", async () => {
  const on = await startWith("notes/a/1.md");
  await commit(
    on,
    draft("notes/t/1.md", "x"),
    draft("notes/t/1.md", null, "x"),
    draft("notes/a/1.md", "2", "notes/a/1.md"),
  );
  expect(invalid(on)).toEqual([]);
  await commit(on, draft("notes/a/1.md", null, "2"), draft("notes/a/1.md", "3"));
  expect(cacheTreeFaults(on.repo)).toEqual([]);
  expect(on.repo.git("status", "--porcelain")).toBe("");
});
