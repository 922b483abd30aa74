import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { expect, test } from "vitest";
import { hashObject } from "../../../src/store/objects/object-id.ts";
import { gitObjects } from "../../../src/store/objects/objects.ts";
import { packBuilder } from "../../../src/store/objects/pack-bytes.ts";
import { packFile } from "../../../src/store/objects/pack-names.ts";
import { writePack } from "../../../src/store/objects/pack-writer.ts";
import { type GitRepo, gitRepo } from "../../support/git-repo.ts";

/** A history of small edits to a long file, so that packs hold deltas. */
function busyRepo(commits = 30): GitRepo {
  const repo = gitRepo();
  const lines = Array.from({ length: 300 }, (_, i) => `line ${i} ${"lorem ipsum ".repeat(i % 7)}`);
  for (let i = 0; i < commits; i++) {
    lines[(i * 37) % 300] = `changed ${i}`;
    writeFileSync(join(repo.root, "a.md"), lines.join("\n"));
    writeFileSync(join(repo.root, `b${i}.md`), `note ${i}\n`);
    repo.git("add", "-A");
    repo.git("commit", "-q", "-m", `c${i}`);
  }
  repo.git("tag", "-a", "-m", "a tag", "t");
  return repo;
}

const allIds = (repo: GitRepo) =>
  repo.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)").split("\n");

function expectAllReadable(repo: GitRepo): void {
  const objects = gitObjects(repo.gitdir);
  const ids = allIds(repo);
  const expected = repo.gitBytes(
    ["cat-file", "--batch=%(objectname) %(objecttype)"],
    ids.map((l) => `${l.slice(0, 40)}\n`).join(""),
  );
  const found = ids.map((line) => {
    const raw = objects.find(line.slice(0, 40));
    return Buffer.concat(
      [Buffer.from(`${line.slice(0, 40)} ${raw?.type}\n`), raw?.bytes ?? "", Buffer.from("\n")].map((b) =>
        Buffer.from(b),
      ),
    );
  });
  expect(Buffer.concat(found).equals(expected)).toBe(true);
  objects.close();
}

test("every object reads as Git reads it: loose, packed with deltas by offset and by id", () => {
  const repo = busyRepo();
  expectAllReadable(repo);
  repo.git("repack", "-adfq", "--depth=50", "--window=50");
  expect(readdirSync(join(repo.gitdir, "objects")).filter((name) => /^..$/.test(name))).toEqual([]);
  expectAllReadable(repo);
  repo.git("-c", "repack.useDeltaBaseOffset=false", "repack", "-adfq", "--depth=50");
  expectAllReadable(repo);
});

test("an absent object is null, or UNKNOWN_COMMIT for who needs it, and so is one of another type", () => {
  const repo = busyRepo(1);
  const objects = gitObjects(repo.gitdir);
  const commit = repo.git("rev-parse", "HEAD");
  expect([objects.find("1".repeat(40)), objects.find("nonsense"), objects.has(commit)]).toEqual([
    null,
    null,
    true,
  ]);
  expect(() => objects.read("blob", "1".repeat(40))).toThrow(
    expect.objectContaining({ code: "UNKNOWN_COMMIT" }),
  );
  expect(() => objects.read("blob", commit)).toThrow(/is a commit, not a blob/);
});

test("objects stay readable while Git repacks and prunes under us", () => {
  const repo = busyRepo(5);
  const objects = gitObjects(repo.gitdir);
  const ids = allIds(repo).map((line) => line.slice(0, 40));
  expect(ids.every((id) => objects.has(id))).toBe(true);
  repo.git("gc", "-q", "--prune=now");
  expect(ids.every((id) => objects.has(id))).toBe(true);
  writeFileSync(join(repo.root, "new.md"), "new\n");
  repo.git("add", "-A");
  repo.git("commit", "-q", "-m", "more");
  repo.git("repack", "-adfq", "--depth=1");
  expect(allIds(repo).every((line) => objects.has(line.slice(0, 40)))).toBe(true);
});

test("a just-written object is read without touching the disk, and from the disk when it fell out", async () => {
  const repo = gitRepo();
  const bytes = Buffer.from("just written\n");
  const id = hashObject("blob", bytes);
  const objects = gitObjects(repo.gitdir, { writtenBytes: 1_000 });
  objects.remember("blob", id, bytes);
  expect(objects.read("blob", id)).toBe(bytes);
  const builder = packBuilder();
  builder.add("blob", id, bytes);
  await writePack(repo.gitdir, builder.finish());
  objects.remember("blob", "2".repeat(40), Buffer.alloc(700));
  objects.remember("blob", "3".repeat(40), Buffer.alloc(700));
  expect(objects.read("blob", id)).not.toBe(bytes);
  expect(objects.read("blob", id).equals(bytes)).toBe(true);
});

