/** Real input: every Markdown file that the installed packages hold, copied in as a person would. */

import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { git, initRepo, openRpc, removeFolder, startDaemon } from "../support/daemon.ts";
import { until } from "../support/wait.ts";

const MODULES = fileURLToPath(new URL("../../node_modules", import.meta.url));
let repo = "";
afterAll(() => removeFolder(join(repo, "..")));

const sha = (path: string) => createHash("sha256").update(readFileSync(path)).digest("hex");

test("every Markdown file of the installed packages is listed, quarantined or held for a credential in it, and no byte of any changes", async () => {
  repo = initRepo(["--roots", "."]);
  const sources = readdirSync(MODULES, { recursive: true, encoding: "utf8", withFileTypes: true }).filter(
    (entry) =>
      entry.isFile() &&
      entry.name.endsWith(".md") &&
      !/\/\.[^/]*(\/|$)/.test(entry.parentPath.slice(MODULES.length)),
  );
  const before = new Map<string, string>();
  for (const entry of sources) {
    const path = join(
      "packages",
      entry.parentPath.slice(MODULES.length).replaceAll("node_modules", "deps"),
      entry.name,
    );
    mkdirSync(join(repo, path, ".."), { recursive: true });
    cpSync(join(entry.parentPath, entry.name), join(repo, path));
    before.set(path, sha(join(repo, path)));
  }
  expect(before.size).toBeGreaterThan(300);

  const started = performance.now();
  const daemon = await startDaemon(repo);
  const rpc = await openRpc(daemon.url, daemon.token);
  const readyMs = performance.now() - started;
  const { commit } = {
    commit: await until(
      "the files to be adopted",
      async () => {
        const status = await rpc.call("daemon.status");
        const told = status.notes + status.quarantined.length + status.held.length;
        return told >= before.size ? status.head : null;
      },
      120_000,
    ),
  };
  const adoptedMs = performance.now() - started;

  const status = await rpc.call("daemon.status");
  /** Documentation shows credentials; such a file waits for its owner's word. */
  const held: string[] = status.held.map(({ path }: { path: string }) => path);
  expect(held.length).toBeLessThan(before.size / 50);
  const quarantined = new Map<string, string>(
    status.quarantined.map((q: { path: string; reason: string }) => [q.path, q.reason]),
  );
  const listed = new Set<string>();
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await rpc.call("notes.list", { limit: 1000, ...(cursor ? { cursor } : {}) });
    for (const note of page.notes) listed.add(note.path);
    cursor = page.next_cursor;
  }
  expect(
    [...before.keys()].filter((path) => !listed.has(path) && !quarantined.has(path) && !held.includes(path)),
  ).toEqual([]);
  expect([...quarantined.values()].filter((reason) => reason.length < 10)).toEqual([]);
  expect([...before].filter(([path, hash]) => sha(join(repo, path)) !== hash).map(([path]) => path)).toEqual(
    [],
  );
  expect(git(repo, "status", "--porcelain", "-uall")).toBe(
    held
      .sort()
      .map((path) => `?? ${path}`)
      .join("\n"),
  );
  expect(git(repo, "fsck", "--strict", "--no-dangling")).toBe("");
  expect(commit).toBe(git(repo, "rev-parse", "HEAD"));
  expect(await rpc.call("daemon.verify")).toMatchObject({ equal: true });
  rpc.close();
  await daemon.stop();
  console.log(
    `${before.size} files: ${listed.size} listed, ${quarantined.size} quarantined, ${held.length} held; ready in ${Math.round(readyMs)} ms, all adopted in ${Math.round(adoptedMs)} ms`,
  );
});
