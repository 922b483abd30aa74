/**
 * A repository of many notes, as the product would have made it over months; made once a machine and copied after.
 * `node test/bench/seed.mjs --notes 100000 DIR` (needs `npm run build`; `--fresh` makes it anew).
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { git, writeRepository } from "./seed/write.mjs";

/** Raised when a seed of the same size would look otherwise. */
const FORMAT = 1;
/** Nobody makes a repository for longer: what is older was left by a process that died. */
const ABANDONED_MS = 30 * 60_000;
const kept = () => join(tmpdir(), "notesd-bench-seeds");

/**
 * A fresh copy of a repository of so many notes; every file is a copy of its own.
 * @param {string} dir  absent, or empty
 * @param {number} notes
 * @param {{ fresh?: boolean, say?: (line: string) => void }} [options]
 */
export async function seedRepository(dir, notes, { fresh = false, say = () => {} } = {}) {
  if (existsSync(dir) && readdirSync(dir).length > 0)
    throw new Error(`${dir} is not empty. Name a new folder.`);
  const source = join(kept(), `${notes}-v${FORMAT}`);
  if (fresh) rmSync(source, { recursive: true, force: true });
  if (!existsSync(source)) await make(source, notes, say);
  mkdirSync(dir, { recursive: true });
  execFileSync("cp", ["-a", "--reflink=never", `${source}/.`, dir]);
  // A copied file is another inode: Git looks at each once, here and not in what is measured.
  git(dir, "update-index", "-q", "--refresh");
}

/** Make it beside and rename it, so that a half made one is never taken; of two at once the second waits. */
async function make(source, notes, say) {
  mkdirSync(kept(), { recursive: true });
  const building = `${source}.building`;
  try {
    mkdirSync(building);
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
    say(`another process is making ${notes} notes: waiting`);
    while (existsSync(building)) {
      if (Date.now() - statSync(building).mtimeMs > ABANDONED_MS) {
        rmSync(building, { recursive: true, force: true });
        break;
      }
      await new Promise((done) => setTimeout(done, 500));
    }
    return existsSync(source) ? undefined : make(source, notes, say);
  }
  try {
    const began = performance.now();
    let lastMs = began;
    await writeRepository(join(building, "repo"), notes, (commits) => {
      if (performance.now() - lastMs < 5_000) return;
      lastMs = performance.now();
      say(`${commits} commits in ${Math.round((lastMs - began) / 1000)} s`);
    });
    renameSync(join(building, "repo"), source);
    say(`made ${notes} notes in ${Math.round((performance.now() - began) / 1000)} s`);
  } finally {
    rmSync(building, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values, positionals } = parseArgs({
    options: { notes: { type: "string", default: "1000" }, fresh: { type: "boolean", default: false } },
    allowPositionals: true,
  });
  const [dir] = positionals;
  const notes = Number(values.notes);
  if (dir === undefined || positionals.length > 1 || !Number.isInteger(notes) || notes < 1) {
    console.error("usage: node test/bench/seed.mjs [--notes N] [--fresh] DIR");
    process.exit(2);
  }
  await seedRepository(resolve(dir), notes, { fresh: values.fresh, say: (line) => console.error(line) });
}
