/**
 * Where `notesd init` makes or adopts: the folder asked for, or `.notes` inside a repository that holds
 * other things, which the outer repository then ignores.
 */
import { appendFile, mkdir, readFile, realpath } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import { INNER_FOLDER, isMarked } from "../client/find-repository.ts";
import { ProcessError } from "../domain/process-error.ts";
import { type GitPlace, gitPlaceAt, gitPlacesAround } from "../lib/git-dir.ts";
import { trackedPaths } from "../store/create-repository.ts";

interface PlaceWish {
  /** As given on the command line; null: the current folder. */
  readonly dir: string | null;
  readonly cwd: string;
  readonly here: boolean;
  /** Asked when a repository holds other tracked files; null: there is nobody to ask. */
  readonly ask: ((question: string) => Promise<boolean>) | null;
}

/**
 * The folder to initialise, absolute. A folder inside another repository is put on that one's ignore list.
 * @throws ProcessError USAGE when a repository holds other files and nobody decided
 */
export async function initPlace(wish: PlaceWish): Promise<string> {
  const dir = resolve(wish.cwd, wish.dir ?? ".");
  const around = await gitPlacesAround(await nearestReal(dir));
  const outer = around[0];
  if (!outer) return dir;
  const at = await gitPlaceAt(dir);
  if (!at && wish.dir !== null && !wish.here) return inside(outer, dir);
  if (await isMarked(outer)) return outer.root;
  if (wish.here || !(await holdsOtherFiles(outer))) return outer.root;
  const proposed = join(outer.root, INNER_FOLDER);
  const question =
    `${outer.root} is a repository with other files in it.\n` +
    `Make a note repository of its own in ${proposed}, ignored by the outer one?`;
  if (!wish.ask) {
    throw new ProcessError(
      "USAGE",
      `${outer.root} is a repository with other tracked files. Choose one of the two:\n` +
        `  notesd init ${proposed}   a note repository of its own, ignored by the outer one\n` +
        `  notesd init --here        notes on this repository's own branch`,
    );
  }
  if (await wish.ask(question)) return inside(outer, proposed);
  throw new ProcessError("USAGE", "Nothing was changed. To use the repository itself: notesd init --here");
}

async function holdsOtherFiles(place: GitPlace): Promise<boolean> {
  const tracked = await trackedPaths(place.root, place.gitDir);
  return tracked.some((path) => !path.endsWith(".md") && !/^\.git(?:ignore|attributes)$/.test(path));
}

async function inside(outer: GitPlace, dir: string): Promise<string> {
  const path = relative(outer.root, await resolveReal(dir))
    .split(sep)
    .join("/");
  if (path === "" || path.startsWith("../")) return dir;
  const tracked = await trackedPaths(outer.root, outer.gitDir);
  if (tracked.some((file) => file.startsWith(`${path}/`))) {
    throw new ProcessError(
      "USAGE",
      `${dir} holds files that the repository ${outer.root} tracks. Choose an empty folder, or notesd init --here.`,
    );
  }
  await ignore(outer, path);
  return dir;
}

/** Put a folder into the outer repository's own exclude file, which is nobody's commit. */
async function ignore(outer: GitPlace, path: string): Promise<void> {
  const file = join(outer.gitDir, "info", "exclude");
  const line = `/${path.replace(/[\\*?[\]!# ]/g, "\\$&")}/`;
  const text = await readFile(file, "utf8").catch(() => "");
  if (text.split(/\r?\n/).includes(line)) return;
  await mkdir(dirname(file), { recursive: true });
  await appendFile(file, `${text === "" || text.endsWith("\n") ? "" : "\n"}${line}\n`);
}

/** The folder itself, or the nearest one above it that exists. */
async function nearestReal(dir: string): Promise<string> {
  for (let at = dir; ; at = dirname(at)) {
    const real = await realpath(at).catch(() => null);
    if (real !== null || dirname(at) === at) return real ?? at;
  }
}

async function resolveReal(dir: string): Promise<string> {
  for (let at = dir, rest = ""; ; rest = join(at.slice(dirname(at).length), rest), at = dirname(at)) {
    const real = await realpath(at).catch(() => null);
    if (real !== null || dirname(at) === at) return join(real ?? at, rest);
  }
}
