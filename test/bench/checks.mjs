/** What every repository that was written must pass in the end, or the bench fails. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

/**
 * `git fsck --strict` and `git verify-pack` of every pack; for a repository of ours also a clean `git status`.
 * @param {string} dir
 * @param {{ clean?: boolean }} [options]
 * @throws Error with what Git says
 */
export function checkRepository(dir, { clean = false } = {}) {
  run(dir, ["fsck", "--strict", "--no-dangling", "--no-progress"]);
  const folder = join(dir, ".git/objects/pack");
  const packs = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".idx")) : [];
  if (packs.length > 0) run(dir, ["verify-pack", ...packs.map((name) => join(folder, name))]);
  if (!clean) return;
  const status = run(dir, ["status", "--porcelain"]);
  if (status !== "") throw new Error(`${dir}: git status is not clean:\n${status.slice(0, 1_000)}`);
}

function run(dir, args) {
  const { status, stdout, stderr } = spawnSync("git", ["-C", dir, ...args], {
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  const said = `${stdout}${stderr}`;
  if (status === 0 && !/^(?:error|warning|missing|broken)/m.test(said)) return stdout;
  throw new Error(`${dir}: git ${args[0]} ended with ${status}: ${said.slice(0, 1_000)}`);
}