const loosePath = (repo: GitRepo, id: string) => join(repo.gitdir, "objects", id.slice(0, 2), id.slice(2));

test.each([
  ["truncated", (file: string) => truncateSync(file, readFileSync(file).length - 5)],
  ["empty", (file: string) => truncateSync(file, 0)],
  ["another object's", (file: string) => writeFileSync(file, deflateSync(Buffer.from("blob 5\0other")))],
  ["a wrong size's", (file: string) => writeFileSync(file, deflateSync(Buffer.from("blob 9\0other")))],
])("a loose object with %s bytes is STORAGE, not a value and not absent", (_, damage) => {
  const repo = busyRepo(1);
  const id = repo.git("rev-parse", "HEAD:a.md");
  chmodSync(loosePath(repo, id), 0o644);
  damage(loosePath(repo, id));
  const objects = gitObjects(repo.gitdir);
  expect(() => objects.find(id)).toThrow(expect.objectContaining({ code: "STORAGE", data: { object: id } }));
});

test("a damaged pack is STORAGE, unless a good copy is loose", () => {
  const repo = busyRepo(3);
  const id = repo.git("rev-parse", "HEAD:a.md");
  const loose = readFileSync(loosePath(repo, id));
  repo.git("repack", "-adq");
  repo.git("prune-packed");
  const pack = join(
    repo.gitdir,
    "objects/pack",
    readdirSync(join(repo.gitdir, "objects/pack")).find((f) => f.endsWith(".pack")) ?? "",
  );
  const bytes = readFileSync(pack);
  bytes.fill(0x5a, 20, bytes.length - 20);
  rmSync(pack);
  writeFileSync(pack, bytes);
  expect(() => gitObjects(repo.gitdir).find(id)).toThrow(expect.objectContaining({ code: "STORAGE" }));
  mkdirSync(join(repo.gitdir, "objects", id.slice(0, 2)), { recursive: true });
  writeFileSync(loosePath(repo, id), loose);
  expect(gitObjects(repo.gitdir).read("blob", id).length).toBeGreaterThan(1_000);
});

test.each([
  ["a damaged pack", "pack", (bytes: Buffer) => bytes.fill(0x5a, 12, bytes.length - 20)],
  ["a pack that is gone", "pack", null],
  ["an idx that is cut short", "idx", (bytes: Buffer) => bytes.subarray(0, 500)],
] as const)("%s hides no good copy in another pack, and what none has is told", async (_, ending, damage) => {
  const repo = gitRepo();
  const both = Buffer.from("in both\n");
  const id = hashObject("blob", both);
  const packs: string[] = [];
  const own: string[] = [];
  for (const text of ["one\n", "two\n"]) {
    const builder = packBuilder();
    builder.add("blob", id, both);
    own.push(hashObject("blob", Buffer.from(text)));
    builder.add("blob", own.at(-1) ?? "", Buffer.from(text));
    const written = await writePack(repo.gitdir, builder.finish());
    written.release();
    packs.push(written.name);
  }
  for (const [number, name] of packs.entries()) {
    const file = packFile(repo.gitdir, name, ending);
    const bytes = readFileSync(file);
    const objects = gitObjects(repo.gitdir);
    // Opened while all is well.
    if (ending === "pack") expect(objects.find("0".repeat(40))).toBe(null);
    rmSync(file);
    if (damage !== null) writeFileSync(file, damage(Buffer.from(bytes)));
    expect(objects.read("blob", id).equals(both)).toBe(true);
    expect(objects.read("blob", own[1 - number] ?? "")).toHaveLength(4);
    if (damage === null) expect(objects.find(own[number] ?? "")).toBe(null);
    else expect(() => objects.find(own[number] ?? "")).toThrow(expect.objectContaining({ code: "STORAGE" }));
    objects.close();
    rmSync(file, { force: true });
    writeFileSync(file, bytes);
    const again = gitObjects(repo.gitdir);
    expect(again.read("blob", own[number] ?? "")).toHaveLength(4);
    again.close();
  }
});

test("short ids are found in packs and among loose objects, as git rev-parse --disambiguate does", () => {
  const repo = busyRepo(12);
  repo.git("repack", "-adq");
  writeFileSync(join(repo.root, "loose.md"), "loose");
  repo.git("add", "-A");
  repo.git("commit", "-q", "-m", "loose");
  const objects = gitObjects(repo.gitdir);
  for (const line of allIds(repo)) {
    const prefix = line.slice(0, 5);
    expect(objects.idsStarting(prefix)).toEqual(
      repo.git("rev-parse", `--disambiguate=${prefix}`).split("\n").sort(),
    );
  }
  expect(objects.idsStarting("xyz")).toEqual([]);
});
