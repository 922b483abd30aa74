/**
 * All of a history folded into parts that nobody sees yet, while it is read and between turns of the loop. Files are
 * held as the bytes that they become at the head, so that a large history leaves the heap small.
 */
import type { CommitEvents, ReadBlob } from "../domain/event.ts";
import type { RepoPath } from "../domain/note.ts";
import { slicer } from "../lib/slicer.ts";
import { type FileBlob, ParsedCache } from "./parsed-cache.ts";
import type { ParseFile } from "./parsed-file.ts";
import { blobsOf, emptyParts, fillHead, foldAll, onlyNotes, type Parts } from "./parts.ts";
import { slices } from "./slices.ts";

const SLICE_COMMITS = 512;

interface Reading {
  readonly parse: ParseFile;
  readonly isNotePath: (path: RepoPath) => boolean;
  /** See `emptyParts`. */
  readonly requests?: number;
}

/** @param commits  parents first; the last is the head @throws what reading them or a blob throws */
export async function rebuiltParts(
  commits: AsyncIterable<CommitEvents> | Iterable<CommitEvents>,
  read: ReadBlob,
  { parse, isNotePath, requests }: Reading,
): Promise<Parts> {
  const parts = emptyParts(requests);
  const cache = new ParsedCache(parse, read);
  const newest = new Map<RepoPath, FileBlob>();
  let to = -1;
  const turn = slicer();
  for await (const slice of slices(commits, SLICE_COMMITS)) {
    const own = slice.map((commit) => onlyNotes(commit, isNotePath));
    const files = own.flatMap(blobsOf);
    await cache.load(files);
    for (const commit of own) {
      for (const number of foldAll(parts.graph, [commit], cache).keys()) to = number;
      const pause = turn();
      if (pause) await pause;
    }
    for (const file of files) {
      const older = newest.get(file.path);
      if (older && older.blob !== file.blob) cache.drop(older);
      newest.set(file.path, file);
      cache.shrink(file);
      const pause = turn();
      if (pause) await pause;
    }
  }
  if (to >= 0) await fillHead(parts, to, cache);
  parts.log.requests.forgetOld();
  return parts;
}
