import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fileId } from "../../../src/domain/identity.ts";
import { purge } from "../../../src/main/purge/purge.ts";
import { purgedIds } from "../../../src/store/purge/purged-list.ts";
import { type PurgeRepo, purgeRepo, whereIs } from "../../support/purge-repo.ts";

const run = ({ place, env, top }: PurgeRepo, note: string, apply = true) =>
  purge(
    { repo: place.root },
    { env, cwd: top, warn: () => {} },
    { values: [], fingerprints: [], note, apply },
  );

const commit = async (repo: PurgeRepo, files: Record<string, string | null>, message = "by hand") => {
  for (const [path, text] of Object.entries(files)) {
    if (text === null) repo.git("rm", "-q", path);
    else await repo.save(path, text);
  }
  repo.git("add", ".");
  repo.git("commit", "-qm", message);
};

const withId = (id: string, text: string) => `---\nid: ${id}\ntitle: t\n---\n\n${text}\n`;
const X = "note_20260101_000000_aaaaaa";
const Y = "note_20260101_000000_bbbbbb";

test("a note that began with another's text goes, and the other stays with its history", async () => {
  const repo = await purgeRepo();
  const start = "# Day\n\nstart\n";
  await commit(repo, { "notes/template.md": start, "notes/mon.md": start });
  await commit(repo, { "notes/mon.md": "# Day\n\nvery private\n" });
  const shared = repo.git("rev-parse", "HEAD:notes/template.md");
  const wanted = fileId("notes/mon.md" as Parameters<typeof fileId>[0], () => false);
  const looked = await run(repo, wanted, false);
  expect(looked.shared_with).toEqual(["notes/template.md"]);
  expect(await run(repo, wanted)).toMatchObject({ complete: true });
  expect(repo.git("log", "--all", "--format=", "--name-only")).not.toContain("mon.md");
  expect(whereIs(repo.place.root, "very private")).toEqual([]);
  expect(whereIs(repo.place.root, "mon.md")).toEqual([]);
  expect(repo.git("show", "HEAD:notes/template.md")).toBe(start.trim());
  expect(readFileSync(join(repo.place.root, "notes/template.md"), "utf8")).toBe(start);
  expect(existsSync(join(repo.place.root, "notes/mon.md"))).toBe(false);
  expect(purgedIds(repo.place.gitDir).has(shared)).toBe(false);
  expect(repo.git("status", "--porcelain")).toBe("");
  expect(repo.git("fsck", "--full", "--strict")).toBe("");
});

test("a copy of a note that got an id of its own stays, also where it still was the copy", async () => {
  const repo = await purgeRepo();
  await commit(repo, { "notes/a.md": withId(X, "first") });
  await commit(repo, { "notes/b.md": withId(X, "first") });
  await commit(repo, { "notes/a.md": withId(X, "private now"), "notes/b.md": withId(Y, "mine") });
  await commit(repo, { "notes/a.md": null, "notes/moved/a.md": withId(X, "private now") });
  expect((await run(repo, X, false)).shared_with).toEqual(["notes/b.md"]);
  expect(await run(repo, "notes/moved/a.md")).toMatchObject({ complete: true });
  expect(repo.git("ls-files", "notes")).toBe("notes/b.md");
  expect(readFileSync(join(repo.place.root, "notes/b.md"), "utf8")).toBe(withId(Y, "mine"));
  expect(repo.git("log", "--format=%h", "--", "notes/b.md").split("\n")).toHaveLength(2);
  expect(repo.git("log", "--all", "--format=", "--name-only").split("\n")).not.toContain("notes/a.md");
  expect(whereIs(repo.place.root, "private now")).toEqual([]);
  expect(repo.git("status", "--porcelain")).toBe("");
  expect(repo.git("fsck", "--full", "--strict")).toBe("");
});

test("at the note's path another id is another note, and a version without an id is the note's while it follows", async () => {
  const repo = await purgeRepo();
  await commit(repo, { "notes/a.md": "before any id\n" });
  await commit(repo, { "notes/a.md": withId(X, "private") });
  await commit(repo, { "notes/a.md": null, "notes/k.md": "keep\n" });
  await commit(repo, { "notes/a.md": "a new one without an id\n" });
  await commit(repo, { "notes/a.md": withId(Y, "another") });
  expect(await run(repo, X)).toMatchObject({ complete: true, shared_with: [] });
  for (const text of ["before any id", "private"]) expect(whereIs(repo.place.root, text)).toEqual([]);
  expect(repo.git("show", "HEAD:notes/a.md")).toBe(withId(Y, "another").trim());
  expect(repo.git("show", "HEAD~1:notes/a.md")).toBe("a new one without an id");
  expect(readFileSync(join(repo.place.root, "notes/a.md"), "utf8")).toBe(withId(Y, "another"));
  expect(repo.git("status", "--porcelain")).toBe("");
});

test("a staged file with the note's text at another path stays", async () => {
  const repo = await purgeRepo();
  const text = "text of both\n";
  await commit(repo, { "notes/a.md": text });
  await repo.save("notes/b.md", text);
  repo.git("add", "notes/b.md");
  expect(await run(repo, "notes/a.md")).toMatchObject({ complete: true, shared_with: ["notes/b.md"] });
  expect(repo.git("ls-files", "notes")).toBe("notes/b.md");
  expect(repo.git("show", ":notes/b.md")).toBe(text.trim());
  expect(repo.git("fsck", "--full", "--strict")).toBe("");
});
