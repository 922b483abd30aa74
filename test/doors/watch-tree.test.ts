import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { NodeFsHandler } from "chokidar/handler.js";
import { afterEach, expect, test, vi } from "vitest";
import { watchTree } from "../../src/doors/watch-tree.ts";
import { temporaryFolder } from "../support/git-repo.ts";
import { until } from "../support/wait.ts";

afterEach(() => vi.restoreAllMocks());

test("a folder that chokidar met and never watches is looked at again within moments, and heard from then on", async () => {
  const root = temporaryFolder();
  mkdirSync(join(root, "notes"));
  const hints: string[] = [];
  const watcher = await watchTree(root, ["notes"], {
    changed: (path) => hints.push(path),
    failed: (error) => expect.unreachable(String(error)),
  });
  const given = join(root, "notes/given-up");
  let givenUpUntilMs = Number.POSITIVE_INFINITY;
  let watched = 0;
  const watch = NodeFsHandler.prototype._watchWithNodeFs;
  vi.spyOn(NodeFsHandler.prototype, "_watchWithNodeFs").mockImplementation(function (
    this: NodeFsHandler,
    ...args
  ) {
    // As when the folder changes under its hands: it says nothing, and goes on without.
    if (args[0] === given && performance.now() < givenUpUntilMs) return undefined;
    if (args[0] === given) watched++;
    return watch.apply(this, args);
  });
  mkdirSync(given);
  // All that is tried because the folder came is over by then.
  givenUpUntilMs = performance.now() + 100;
  await until("it to be watched", () => watched > 0);
  await until("a save in it to be heard", () => {
    writeFileSync(join(given, "a.md"), "text");
    return hints.includes("notes/given-up/a.md");
  });
  await watcher.close();
});
