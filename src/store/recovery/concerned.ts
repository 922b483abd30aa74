/** Which files a start has to look at: those of publications that were cut short, and no file that is known to be in its place. Pure. */
import type { BlobId, RepoPath } from "../../domain/note.ts";
import type { OpenIntent } from "../commit/intents.ts";

/**
 * Intents to carry out, oldest first, each with the files alone that are to be looked at: all that `published` names, with
 * what earlier and later publications did to them, and those of which the table says less than the intents, because the
 * process ended before it was written.
 *
 * @param published  whose files may not be in their places
 * @param placed     whose files are
 * @param base       what the table says that a file was last known to hold
 */
export function concerned(
  published: readonly OpenIntent[],
  placed: readonly OpenIntent[],
  base: (path: RepoPath) => BlobId | null,
): OpenIntent[] {
  const paths = new Set(published.flatMap(({ intent }) => intent.files.map(({ path }) => path)));
  for (const path of untold(placed, base)) paths.add(path);
  const parts = placed.flatMap((open): OpenIntent[] => {
    const files = open.intent.files.filter(({ path }) => paths.has(path));
    return files.length === 0 ? [] : [{ ...open, intent: { ...open.intent, files } }];
  });
  return [...published, ...parts].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Paths of which the table still says what one of the publications replaced. */
function untold(placed: readonly OpenIntent[], base: (path: RepoPath) => BlobId | null): RepoPath[] {
  const last = new Map<RepoPath, BlobId | null>();
  const replaced = new Map<RepoPath, Set<BlobId | null>>();
  for (const { intent } of placed) {
    for (const { path, before, after, left } of intent.files) {
      if (left === true) continue;
      last.set(path, after);
      const earlier = replaced.get(path);
      if (earlier) earlier.add(before);
      else replaced.set(path, new Set([before]));
    }
  }
  return [...last].flatMap(([path, after]) => {
    const held = base(path);
    return held !== after && replaced.get(path)?.has(held) ? [path] : [];
  });
}
