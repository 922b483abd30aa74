import { EventEmitter } from "node:events";
import { type FSWatcher, mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { type WatchFolder, watchFolders } from "../../src/doors/watch-folders.ts";
import { mayHoldBranches } from "../../src/doors/watch-git.ts";
import { temporaryFolder } from "../support/git-repo.ts";

test("a lock beside a branch is no folder of branches, and what stands in one is", () => {
  expect(["refs/heads", "refs/heads/team", "refs/heads/main"].filter(mayHoldBranches)).toHaveLength(3);
  expect(["refs/heads/main.lock", "refs/heads/team/x.lock", "refs/tags"].filter(mayHoldBranches)).toEqual([]);
});

test("at an event of a name that can hold nothing, nothing is looked at, and of another it is watched", async () => {
  const root = temporaryFolder();
  mkdirSync(join(root, "refs/heads/main.lock"), { recursive: true });
  mkdirSync(join(root, "refs/heads/team"));
  const listeners = new Map<string, (event: string, name: string | null) => void>();
  const told = new Set<string>();
  const report = {
    changed: (path: string) => void told.add(path),
    failed: (error: unknown) => expect(error).toBeNull(),
  };
  const watchFolder: WatchFolder = (folder, onEvent) => {
    listeners.set(folder, onEvent);
    // Nothing of it is used here.
    return new EventEmitter() as FSWatcher;
  };
  await watchFolders(root, ["refs/heads"], () => [], report, watchFolder, mayHoldBranches);
  mkdirSync(join(root, "refs/heads/later"));
  for (const name of ["main.lock", "main", "later"])
    listeners.get(join(root, "refs/heads"))?.("rename", name);
  await vi.waitFor(() => expect(listeners.has(join(root, "refs/heads/later"))).toBe(true));
  expect([...told]).toEqual(["refs/heads/main", "refs/heads/later"]);
  expect(listeners.has(join(root, "refs/heads/main.lock"))).toBe(false);
});
