/**
 * `git fast-import` of what ours just wrote: the same commits, to the byte, into a copy of the repository as it was.
 * The stream is prepared before the clock runs. It writes one pack, no file and no index, and syncs once, at its end.
 */
import { spawnSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { git } from "../seed/write.mjs";

const REF = "refs/heads/main";

/**
 * @param {string} source  the repository whose commits are imported
 * @param {string} into  a folder to be, with a copy of its Git directory
 */
export function openFastImport(source, into) {
  mkdirSync(into, { recursive: true });
  spawnSync("cp", ["-a", "--reflink=never", join(source, ".git"), into]);
  const stream = join(into, "stream");
  let at = git(source, "rev-parse", REF).trim();

  /** Import what came since the last time, up to a commit. @returns {{ ms: number, count: number }} */
  function importTo(tip) {
    const count = Number(git(source, "rev-list", "--count", `${at}..${tip}`));
    if (count === 0) return { ms: 0, count };
    const out = openSync(stream, "w");
    const range = [`^${at}`, REF];
    run(
      source,
      ["fast-export", "--use-done-feature", "--reencode=no", "--reference-excluded-parents", ...range],
      "ignore",
      out,
    );
    closeSync(out);
    const input = openSync(stream, "r");
    const from = performance.now();
    run(into, ["fast-import", "--quiet", "--done"], input, "ignore");
    const ms = performance.now() - from;
    closeSync(input);
    rmSync(stream);
    const made = git(into, "rev-parse", REF).trim();
    if (made !== tip)
      throw new Error(`fast-import made ${made} of ${count} commits, and ours ended at ${tip}`);
    at = tip;
    return { ms, count };
  }

  return {
    /** What is not to be measured: bring the copy level with the source. */
    level: () => importTo(git(source, "rev-parse", REF).trim()),
    /** @returns {{ ms: number, count: number }} of the commits since `level` */
    importNew: () => importTo(git(source, "rev-parse", REF).trim()),
  };
}

function run(dir, args, input, output) {
  const { status, stderr } = spawnSync("git", ["-C", dir, ...args], { stdio: [input, output, "pipe"] });
  if (status !== 0) throw new Error(`git ${args[0]} ended with ${status}: ${stderr}`);
}
