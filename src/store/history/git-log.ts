/**
 * History as events: which commits, in which order, and what each did to the notes. Reads objects through
 * a port, so that the store on disk and the one in memory give the same answers.
 * Invariant: an event is always a commit against its first parent.
 */
import type { CommitEvents, CommitInfo, NoteEvent } from "../../domain/event.ts";
import type { BlobId, CommitId, RepoPath } from "../../domain/note.ts";
import { slicer } from "../../lib/slicer.ts";
import type { TreeChange, TreeFile } from "../note-store.ts";
import { blobInTree, diffTrees, listTree, type PathFilter, treeReader } from "../trees/tree-diff.ts";
import { lastChanges } from "./blame-merge.ts";
import * as graph from "./commit-graph.ts";
import { type CommitHeader, parseHeader } from "./commit-header.ts";

const EMPTY_BLOB = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";
/** Headers kept in memory, about 250 B each. */
const MAX_HEADERS = 20_000;
const TREE_BYTES = 8 << 20;
/** Commit objects kept between the walk that orders a history and the pass that tells it. */
const WALKED_BYTES = 64 << 20;
/** What a Buffer costs beside its bytes. */
const BUFFER_BYTES = 120;

export interface LogSource {
  /** Content of a commit object. @throws NotesError UNKNOWN_COMMIT */
  readCommit(id: CommitId): Uint8Array;
  /** Content of a tree object. */
  readTree(id: string): Uint8Array;
  /** Header, message and proof of a raw commit. */
  parse(id: CommitId, raw: Uint8Array): CommitInfo;
  /** Which files are notes, and which folders can hold one. */
  readonly notes: PathFilter;
  /** The commit's parents are not here, as in a shallow clone: it is read as a first one. `parse` says so too. */
  isCutAt?(id: CommitId): boolean;
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
  /** Whether a commit has more than so many first parents. @cost a look at each of these */
  isLongerThan(commits: number, to: CommitId): Promise<boolean>;
  /** @param tip where the first-parent chain starts */
  commitAt(tip: CommitId | null, atMs: number): Promise<CommitId | null>;
  isAncestor(ancestor: CommitId, of: CommitId): Promise<boolean>;
  mergeBases(a: CommitId, b: CommitId): Promise<CommitId[]>;
  /** Commits that `to` reaches and `after` doesn't, parents first. */
  commitsBetween(after: CommitId | null, to: CommitId): Promise<CommitId[]>;
}

/** Open the history of one object store. Nothing is read yet. */
export function createGitLog(source: LogSource): GitLog {
  const headers = new Map<CommitId, CommitHeader>();
  const readTree = treeReader(source.readTree, TREE_BYTES);
  /** For all of a tree, which would push out what a history needs again. */
  const readOnce = treeReader(source.readTree, 0);

  function learn(id: CommitId, header: CommitHeader): void {
    headers.set(id, header);
    if (headers.size <= MAX_HEADERS) return;
    for (const oldest of headers.keys()) {
      if (headers.size <= MAX_HEADERS / 2) break;
      headers.delete(oldest);
    }
  }

  function headerOf(id: CommitId, raw: Uint8Array): CommitHeader {
    const read = parseHeader(id, raw);
    const cut = read.parents.length > 0 && source.isCutAt?.(id) === true ? { ...read, parents: [] } : read;
    learn(id, cut);
    return cut;
  }

  function header(id: CommitId): CommitHeader {
    return headers.get(id) ?? headerOf(id, source.readCommit(id));
  }

  function diff(from: CommitId | null, to: CommitId): TreeChange[] {
    const before = from === null ? null : header(from).tree;
    return diffTrees(readTree, before, header(to).tree, source.notes);
  }

  /** Where merged paths come from is a walk; of other commits nothing is waited for. */
  function tell(commit: CommitInfo, changes: readonly TreeChange[]): CommitEvents | Promise<CommitEvents> {
    if (commit.parents.length < 2 || changes.length === 0) {
      return { commit, events: toEvents(commit, changes, new Map()) };
    }
    const notes = source.notes;
    return lastChanges({ header, readTree, notes }, commit.id, changes).then((by) => ({
      commit,
      events: toEvents(commit, changes, by),
    }));
  }

  async function eventsOf(id: CommitId): Promise<CommitEvents> {
    const commit = source.parse(id, source.readCommit(id));
    return tell(commit, diff(commit.parents[0] ?? null, id));
  }

  async function* history(after: CommitId | null, to: CommitId): AsyncGenerator<CommitEvents> {
    const walked = new Map<CommitId, Uint8Array>();
    let room = WALKED_BYTES;
    const set = await graph.between(
      (id) => {
        const known = headers.get(id);
        if (known) return known;
        const raw = source.readCommit(id);
        room -= raw.length + BUFFER_BYTES;
        if (room > 0) walked.set(id, raw);
        return headerOf(id, raw);
      },
      after,
      to,
    );
    const turn = slicer();
    for (const id of graph.parentsFirst(set)) {
      const { tree, parents } = set.get(id) ?? header(id);
      const parent = parents[0];
      const before = parent === undefined ? null : (set.get(parent) ?? header(parent)).tree;
      const changes = diffTrees(readTree, before, tree, source.notes);
      const commit = source.parse(id, walked.get(id) ?? source.readCommit(id));
      walked.delete(id);
      const told = tell(commit, changes);
      yield told instanceof Promise ? await told : told;
      const pause = turn();
      if (pause) await pause;
    }
  }

  async function commitAt(tip: CommitId | null, atMs: number): Promise<CommitId | null> {
    const turn = slicer();
    for (let id = tip; id !== null; ) {
      const { authoredS, parents } = header(id);
      if (authoredS * 1000 <= atMs) return id;
      id = parents[0] ?? null;
      await turn();
    }
    return null;
  }

  async function isLongerThan(commits: number, to: CommitId): Promise<boolean> {
    const turn = slicer();
    let id: CommitId | undefined = to;
    for (let left = commits; left > 0 && id !== undefined; left--) {
      id = header(id).parents[0];
      await turn();
    }
    return id !== undefined;
  }

  return {
    isLongerThan,
    header: async (id) => header(id),
    info: async (id) => source.parse(id, source.readCommit(id)),
    eventsOf,
    learn,
    diff: async (from, to) => diff(from, to),
    history,
    commitAt,
    blobAt: async (commit, path) => blobInTree(readTree, header(commit).tree, path),
    list: async (commit) => listTree(readOnce, header(commit).tree, source.notes),
    isAncestor: (ancestor, of) => graph.isAncestor(header, ancestor, of),
    commitsBetween: async (after, to) => graph.parentsFirst(await graph.between(header, after, to)),
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
