import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { NotesError } from "../../../src/domain/errors.ts";
import type { BlobId, RepoPath } from "../../../src/domain/note.ts";
import { openBaseTable } from "../../../src/store/files/base-table.ts";
import type { ScanWork } from "../../../src/store/files/scan.ts";
import { sliceScanner, threadScanner } from "../../../src/store/files/scanner.ts";
import { openSweep, type SweepParts } from "../../../src/store/files/sweep.ts";
import { openWorkTree } from "../../../src/store/files/work-tree.ts";
import type { DiskFile } from "../../../src/store/note-store.ts";
import { noteFilter } from "../../../src/store/trees/note-filter.ts";
import { at, blobOf } from "../../support/drafts.ts";
import { temporaryFolder } from "../../support/git-repo.ts";
import { wholeFrom } from "../../support/random.ts";
import { until } from "../../support/wait.ts";

const ROOTS = ["notes"];
/** Files are old enough to be believed as soon as they are written: sizes tell the saves of a test apart. */
const later = () => Date.now() + 10_000;

function tree(over: Partial<SweepParts> = {}) {
  const root = temporaryFolder();
  const table = openBaseTable(temporaryFolder());
  const notes = noteFilter(ROOTS);
  const rules = { root, maxBytes: 1_000, isPrepared: () => false, nowMs: later };
  const never = async () => false;
  const troubles: unknown[] = [];
  const troubled = (error: unknown) => void troubles.push(error);
  const workTree = openWorkTree({ rules, roots: ROOTS, notes, table, bringForward: never, troubled });
  const look = (path: RepoPath): DiskFile => {
    const found = workTree.look(path);
    return found.kind === "file" ? { kind: "file", path, blob: found.blob, mtimeMs: 0 } : { ...found, path };
  };
  const sweep = openSweep({
    work: { root, roots: ROOTS, maxBytes: 1_000 },
    notes,
    table,
    look,
    troubled,
    thread: (work) => sliceScanner(work, later),
    threadFromFiles: 0,
    ...over,
  });
  return {
    root,
    table,
    workTree,
    troubles,
    sweep,
    save(path: string, text: string) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    },
    async told(afresh = false) {
      const files = new Set<string>();
      for await (const some of sweep(afresh)) for (const { kind, path } of some) files.add(`${kind} ${path}`);
      return [...files].sort();
    },
  };
}

test("a sweep tells of everything once, then of the folders in which anything changed", async () => {
  const on = tree();
  for (const path of ["notes/a/1.md", "notes/a/2.md", "notes/b/3.md", "notes/4.md"])
    on.save(path, `${path}\n`);
  expect(await on.told()).toEqual([
    "file notes/4.md",
    "file notes/a/1.md",
    "file notes/a/2.md",
    "file notes/b/3.md",
  ]);
  expect(await on.told()).toEqual([]);
  on.save("notes/a/2.md", "another\n");
  on.save("notes/c/new.md", "new\n");
  expect(await on.told()).toEqual(["file notes/a/1.md", "file notes/a/2.md", "file notes/c/new.md"]);
  expect(on.table.known(at("notes/a/2.md"))?.blob).toBe(blobOf("another\n"));
  expect(await on.told()).toEqual([]);
  expect(await on.told(true)).toHaveLength(5);
});

test("a base path that is gone is told, with its folder or without, remembered before or never", async () => {
  const on = tree();
  on.save("notes/a/1.md", "1\n");
  on.save("notes/b/2.md", "2\n");
  for (const name of ["a/1", "b/2", "never/3"]) on.table.setBase(at(`notes/${name}.md`), blobOf(name));
  expect(await on.told()).toContain("absent notes/never/3.md");
  on.table.setBase(at("notes/never/3.md"), null);
  rmSync(join(on.root, "notes/a"), { recursive: true });
  unlinkSync(join(on.root, "notes/b/2.md"));
  expect(await on.told()).toEqual(["absent notes/a/1.md", "absent notes/b/2.md"]);
});

test("what a sweep that was not read to its end had found is found again", async () => {
  const on = tree();
  on.save("notes/a/1.md", "1\n");
  on.save("notes/b/2.md", "2\n");
  await on.told();
  on.save("notes/a/1.md", "one\n");
  on.save("notes/b/2.md", "two\n");
  for await (const _ of on.sweep(false)) break;
  expect(await on.told()).toEqual(["file notes/a/1.md", "file notes/b/2.md"]);
});

test("a young file is told until it is old enough to be believed", async () => {
  const on = tree({ thread: (work) => sliceScanner(work) });
  on.save("notes/a/1.md", "1\n");
  expect(await on.told()).toEqual(["file notes/a/1.md"]);
  expect(await on.told()).toEqual(["file notes/a/1.md"]);
  await until("a sweep that tells nothing", async () => (await on.told()).length === 0);
});

