/**
 * Where a Git repository is: from a folder upwards, or exactly there. Nothing in it is changed.
 * A `.git` file (`gitdir: …`) is followed, as in worktrees and submodules.
 */
import { readFile, realpath, stat } from "node:fs/promises";
import { dirname, isAbsolute, join, resolve } from "node:path";

export interface GitPlace {
  /** Absolute folder of the working tree, symbolic links resolved. */
  readonly root: string;
  /** Absolute Git directory, symbolic links resolved. */
  readonly gitDir: string;
}

/** The repository whose working tree's top is `folder`, or null. */
export async function gitPlaceAt(folder: string): Promise<GitPlace | null> {
  const dotGit = join(folder, ".git");
  const found = await stat(dotGit).catch(() => null);
  if (!found) return null;
  let gitDir = dotGit;
  if (found.isFile()) {
    const target = /^gitdir: (.*)\n?$/.exec(await readFile(dotGit, "utf8"))?.[1]?.trim();
    if (!target) return null;
    gitDir = isAbsolute(target) ? target : resolve(folder, target);
  }
  if (!(await stat(join(gitDir, "HEAD")).catch(() => null))) return null;
  return { root: await realpath(folder), gitDir: await realpath(gitDir) };
}

/** Every repository that holds `folder`, the innermost first. */
export async function gitPlacesAround(folder: string): Promise<GitPlace[]> {
  const places: GitPlace[] = [];
  for (let at = resolve(folder); ; at = dirname(at)) {
    const place = await gitPlaceAt(at);
    if (place) places.push(place);
    if (dirname(at) === at) return places;
  }
}
