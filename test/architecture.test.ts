/** The picture in the README, held: who may import whom, where outside packages live, how long a file may be. */
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, normalize, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const SRC = fileURLToPath(new URL("../src", import.meta.url));

/** A layer may import itself and these. `notebook:type` means by `import type` only. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  lib: [],
  domain: ["lib"],
  store: ["domain", "lib"],
  index: ["domain", "lib"],
  context: ["index", "domain", "lib"],
  notebook: ["context", "store", "index", "domain", "lib"],
  actions: ["notebook:type", "index:type", "store:type", "domain", "lib"],
  client: ["actions", "domain", "lib"],
  doors: ["client", "actions", "notebook:type", "index:type", "store:type", "domain", "lib"],
  main: ["doors", "client", "actions", "notebook", "context", "store", "index", "domain", "lib"],
};

const HOMES: Record<string, readonly string[]> = {
  "isomorphic-git": ["store"],
  chokidar: ["doors"],
  ws: ["client", "doors"],
  "gray-matter": ["domain"],
  yaml: ["domain"],
  diff: ["domain"],
  canonicalize: ["lib"],
  commander: ["doors"],
  "cli-table3": ["doors"],
  "@secretlint": ["domain"],
  "better-sqlite3": ["lib"],
  "node:sqlite": ["lib"],
};

const files = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((f) => /\.tsx?$/.test(f));
const imports = files.flatMap((file) => {
  const text = readFileSync(join(SRC, file), "utf8");
  const found = text.matchAll(/^(?:import|export)\s+(type\s)?[^;]*?from\s+"([^"]+)"|import\("([^"]+)"\)/gms);
  return [...found].map((m) => ({ file, typeOnly: m[1] !== undefined, target: m[2] ?? m[3] ?? "" }));
});
const layerOf = (file: string) => file.split("/")[0] ?? "";

test("imports point down, and doors and actions see the notebook by type only", () => {
  const wrong = imports.filter(({ file, typeOnly, target }) => {
    if (!target.startsWith(".")) return false;
    const from = layerOf(file);
    const to = layerOf(relative(SRC, normalize(join(SRC, dirname(file), target))));
    const allowed = MAY_IMPORT[from] ?? [];
    return from !== to && !allowed.includes(to) && !(typeOnly && allowed.includes(`${to}:type`));
  });
  expect(wrong).toEqual([]);
});

test("outside packages stay in their home", () => {
  const wrong = imports.filter(({ file, target }) => {
    const homes = HOMES[target] ?? HOMES[target.split("/")[0] ?? ""];
    return homes !== undefined && !homes.includes(layerOf(file));
  });
  expect(wrong).toEqual([]);
});

/** Agents paste what a message says; see the contract on errors. */
const DESTRUCTIVE =
  /\bgit (?:worktree remove|reset|clean|push (?:--force|-f)|branch -D|checkout --|stash drop|update-ref -d|filter-\w+|gc --prune)\b|\brm -\w*[rf]/;

test("no text holds a complete destructive command", () => {
  const texts = files.flatMap((file) => {
    const code = readFileSync(join(SRC, file), "utf8").replace(/\/\*.*?\*\/|(?<=^|\s)\/\/[^\n]*/gs, "");
    return (code.match(/"(?:[^"\\\n]|\\.)*"|`[^`]*`/g) ?? []).map((text) => `${file}: ${text}`);
  });
  expect(texts.length).toBeGreaterThan(1000);
  expect(texts.filter((text) => DESTRUCTIVE.test(text))).toEqual([]);
});

test("no folder holds more files than one looks through, and a file of src has its test where it lies", () => {
  const counts = new Map<string, number>();
  for (const file of files) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
  expect([...counts].filter(([, count]) => count > 40)).toEqual([]);
  const tests = readdirSync(join(SRC, "../test"), { recursive: true, encoding: "utf8" });
  const lies = new Map<string, string[]>();
  for (const file of files) lies.set(basename(file), [...(lies.get(basename(file)) ?? []), dirname(file)]);
  const astray = tests.filter((path) => {
    const name = /^(?!model\/|e2e\/).*?([^/]+?)(?:\.slow)?\.test\.ts$/.exec(path)?.[1];
    const folders = lies.get(`${name}.ts`);
    return folders !== undefined && !folders.includes(dirname(path));
  });
  expect(astray).toEqual([]);
});

test("no file is over 300 lines and no folder is called utils", () => {
  const long = files.filter((f) => readFileSync(join(SRC, f), "utf8").split("\n").length > 301);
  expect(long).toEqual([]);
  expect(files.filter((f) => /(^|\/)(utils?|helpers?|common|misc)(\/|\.ts)/.test(f))).toEqual([]);
});
