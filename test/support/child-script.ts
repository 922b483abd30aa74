/** Real child processes for tests: a TypeScript file of this project, bundled once and run by Node. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";
import { afterAll, afterEach } from "vitest";

// Inside node_modules, so that the packages left out of the bundle are found from there.
const CACHE = fileURLToPath(new URL("../../node_modules/.cache", import.meta.url));
const folders: string[] = [];
const children: ChildProcess[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});
afterAll(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/**
 * Bundle a script of `test/support` and return its path; removed after the file's tests.
 * @param name without `.ts`
 */
export async function childScript(name: string): Promise<string> {
  mkdirSync(CACHE, { recursive: true });
  const outDir = mkdtempSync(join(CACHE, "notesd-test-"));
  folders.push(outDir);
  const ssr = fileURLToPath(new URL(`./${name}.ts`, import.meta.url));
  const output = { entryFileNames: "script.mjs" };
  await build({
    configFile: false,
    logLevel: "silent",
    build: { ssr, outDir, target: "node20", minify: false, rollupOptions: { output } },
  });
  return join(outDir, "script.mjs");
}

export interface Child {
  readonly pid: number;
  /** The next line on its standard output; rejects when it ends without one. */
  line(): Promise<string>;
  say(text: string): void;
  signal(name: NodeJS.Signals): void;
  /** Resolves when it is gone and reaped. */
  readonly ended: Promise<void>;
}

/** Run a script; killed after the test if it still lives. */
export function startChild(script: string, ...args: string[]): Child {
  const child = spawn(process.execPath, [script, ...args], { stdio: ["pipe", "pipe", "inherit"] });
  children.push(child);
  const lines: string[] = [];
  const waiting: { resolve: (line: string) => void; reject: (error: Error) => void }[] = [];
  let rest = "";
  child.stdout.setEncoding("utf8").on("data", (part: string) => {
    const parts = (rest + part).split("\n");
    rest = parts.pop() ?? "";
    for (const line of parts) {
      const next = waiting.shift();
      if (next === undefined) lines.push(line);
      else next.resolve(line);
    }
  });
  const ended = new Promise<void>((resolve) => {
    child.once("close", () => {
      for (const { reject } of waiting.splice(0)) reject(new Error("the child ended without another line"));
      resolve();
    });
  });
  return {
    pid: child.pid ?? -1,
    line() {
      const ready = lines.shift();
      if (ready !== undefined) return Promise.resolve(ready);
      return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
    },
    say: (text) => child.stdin.write(`${text}\n`),
    signal: (name) => child.kill(name),
    ended,
  };
}
