/** A history into a repository, by the product: `notesd init`, then the built store in full groups, then quiet. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openGitStore } from "../../../dist/store/git-store.js";
import { history } from "./history.mjs";

export const BIN = fileURLToPath(new URL("../../../dist/main/bin.js", import.meta.url));
const GROUP = 256;
/** The store puts small packs together when nobody writes; a month-old repository has seen that often. */
const QUIET_PACKS = 50;
const QUIET_WITHIN_MS = 60_000;

/** Who the person of a bench repository is, whatever the machine's Git says. */
export const PERSON = {
  GIT_AUTHOR_NAME: "Bench",
  GIT_AUTHOR_EMAIL: "bench@example.com",
  GIT_COMMITTER_NAME: "Bench",
  GIT_COMMITTER_EMAIL: "bench@example.com",
};

/** @param {string} dir @param {readonly string[]} args @returns {string} standard output @throws Error of a failed Git */
export const git = (dir, ...args) => gitWith(dir, "", ...args);

/** The same, with something to read. @param {string} input */
export const gitWith = (dir, input, ...args) =>
  execFileSync("git", ["-C", dir, ...args], {
    encoding: "utf8",
    maxBuffer: 1 << 30,
    env: { ...process.env, ...PERSON },
    input,
    stdio: ["pipe", "pipe", "pipe"],
  });

/**
 * Options of the product's store for a repository that `init` made.
 * @param {string} dir
 */
export function storeOptions(dir) {
  const gitdir = join(dir, ".git");
  const proofKey = Buffer.from(readFileSync(join(gitdir, "notesd/proof.key"), "utf8").trim(), "hex");
  return { root: dir, gitdir, branch: "main", roots: ["notes", "memory"], proofKey };
}

/** @param {string} dir */
export const packCount = (dir) =>
  readdirSync(join(dir, ".git/objects/pack")).filter((name) => name.endsWith(".pack")).length;

/** @param {string} dir  must be absent or empty */
export function init(dir) {
  execFileSync(process.execPath, [BIN, "init", dir], { stdio: ["ignore", "ignore", "inherit"] });
  git(dir, "config", "user.name", "Bench");
  git(dir, "config", "user.email", "bench@example.com");
}

/**
 * Make a repository of so many notes.
 * @param {string} dir  absent or empty
 * @param {number} notes
 * @param {(commits: number) => void} told  after each group
 */
export async function writeRepository(dir, notes, told = () => {}) {
  init(dir);
  git(dir, "config", "gc.auto", "0");
  const store = await openGitStore(storeOptions(dir));
  let group = [];
  let commits = 0;
  const write = async () => {
    const { outcomes } = await store.commit(group);
    const refused = outcomes.find(({ kind }) => kind !== "committed");
    if (refused !== undefined) throw new Error(`a draft was not committed: ${JSON.stringify(refused)}`);
    commits += group.length;
    group = [];
    told(commits);
  };
  for (const draft of history(notes)) {
    group.push(draft);
    if (group.length === GROUP) await write();
  }
  if (group.length > 0) await write();
  for (const end = Date.now() + QUIET_WITHIN_MS; packCount(dir) > QUIET_PACKS && Date.now() < end; ) {
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  await store.close();
  git(dir, "config", "--unset", "gc.auto");
}
