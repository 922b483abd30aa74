import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  errnoOf,
  fsyncFolder,
  linkInto,
  orAbsent,
  writeDurably,
  writeDurablySync,
  writeNewSync,
} from "../../src/lib/durable-file.ts";
import { temporaryFolder } from "../support/git-repo.ts";

test("a durable write replaces the file and leaves nothing beside it", async () => {
  const folder = temporaryFolder();
  const file = join(folder, "a");
  await writeDurably(file, "one");
  writeDurablySync(file, Buffer.from("two"));
  expect(readFileSync(file, "utf8")).toBe("two");
  expect(readdirSync(folder)).toEqual(["a"]);
});

test("the mode is the new file's", async () => {
  const folder = temporaryFolder();
  await writeDurably(join(folder, "a"), "secret", { mode: 0o600 });
  writeDurablySync(join(folder, "b"), "secret", { mode: 0o600 });
  for (const name of ["a", "b"]) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
});

test("a write that can't be placed leaves the old state and no temporary file", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "taken"));
  writeFileSync(join(folder, "taken", "x"), "");
  await expect(writeDurably(join(folder, "taken"), "x")).rejects.toThrow();
  expect(() => writeDurablySync(join(folder, "taken"), "x")).toThrow();
  expect(readdirSync(folder)).toEqual(["taken"]);
});

test("a new file must not exist, and the one there is left alone", () => {
  const file = join(temporaryFolder(), "a");
  writeNewSync(file, "one");
  expect(() => writeNewSync(file, "two")).toThrow(/EEXIST/);
  expect(readFileSync(file, "utf8")).toBe("one");
});

test("linking into a taken name says no and changes nothing", () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "a"), "one");
  expect(linkInto(join(folder, "a"), join(folder, "b"))).toBe(true);
  writeFileSync(join(folder, "c"), "other");
  expect(linkInto(join(folder, "a"), join(folder, "c"))).toBe(false);
  expect(readFileSync(join(folder, "c"), "utf8")).toBe("other");
  expect(statSync(join(folder, "a")).ino).toBe(statSync(join(folder, "b")).ino);
});

test("an absent file or folder is null, anything else is thrown", () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "file"), "");
  expect(orAbsent(() => readFileSync(join(folder, "none")))).toBeNull();
  expect(orAbsent(() => readFileSync(join(folder, "file", "below")))).toBeNull();
  expect(() => orAbsent(() => readFileSync(folder))).toThrow(/EISDIR/);
});

test("syncing a folder that is gone is an error, not a success", async () => {
  const folder = temporaryFolder();
  await fsyncFolder(folder);
  chmodSync(folder, 0o700);
  const failure = await fsyncFolder(join(folder, "none")).catch((error: unknown) => error);
  expect(errnoOf(failure)).toBe("ENOENT");
});
