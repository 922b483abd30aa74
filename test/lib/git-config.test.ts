import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { parseGitConfig, readGitConfig, setGitConfig } from "../../src/lib/git-config.ts";

let dir: string;
let file: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "notesd-config-"));
  file = join(dir, "config");
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const git = (...args: string[]) => execFileSync("git", ["config", "-f", file, ...args], { encoding: "utf8" });

test("reads what Git itself wrote: quotes, comments, blanks, subsections, escapes, bare keys", async () => {
  git("core.hooksPath", "/a b/c;d#e");
  git('remote.or"i\\gin.url', "  https://x/y  ");
  git("--add", "remote.o.fetch", "one");
  git("--add", "remote.o.fetch", "two");
  git("user.name", 'A "q" \\ \t tab');
  const text = `${await readFile(file, "utf8")}[Mixed]\n\tBareKey\n\tlong = a \\\n  b # c\n`;
  await writeFile(file, text);
  const values = await readGitConfig(file);
  for (const name of ["core.hookspath", 'remote.or"i\\gin.url', "user.name", "mixed.long"]) {
    expect(values.get(name)?.join("\n"), name).toBe(git("--get-all", name).slice(0, -1));
  }
  expect(values.get("remote.o.fetch")).toEqual(["one", "two"]);
  expect(values.get("mixed.barekey")).toEqual(["true"]);
});

test("a change touches its own line only, and Git reads it back", async () => {
  const before = "# mine\n[core]\n\tbare = false ; keep\n[user]\n\tname = X\n";
  await writeFile(file, before);
  const value = '/tmp/a b;c#"d"\\e ';
  expect(await setGitConfig(file, { "core.hooksPath": value, "notesd.marked": "true" })).toBe(true);
  expect(git("core.hooksPath").slice(0, -1)).toBe(value);
  expect(git("--type=bool", "notesd.marked")).toBe("true\n");
  expect((await readFile(file, "utf8")).replace(/\n\thooksPath.*/, "").replace(/\[notesd\][\s\S]*/, "")).toBe(
    before,
  );
  expect(await setGitConfig(file, { "core.hooksPath": value })).toBe(false);
  await setGitConfig(file, { "core.hooksPath": null, "core.bare": "true" });
  expect(() => git("core.hooksPath")).toThrow();
  expect(git("core.bare")).toBe("true\n");
});

test("a section that a change empties goes, one with a comment or another key stays", async () => {
  const before = "[core]\n\tbare = false\n";
  await writeFile(file, before);
  await setGitConfig(file, { "a.b": "1", "a.c": "2", "merge.x y.driver": "d", "gc.auto": "7" });
  await setGitConfig(file, { "a.b": null });
  expect(await readFile(file, "utf8")).toContain("[a]\n\tc = 2\n");
  await setGitConfig(file, { "a.c": null, "merge.x y.driver": null, "gc.auto": null });
  expect(await readFile(file, "utf8")).toBe(before);
  const commented = `${before}[a]\n\t# why\n\tb = 1\n[d] e = f\n`;
  await writeFile(file, commented);
  await setGitConfig(file, { "a.b": null, "d.e": null });
  expect(await readFile(file, "utf8")).toBe(`${before}[a]\n\t# why\n`);
});

test("a file that someone else is changing is left alone", async () => {
  await writeFile(file, "[a]\n\tb = c\n");
  await writeFile(`${file}.lock`, "theirs");
  await expect(setGitConfig(file, { "a.b": "d" })).rejects.toMatchObject({ code: "EEXIST" });
  expect(await readFile(`${file}.lock`, "utf8")).toBe("theirs");
});

test("a line that is no config is an error that names it", () => {
  expect(() => parseGitConfig("[a]\n  = x\n")).toThrow(/line 2/);
  expect(() => parseGitConfig("x = y\n")).toThrow(/line 1/);
});
