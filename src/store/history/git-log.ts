/**
 * History as events: which commits, in which order, and what each did to the notes. Reads objects through
 * a port, so that the store on disk and the one in memory give the same answers.
 * Invariant: an event is always a commit against its first parent.
 */
import type { CommitEvents, CommitInfo, NoteEvent } from "../../domain/event.ts";
import type { BlobId, CommitId, RepoPath } from "../../domain/note.ts";
import { byteCache } from "../../lib/byte-cache.ts";
import type { TreeChange, TreeFile } from "../note-store.ts";
import { slicer } from "../slicer.ts";
import { blobInTree, diffTrees, listTree, type PathFilter } from "../trees/tree-diff.ts";
import { lastChanges } from "./blame-merge.ts";
import * as graph from "./commit-graph.ts";
import { type CommitHeader, parseHeader } from "./commit-header.ts";

const EMPTY_BLOB = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";
/** Headers kept in memory, about 250 B each. */
const MAX_HEADERS = 20_000;
const TREE_BYTES = 8 << 20;

export interface LogSource {
  /** Content of a commit object. @throws NotesError UNKNOWN_COMMIT */
  readCommit(id: CommitId): Promise<Uint8Array>;
  /** Content of a tree object. */
  readTree(id: string): Promise<Uint8Array>;
  /** Header, message and proof of a raw commit. */
  parse(id: CommitId, raw: Uint8Array): CommitInfo;
  /** Which files are notes, and which folders can hold one. */
  readonly notes: PathFilter;
}

export interface GitLog {
  header(id: CommitId): Promise<CommitHeader>;
  info(id: CommitId): Promise<CommitInfo>;
  /** One commit with its events. */
  eventsOf(id: CommitId): Promise<CommitEvents>;
  /** Remember a commit that was just written, so that reading it back costs nothing. */
  learn(id: CommitId, header: CommitHeader): void;
  blobAt(commit: CommitId, path: RepoPath): Promise<BlobId | null>;
  list(commit: CommitId): Promise<TreeFile[]>;
  diff(from: CommitId | null, to: CommitId): Promise<TreeChange[]>;
  history(after: CommitId | null, to: CommitId): AsyncIterable<CommitEvents>;
  /** @param tip where the first-parent chain starts */
  commitAt(tip: CommitId | null, atMs: number): Promise<CommitId | null>;
  isAncestor(ancestor: CommitId, of: CommitId): Promise<boolean>;
  mergeBases(a: CommitId, b: CommitId): Promise<CommitId[]>;
}

/** Open the history of one object store. Nothing is read yet. */
export function createGitLog(source: LogSource): GitLog {
  const headers = new Map<CommitId, CommitHeader>();
  const trees = byteCache<string, Uint8Array>(TREE_BYTES);

  /** Along a history a tree is looked at twice: as what came, and as what was. */
  async function readTree(id: string): Promise<Uint8Array> {
    const known = trees.get(id);
    if (known !== undefined) return known;
    const read = await source.readTree(id);
    trees.set(id, read, read.length + 100);
    return read;
  }

  function learn(id: CommitId, header: CommitHeader): void {
    headers.set(id, header);
    if (headers.size <= MAX_HEADERS) return;
    for (const oldest of headers.keys()) {
      if (headers.size <= MAX_HEADERS / 2) break;
      headers.delete(oldest);
    }
  }

  async function header(id: CommitId): Promise<CommitHeader> {
    const known = headers.get(id);
    if (known) return known;
    const read = parseHeader(id, await source.readCommit(id));
    learn(id, read);
    return read;
  }

  async function info(id: CommitId): Promise<CommitInfo> {
    return source.parse(id, await source.readCommit(id));
  }

  async function diff(from: CommitId | null, to: CommitId): Promise<TreeChange[]> {
    const before = from === null ? null : (await header(from)).tree;
    return diffTrees(readTree, before, (await header(to)).tree, source.notes);
  }

  async function eventsOf(id: CommitId): Promise<CommitEvents> {
    const commit = await info(id);
    const changes = await diff(commit.parents[0] ?? null, id);
    const by =
      commit.parents.length > 1 && changes.length > 0
        ? await lastChanges({ header, readTree, notes: source.notes }, id, changes)
        : new Map<RepoPath, CommitId>();
    return { commit, events: toEvents(commit, changes, by) };
  }

  async function* history(after: CommitId | null, to: CommitId): AsyncGenerator<CommitEvents> {
    const set = await graph.between(header, after, to);
    const dated = new Map<CommitId, CommitHeader>();
    for (const id of set.keys()) dated.set(id, await header(id));
    const turn = slicer();
    for (const id of graph.parentsFirst(dated)) {
      yield await eventsOf(id);
      await turn();
    }
  }

  async function commitAt(tip: CommitId | null, atMs: number): Promise<CommitId | null> {
    for (let id = tip; id !== null; ) {
      const { authoredS, parents } = await header(id);
      if (authoredS * 1000 <= atMs) return id;
      id = parents[0] ?? null;
    }
    return null;
  }

  return {
    header,
    info,
    eventsOf,
    learn,
    diff,
    history,
    commitAt,
    blobAt: async (commit, path) => blobInTree(readTree, (await header(commit)).tree, path),
    list: async (commit) => listTree(source.readTree, (await header(commit)).tree, source.notes),
    isAncestor: (ancestor, of) => graph.isAncestor(header, ancestor, of),
    mergeBases: (a, b) => graph.mergeBases(header, a, b),
  };
}

/**
 * Turn the differences of one commit into its events. A rename is one deletion and exactly one addition of
 * the same non-empty blob; it stays two events, the addition naming where it came from.
 *
 * @param by for a merge: the commit that last changed a path; a path that is absent was changed by this one
 */
export function toEvents(
  commit: CommitInfo,
  changes: readonly TreeChange[],
  by: ReadonlyMap<RepoPath, CommitId>,
): NoteEvent[] {
  const gone = new Map<BlobId, RepoPath | null>();
  const come = new Map<BlobId, RepoPath | null>();
  for (const { path, before, after } of changes) {
    // A second path with the same blob makes the pairing ambiguous: null.
    if (after === null && before !== null) gone.set(before, gone.has(before) ? null : path);
    if (before === null && after !== null) come.set(after, come.has(after) ? null : path);
  }
  const events: NoteEvent[] = [];
  for (const { path, before, after } of changes) {
    const who = by.get(path) ?? commit.id;
    if (after !== null) {
      const moved = before === null && after !== EMPTY_BLOB && come.get(after) === path;
      const renamedFrom = moved ? (gone.get(after) ?? null) : null;
      events.push({ kind: "written", commit, path, before, after, by: who, renamedFrom });
    } else if (before !== null) {
      events.push({ kind: "removed", commit, path, before, by: who });
    }
  }
  return events;
}
