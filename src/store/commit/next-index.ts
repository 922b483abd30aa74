/** The Git index as a publication will leave it: only the entries of its own paths change. */
import type { BlobId, RepoPath } from "../../domain/note.ts";
import type { PreparedFile } from "../files/prepare-files.ts";
import type { GitIndex, IndexEdit } from "../git-index/git-index.ts";
import { linkEdit } from "../git-index/link-edit.ts";
import type { StoreParts } from "../store-parts.ts";
import type { Chain } from "./build-chain.ts";

export interface NextIndex {
  readonly index: GitIndex;
  readonly bytes: Buffer;
  /** Of the index that it was made from. */
  readonly signature: string;
}

/** The next index; null: nothing of it changes. @throws NotesError STORAGE as `readIndex` */
export function nextIndex(parts: StoreParts, chain: Chain, files: readonly PreparedFile[]): NextIndex | null {
  const { links = [] } = chain;
  if (files.length + links.length === 0) return null;
  const { index: before, signature } = parts.index.read();
  let behind = false;
  const linked = new Set(links.map(({ path }) => path));
  const edits: IndexEdit[] = files.flatMap(({ intent: { path, before: was, after: blob }, stat }) => {
    const { executable = false, indexed } = chain.changed.get(path) ?? {};
    // A move takes along what the branch has: also the mode.
    const mode = indexed === undefined ? {} : { mode: executable ? 0o100755 : 0o100644 };
    // What the entry holds was compared with what the branch had.
    const held = indexed === undefined ? was : (indexed as BlobId | null);
    const isBehind = isLeftBehind(parts, before, path, held);
    behind ||= isBehind;
    const expected = isBehind ? parts.workTree.base(path) : held;
    return linked.has(path) ? [] : [{ path, expected, blob, stat, executable, ...mode }];
  });
  for (const { path, before: was, after, indexed } of links) edits.push(linkEdit(path, was, after, indexed));
  // Paths that were not looked at have no edit, and then the tip's folders are not the index's.
  const moved = files.length === chain.changed.size && !behind ? chain.folders : undefined;
  const { index, bytes } = before.edit(edits, moved);
  return { index, bytes, signature };
}

/**
 * An entry that holds base where the branch holds something else: somebody moved the branch without files and index,
 * and nobody staged it. Left there, the person's next commit would take back what the branch gained.
 */
function isLeftBehind(
  { workTree }: StoreParts,
  index: GitIndex,
  path: RepoPath,
  held: BlobId | null,
): boolean {
  const base = workTree.base(path);
  if (base === held) return false;
  const entries = index.at(path);
  return entries.every(({ stage }) => stage === 0) && (entries[0]?.id ?? null) === base;
}

/** What an intent says of links. Also none: it says that the modes of files move along. */
export const linksOf = ({ move, links = [] }: Chain) => (move === undefined ? {} : { links });
