/**
 * The Git merge driver `notesd`: a person's own merge, pull, rebase, cherry-pick or stash merges notes as notes. What
 * doesn't merge leaves their side as it is, keeps the other under refs/notesd/conflicts and tells of it; no marker
 * ever gets into a file. Works without a daemon. Where this program is gone Git's own merge of lines does it.
 *
 * @see gitattributes(5), "Defining a custom merge driver" · storage, section 5
 */
import { access, readFile, writeFile } from "node:fs/promises";
import { isAbsolute, join, resolve } from "node:path";
import { blobIdOf, fileId } from "../domain/identity.ts";
import { mergeVirtualBase } from "../domain/merge.ts";
import { NOTE_TYPES } from "../domain/note.ts";
import { repoPath } from "../domain/note-path.ts";
import { ProcessError } from "../domain/process-error.ts";
import { systemClock } from "../lib/clock.ts";
import { readGitConfig } from "../lib/git-config.ts";
import { type GitPlace, gitPlacesAround } from "../lib/git-dir.ts";
import { noteWords } from "../notebook/reconcile/note-words.ts";
import { openConflicts } from "../store/conflicts.ts";
import { gitObjects } from "../store/objects/objects.ts";
import { gitLocks } from "../store/refs/git-lock.ts";
import type { Surroundings } from "./resolve.ts";

const LOCK_WAIT_MS = 5_000;

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** What `init` sets in Git's config so that the attribute `merge=notesd` means this program. */
export function mergeDriverConfig({ gitDir }: GitPlace): Readonly<Record<string, string>> {
  // Git puts its own words in place of a % and a letter.
  const bin = quoted(join(gitDir, "notesd", "bin")).replaceAll("%", "%%");
  const driver = (option: string) =>
    `test -x ${bin} && ${bin} merge-driver ${option}%O %A %B %P || git merge-file --marker-size=%L %A %O %B`;
  return {
    "merge.notesd.name": "notes, merged as notes",
    "merge.notesd.driver": driver(""),
    // Of several merge bases Git makes one: there is nobody yet to tell of a conflict.
    "merge.notesd.recursive": "notesd-base",
    "merge.notesd-base.name": "where notes parted",
    "merge.notesd-base.driver": driver("--base "),
  };
}

/** Those of `mergeDriverConfig` that stand as it made them; a value that someone changed since is theirs. */
export async function mergeDriverKeys(place: GitPlace): Promise<string[]> {
  const values = await readGitConfig(join(place.gitDir, "config"));
  return Object.entries(mergeDriverConfig(place)).flatMap(([key, value]) =>
    values.get(key)?.at(-1) === value ? [key] : [],
  );
}

/** Why Git merges notes by lines here and what to do, as `doctor` says it; null: it knows the driver. */
export async function mergedByLines(place: GitPlace): Promise<string | null> {
  const values = await readGitConfig(join(place.gitDir, "config"));
  const why = "so a git merge or pull merges notes by lines; notesd init sets it.";
  if (!values.has("merge.notesd.driver")) return `merge.notesd.driver is unset in Git's config, ${why}`;
  const files = [join(place.root, ".gitattributes"), join(place.gitDir, "info", "attributes")];
  const texts = await Promise.all(files.map((file) => readFile(file, "utf8").catch(() => "")));
  return texts.join("\n").includes("merge=notesd") ? null : `No file has the attribute merge=notesd, ${why}`;
}

/**
 * Merge one file, in place of Git.
 *
 * @param args `[--base] %O %A %B %P`: base, ours (where the result goes), theirs, and the path that they are of
 * @returns 0; otherwise nothing was written and Git goes on by lines
 * @throws ProcessError USAGE
 */
