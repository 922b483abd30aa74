import { appendFileSync, readdirSync, readFileSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openBaseTable } from "../../../src/store/files/base-table.ts";
import { at, blobOf } from "../../support/drafts.ts";
import { temporaryFolder } from "../../support/git-repo.ts";

const path = (i: number) => at(`notes/${i}.md`);

test("what was written is there after a kill, what a crash cut short is left out", () => {
  const folder = temporaryFolder();
  const table = openBaseTable(folder);
  table.setBase(path(1), blobOf("1"));
  table.setKnown(path(1), { blob: blobOf("1"), signature: "1:2:3:4" });
  table.setBase(at('notes/"quoted" \\ä\n.md'), blobOf("2"));
  table.write();
  table.setBase(path(3), blobOf("never written"));
  appendFileSync(join(folder, "base.log"), readFileSync(join(folder, "base.log"), "utf8").slice(1, 60));
  const again = openBaseTable(folder);
  expect([...again.paths()]).toEqual([path(1), at('notes/"quoted" \\ä\n.md')]);
  expect(again.known(path(1))).toEqual({ blob: blobOf("1"), signature: "1:2:3:4" });
});

test("a change while the whole table is written is kept by the new journal, a kill in between by the old", async () => {
  const folder = temporaryFolder();
  const table = openBaseTable(folder);
  for (let i = 0; i < 5_000; i++) table.setBase(path(i), blobOf("old"));
  const flushed = table.flush();
  table.setBase(path(1), blobOf("new"));
  table.setBase(path(2), null);
  table.write();
  expect(openBaseTable(folder).base(path(1))).toBe(blobOf("new"));
  await flushed;
  const again = openBaseTable(folder);
  expect([...again.paths()]).toHaveLength(4_999);
  expect(again.base(path(1))).toBe(blobOf("new"));
  expect(again.base(path(2))).toBeNull();
  expect(statSync(join(folder, "base.log")).size).toBeLessThan(1_000);
});

test("the loop has turns while a large table is written, between its first slice and its last", async () => {
  const folder = temporaryFolder();
  const table = openBaseTable(folder);
  for (let i = 0; i < 20_000; i++) table.setBase(path(i), blobOf("old"));
  /** What of the table was written by then, bytes; none once it is in place. */
  const written = () => {
    const name = readdirSync(folder).find((file) => /\.tmp$/.test(file));
    // It may be put in place between the two looks.
    return name === undefined ? 0 : (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0);
  };
  const sizes = new Set<number>();
  let done = false;
  const flushed = table.flush().then(() => {
    done = true;
  });
  while (!done) {
    await new Promise((resolve) => setImmediate(resolve));
    sizes.add(written());
  }
  await flushed;
  sizes.delete(0);
  expect(sizes.size).toBeGreaterThan(5);
});

test("the lines that were the whole table in earlier versions are read, and written anew as it is now", async () => {
  const folder = temporaryFolder();
  const table = openBaseTable(folder);
  table.setBase(path(1), blobOf("1"));
  table.setKnown(path(1), { blob: blobOf("1"), signature: "1:2:3:4" });
  table.setBase(path(2), blobOf("2"));
  table.write();
  renameSync(join(folder, "base.log"), join(folder, "base"));
  const before = openBaseTable(folder);
  expect([...before.paths()]).toEqual([path(1), path(2)]);
  await before.flush();
  expect(readFileSync(join(folder, "base"), "latin1")).toMatch(/^\{"magic":"notesd-base"/);
  const after = openBaseTable(folder);
  expect([...after.paths()]).toEqual([path(1), path(2)]);
  expect(after.known(path(1))).toEqual({ blob: blobOf("1"), signature: "1:2:3:4" });
});

test("a table that stands in its file already is not written again", async () => {
  const folder = temporaryFolder();
  const table = openBaseTable(folder);
  table.setBase(path(1), blobOf("1"));
  await table.flush();
  const { ino } = statSync(join(folder, "base"));
  await table.flush();
  const again = openBaseTable(folder);
  await again.flush();
  expect(statSync(join(folder, "base")).ino).toBe(ino);
  again.setBase(path(1), null);
  await again.flush();
  expect(statSync(join(folder, "base")).ino).not.toBe(ino);
  expect([...openBaseTable(folder).paths()]).toEqual([]);
});

test("a write that fails leaves the table as it was, and the next one writes all of it", async () => {
  const folder = temporaryFolder();
  const table = openBaseTable(folder);
  table.setBase(path(1), blobOf("1"));
  await table.flush();
  table.setBase(path(2), blobOf("2"));
  const aside = `${folder}-aside`;
  renameSync(folder, aside);
  const failed = table.flush();
  table.setBase(path(3), blobOf("3"));
  await expect(failed).rejects.toThrow();
  renameSync(aside, folder);
  expect([...table.paths()]).toEqual([path(1), path(2), path(3)]);
  await table.flush();
  expect([...openBaseTable(folder).paths()]).toEqual([path(1), path(2), path(3)]);
});