test("a folder that may not be read is told, and so are the base paths in it", async () => {
  const on = tree();
  on.save("notes/a/1.md", "1\n");
  on.table.setBase(at("notes/a/1.md"), blobOf("1\n"));
  await on.told();
  chmodSync(join(on.root, "notes/a"), 0);
  const asRoot = process.getuid?.() === 0;
  const seen = await on.told();
  chmodSync(join(on.root, "notes/a"), 0o755);
  expect(seen).toEqual(asRoot ? [] : ["unfit notes/a", "unfit notes/a/1.md"]);
});

test("the sum of all sweeps is what a look at every file finds, whatever is done in between", async () => {
  const below = wholeFrom(7);
  const on = tree();
  const sum = new Map<RepoPath, BlobId | string | null>();
  const of = (file: DiskFile) =>
    file.kind === "file" ? file.blob : file.kind === "unfit" ? file.reason : null;
  const name = () => `notes/${"abc"[below(3)]}/${"de"[below(2)]}${below(4)}.md`;
  let size = 0;
  const deeds = [
    () => on.save(name(), "x".repeat(++size % 900)),
    () => rmSync(join(on.root, name()), { force: true, recursive: true }),
    () => rmSync(join(on.root, "notes", "abc"[below(3)] ?? "a"), { recursive: true, force: true }),
    () => {
      const [from, to] = [`notes/${"abc"[below(3)]}`, `notes/${"abc"[below(3)]}/d`];
      if (from !== dirname(to)) on.save(`${from}/gone.md`, "x".repeat(++size % 900));
    },
    () => {
      const to = join(on.root, name());
      on.save("notes/moved.md", "x".repeat(++size % 900));
      mkdirSync(dirname(to), { recursive: true });
      renameSync(join(on.root, "notes/moved.md"), to);
    },
    () => {
      const link = join(on.root, name());
      rmSync(link, { force: true });
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync("nowhere", link);
    },
  ];
  for (let round = 0; round < 60; round++) {
    for (let i = below(4); i >= 0; i--) deeds[below(deeds.length)]?.();
    for await (const files of on.sweep(false)) {
      for (const file of files) {
        sum.set(file.path, of(file));
        if (file.kind !== "unfit") on.table.setBase(file.path, file.kind === "file" ? file.blob : null);
      }
    }
    const found = new Map((await on.workTree.scan()).map((file) => [file.path, of(file)]));
    for (const [path, what] of sum) if (what === null && !found.has(path)) sum.delete(path);
    // A link is reported; that it is gone again is asked for by whoever keeps the reports.
    for (const path of sum.keys())
      if (sum.get(path) === "is a symbolic link" && !found.has(path)) sum.delete(path);
    expect(new Map([...sum].sort()), `round ${round}`).toEqual(new Map([...found].sort()));
  }
});

test("a thread scans as this one does", async () => {
  const on = tree({ thread: threadScanner });
  for (let i = 0; i < 1_500; i++) on.save(`notes/${i % 7}/${i}.md`, `${i}\n`);
  symlinkSync("nowhere", join(on.root, "notes/link.md"));
  on.table.setBase(at("notes/gone.md"), blobOf("gone\n"));
  const told = await on.told();
  expect(on.troubles).toEqual([]);
  expect(told).toEqual((await on.workTree.scan()).map(({ kind, path }) => `${kind} ${path}`).sort());
  expect(told).toHaveLength(1_502);
  await until("old files", async () => (await on.told()).every((file) => !file.startsWith("file")));
});

const BROKEN = {
  "at once": "throw new Error('broken')",
  "when it is asked":
    "import {parentPort} from 'node:worker_threads'; parentPort.once('message', () => process.exit(3))",
};
test.each(Object.entries(BROKEN))(
  "a thread that breaks %s is told, and the sweep goes on without it",
  async (_, code) => {
    const on = tree({
      thread: (work: ScanWork) => threadScanner(work, new URL(`data:text/javascript,${code}`)),
    });
    on.save("notes/a/1.md", "1\n");
    expect(await on.told()).toEqual(["file notes/a/1.md"]);
    expect(on.troubles).toHaveLength(1);
  },
);

test("what the disk refuses to a look of this thread is no fault of the scanning one: the sweep fails once", async () => {
  const refused = new NotesError("STORAGE", "looking at a file failed");
  let looks = 0;
  const look = (): never => {
    looks++;
    throw refused;
  };
  const on = tree({ look });
  on.save("notes/a/1.md", "1\n");
  on.table.setBase(at("notes/b/gone.md"), blobOf("gone"));
  await expect(on.told()).rejects.toBe(refused);
  expect([looks, on.troubles]).toEqual([1, []]);
});

test("a scanning thread keeps no process", () => {
  const scanner = fileURLToPath(new URL("../../../dist/store/files/scanner.js", import.meta.url));
  const work = `{root: ${JSON.stringify(temporaryFolder())}, roots: ["."], maxBytes: 1, known: new Map()}`;
  const code = `import {threadScanner} from ${JSON.stringify(scanner)}; void threadScanner(${work}).walk(); process.stdout.write('ends')`;
  const node = [process.execPath, "--input-type=module", "-e", code] as const;
  expect(execFileSync(node[0], node.slice(1), { encoding: "utf8", timeout: 20_000 })).toBe("ends");
});