export async function mergeDriver(
  args: readonly string[],
  around: Surroundings,
  say: (text: string) => void,
): Promise<number> {
  const isBase = args[0] === "--base";
  const [base, ours, theirs, name] = isBase ? args.slice(1) : args;
  if (base === undefined || ours === undefined || theirs === undefined || name === undefined)
    throw new ProcessError("USAGE", "merge-driver is called by Git: [--base] %O %A %B %P");
  const bytesOf = (file: string) => readFile(resolve(around.cwd, file));
  const [from, mine, other] = [await bytesOf(base), await bytesOf(ours), await bytesOf(theirs)];
  const common = from.length === 0 ? null : from;
  const path = repoPath(name);
  if (path === null) throw new ProcessError("USAGE", `${JSON.stringify(name)} is no path of a note.`);
  const words = noteWords(new Set(Object.keys(NOTE_TYPES)));
  const merged = isBase ? mergeVirtualBase([mine, other], common) : words.merge(path, common, mine, other);
  if (merged !== null) {
    if (Buffer.compare(merged, mine) !== 0) await writeFile(resolve(around.cwd, ours), merged);
    return 0;
  }
  const own = await ownGitDir(around);
  const gitdir = await commonGitDir(own);
  const noteId = words.describe(path, mine).id ?? words.describe(path, other).id ?? fileId(path, () => false);
  const objects = gitObjects(gitdir);
  const locks = gitLocks({ gitdir, clock: systemClock, lockWaitMs: LOCK_WAIT_MS });
  const stored = (bytes: Uint8Array | null) => {
    const id = bytes === null ? null : blobIdOf(bytes);
    return id !== null && objects.has(id) ? id : null;
  };
  const sides = { base: stored(common), ours: stored(mine), theirs: blobIdOf(other) };
  const since = new Date(systemClock.now()).toISOString();
  await openConflicts(gitdir, objects, locks).keep({ note_id: noteId, path, since, ...sides }, other);
  objects.close();
  // In a rebase Git calls "ours" what one rebases onto, and "theirs" what one wrote oneself.
  const outcome = (await isRebasing(own))
    ? "It is as on the branch that you rebase onto; your version is kept"
    : "It is as on yours; the other side is kept";
  say(
    `notesd: ${path} was changed differently on both sides. ${outcome}, and this lists both: notesd conflicts ${noteId}\n`,
  );
  return 0;
}

async function isRebasing(gitDir: string): Promise<boolean> {
  const has = (name: string) =>
    access(join(gitDir, name)).then(
      () => true,
      () => false,
    );
  // `git am` has the second folder as well, with another file in it.
  return (await has("rebase-merge")) || (await has("rebase-apply/rebasing"));
}

/** `mergeDriver` as a process of Git's, without the command line. @returns the exit code */
export async function runMergeDriver(
  args: readonly string[],
  { env, stderr, cwd }: Pick<NodeJS.Process, "env" | "stderr" | "cwd">,
): Promise<number> {
  const say = (text: string) => void stderr.write(text);
  try {
    return await mergeDriver(args, { env, cwd: cwd(), warn: say }, say);
  } catch (error) {
    say(`notesd: ${error instanceof Error ? error.message : String(error)}\n`);
    return error instanceof ProcessError ? error.exit : 1;
  }
}

/** The Git directory of the working tree that is merged in. @throws ProcessError USAGE */
async function ownGitDir({ env, cwd }: Surroundings): Promise<string> {
  const named = env["GIT_DIR"];
  const gitDir =
    named === undefined
      ? (await gitPlacesAround(cwd))[0]?.gitDir
      : isAbsolute(named)
        ? named
        : resolve(cwd, named);
  if (gitDir === undefined) throw new ProcessError("USAGE", `${cwd} is in no Git repository.`);
  return gitDir;
}

/** The one that worktrees share. */
async function commonGitDir(gitDir: string): Promise<string> {
  const common = (await readFile(join(gitDir, "commondir"), "utf8").catch(() => "")).trim();
  return common === "" ? gitDir : resolve(gitDir, common);
}
