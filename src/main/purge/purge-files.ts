/**
 * Files that are no objects and hold what is purged: which of them a purge replaces or removes, and which a person must
 * look at. What is a person's own (settings, hooks, files that are not committed) is never written here.
 */
import { lstatSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { blobIdOf } from "../../domain/identity.ts";
import type { PurgeFile } from "../../doors/cli/purge-report.ts";
import { orAbsent, writeDurablySync } from "../../lib/durable-file.ts";
import type { GitPlace } from "../../lib/git-dir.ts";
import type { PlacedFile } from "../../store/purge/places.ts";
import { type Remain, remainsInGitDir, remainsInTree } from "../../store/purge/remains.ts";
import type { PurgeRules } from "./purge-rules.ts";

export interface FilesSought {
  readonly rules: PurgeRules;
  /** Files of HEAD that hold it, whose working files are brought level. */
  readonly files: readonly PlacedFile[];
}

/** Of the Git directory: what Git and we make again, or need no more. */
const REMOVED =
  /^(?:logs\/|rr-cache\/|lost-found\/|sharedindex\.|(?:FETCH_HEAD|ORIG_HEAD|AUTO_MERGE|REBASE_HEAD|gitk\.cache|[A-Z]+_EDITMSG|MERGE_MSG|SQUASH_MSG)$|notesd\/(?:(?:checkpoint|heads|seen\.json)$|(?:shared|aside|prepared|intents|vectors|search|incoming-|repack-)))/;
/** What is written anew from the new history. */
const REWRITTEN = /^(?:index|packed-refs)$|^notesd\/base(?:\.log)?$|^refs\//;
const LOGS = /^notesd\/log(?:\.\d+)?$/;

/**
 * Look through both folders, and with `act` clear what may be cleared.
 * @param act after the new history stands: what should be gone by then and isn't is left
 */
export function filesWith(
  { root, gitDir }: GitPlace,
  { rules, files }: FilesSought,
  act: boolean,
): PurgeFile[] {
  const { forms } = rules;
  const inGit = remainsInGitDir(gitDir, forms).map(({ path, why }): PurgeFile => {
    const shown = `.git/${path}`;
    const at = join(gitDir, path);
    if (REMOVED.test(path)) {
      if (act) rmSync(at, { recursive: true, force: true });
      return { path: shown, done: "removed", why: null };
    }
    if (LOGS.test(path) && why === "holds") {
      if (act) writeDurablySync(at, forms.replace(readFileSync(at)), { mode: 0o600 });
      return { path: shown, done: "replaced", why: null };
    }
    if (!act && REWRITTEN.test(path)) return { path: shown, done: "replaced", why: null };
    return { path: shown, done: "left", why: leftBecause(why) };
  });
  const level = new Map(files.map(({ path, blob }) => [path, blob]));
  const inTree = remainsInTree(root, forms).map(({ path, why }): PurgeFile => {
    if (path === "notes_index.json") {
      if (act) rmSync(join(root, path), { force: true });
      return { path, done: "removed", why: null };
    }
    const blob = level.get(path);
    const isLevel = blob !== undefined && blob === blobAt(join(root, path));
    if (isLevel) return { path, done: "replaced", why: null };
    // A folder is named by the files below it.
    return { path, done: "left", why: leftBecause(why) };
  });
  const named = (file: PurgeFile) =>
    file.done === "left" && [...level.keys()].some((path) => path.startsWith(`${file.path}/`));
  return once([...inGit, ...inTree.filter((file) => !named(file))]);
}

const leftBecause = (why: Remain["why"]) =>
  why === "unread"
    ? "it can't be read here; look into it"
    : why === "named"
      ? "its name holds it; rename it"
      : "it holds it and is not ours to change; edit or remove it";

function blobAt(path: string): string | null {
  const stat = orAbsent(() => lstatSync(path));
  return stat?.isFile() ? blobIdOf(readFileSync(path)) : null;
}

/** A file may hold it and be named so. */
function once(files: readonly PurgeFile[]): PurgeFile[] {
  const first = new Map<string, PurgeFile>();
  for (const file of files) if (!first.has(file.path)) first.set(file.path, file);
  return [...first.values()];
}
