import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { gitPlaceAt } from "../../src/lib/git-dir.ts";
import { installHooks, refreshHooks } from "../../src/main/hooks.ts";
import { git, removeFolder, tempFolder } from "../support/daemon.ts";

let repo: string;
beforeEach(() => {
  repo = tempFolder();
  git(repo, "init", "-q");
});
afterEach(() => removeFolder(repo));

const place = async () => {
  const found = await gitPlaceAt(repo);
  if (!found) throw new Error("git init made no repository");
  return found;
};
const hook = (name: string) => readFileSync(join(repo, ".git/notesd/hooks", name), "utf8");

test("every start brings the hooks of its version, whatever core.hooksPath says by then", async () => {
  await installHooks(await place());
  rmSync(join(repo, ".git/notesd/hooks/pre-receive"));
  git(repo, "config", "core.hooksPath", "elsewhere");
  expect(await refreshHooks(await place())).toBe("elsewhere");
  expect(hook("pre-receive")).toContain("hook pre-receive");
  expect(git(repo, "config", "core.hooksPath")).toBe("elsewhere");
});

test("a proc-receive of the repository's own goes on to answer Git", async () => {
  writeFileSync(join(repo, ".git/hooks/proc-receive"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
  await installHooks(await place());
  expect(hook("proc-receive")).toBe(hook("run-earlier"));
  expect(hook("post-commit")).toBe(hook("post-merge"));
});
