import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Flags } from "../../src/doors/cli/host.ts";
import { resolvePlace, resolveSettings } from "../../src/main/resolve.ts";

let top: string;
let warnings: string[];
beforeEach(async () => {
  top = await realpath(await mkdtemp(join(tmpdir(), "notesd-resolve-")));
  warnings = [];
  await repository(join(top, "a"), true);
  await repository(join(top, "b"), true);
});
afterEach(() => rm(top, { recursive: true, force: true }));

async function repository(dir: string, marked: boolean): Promise<void> {
  await mkdir(join(dir, ".git/notesd"), { recursive: true });
  await writeFile(join(dir, ".git/HEAD"), "ref: refs/heads/main\n");
  await writeFile(join(dir, ".git/config"), marked ? "[notesd]\n\tmarked = true\n" : "");
}

const around = (cwd: string, env: Record<string, string> = {}) => ({
  cwd,
  env,
  warn: (text: string) => void warnings.push(text),
});
const settings = async (flags: Flags, cwd: string, env?: Record<string, string>) =>
  (await resolveSettings(flags, around(cwd, env))).settings;
const root = async (flags: Flags, cwd: string, env?: Record<string, string>) =>
  (await resolvePlace(flags, around(cwd, env))).root;
const config = (dir: string, value: object) =>
  writeFile(join(dir, "notes.config.json"), JSON.stringify(value));

test("flags beat the environment, it beats config.json, that beats notes.config.json", async () => {
  await config(top, { repo: "a", port: 1, host: "h1", filenames: "id-slug", branch: "x" });
  await writeFile(
    join(top, "a/.git/notesd/config.json"),
    JSON.stringify({ port: 2, host: "h2", branch: "main" }),
  );
  const env = { NOTESD_PORT: "3", NOTESD_HOST: "h3" };
  expect(await settings({ port: 4 }, top, env)).toMatchObject({
    port: 4,
    host: "h3",
    branch: "main",
    filenames: "id-slug",
  });
});

test("--repo beats NOTESD_REPO, that beats notes.config.json, that beats where one stands", async () => {
  await mkdir(join(top, "a/notes/2026"), { recursive: true });
  expect(await root({}, join(top, "a/notes/2026"))).toBe(join(top, "a"));
  await config(top, { repo: "a" });
  expect(await root({}, top)).toBe(join(top, "a"));
  expect(await root({}, top, { NOTESD_REPO: join(top, "b") })).toBe(join(top, "b"));
  expect(await root({ repo: "a" }, top, { NOTESD_REPO: join(top, "b") })).toBe(join(top, "a"));
  expect(await root({ repo: "a/.git" }, top)).toBe(join(top, "a"));
});

test("a .notes repository inside the one where one stands is found", async () => {
  await repository(join(top, "code"), false);
  await mkdir(join(top, "code/src"));
  await expect(root({}, join(top, "code/src"))).rejects.toMatchObject({ exit: 2 });
  await repository(join(top, "code/.notes"), true);
  expect(await root({}, join(top, "code/src"))).toBe(join(top, "code/.notes"));
});

test("a file inside the note repository names no other repository and opens no port", async () => {
  await config(join(top, "a"), { repo: "../b", port: 9, hosts: ["evil"], types: { risk: {} } });
  expect(await settings({}, join(top, "a"))).toEqual({ types: { risk: {} } });
  expect(warnings.join("\n")).toMatch(/repo is ignored[\s\S]*port is ignored[\s\S]*hosts is ignored/);
  expect(await root({}, join(top, "a"))).toBe(join(top, "a"));
});

test("--config names a file that must be there, and its repo is relative to it", async () => {
  await mkdir(join(top, "conf"));
  await writeFile(join(top, "conf/x.json"), JSON.stringify({ repo: "../b" }));
  expect(await root({ config: "conf/x.json" }, top)).toBe(join(top, "b"));
  await expect(root({ config: "none.json" }, top)).rejects.toMatchObject({ exit: 2 });
});

test("a named folder that no init has marked is refused", async () => {
  await repository(join(top, "plain"), false);
  await expect(root({ repo: "plain" }, top)).rejects.toThrow(/notesd init plain/);
  await expect(root({ repo: "nowhere" }, top)).rejects.toMatchObject({ exit: 2 });
});
