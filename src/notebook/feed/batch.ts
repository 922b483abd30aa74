/**
 * A batch: what one step of the log did to notes, one item a note, by path. Knows the store and the index at
 * the two ends of the step; reads files only when an item is described.
 * Invariant: a batch is a function of its two commits, so live and replay make the same one.
 */
import { type CommitEvents, type CommitInfo, ownWord } from "../../domain/event.ts";
import type { BlobId, CommitId, NoteId, NoteMetadata, RepoPath } from "../../domain/note.ts";
import { trustOfRemoval } from "../../domain/trust.ts";
import type { FileAt, NoteIndex } from "../../index/note-index.ts";
import { byBytes } from "../../lib/byte-order.ts";
import type { NoteStore, TreeChange } from "../../store/note-store.ts";
import type { Changed } from "../notebook.ts";
import { type BeforeAfter, beforeAfter, toChanged } from "./changed.ts";
import type { Via } from "./heads.ts";

export interface BatchSource {
  readonly store: Pick<NoteStore, "diff" | "history" | "commitInfo" | "readBlob">;
  readonly index: Pick<NoteIndex, "fileAt" | "noteAt">;
}

/** Batches up to this size keep what was described for the next reader. */
const MAX_KEPT_ITEMS = 1_000;

/** A note that differs between the two ends. At least one of the files is there. */
interface Pair {
  readonly before: FileAt | null;
  readonly after: FileAt | null;
}

export interface Described {
  /** Without a cursor. */
  readonly changed: Changed;
  /** What filters look at: the note after, or as it was before it went; null for an unreadable file. */
  readonly note: NoteMetadata | null;
}

export interface Item {
  readonly path: RepoPath;
  readonly noteId: NoteId;
  describe(): Promise<Described>;
}

/** What `apply` told of an item already, so that its files need not be read again. */
export type Told = (path: RepoPath, noteId: NoteId) => BeforeAfter | null;

/** The items of one single-parent commit of ours. @param told null for one read back from history */
export function commitItems(
  source: BatchSource,
  { commit, events }: CommitEvents,
  told: Told | null,
): Item[] {
  const from = commit.parents[0] ?? null;
  const changes = events.map((event) => ({
    path: event.path,
    before: event.before,
    after: event.kind === "written" ? event.after : null,
  }));
  const found = pairs(source.index, from, commit.id, changes);
  const word = found.length === 1 ? ownWord(commit) : null;
  const keep = changes.length <= MAX_KEPT_ITEMS;
  const step = { from, to: commit.id, via: "live", by: async () => commit, word, told, keep } as const;
  return found.map((pair) => item(source, { pair, ...step }));
}

/** The items of any other step: the note-level difference of its two ends. */
export async function differenceItems(
  source: BatchSource,
  from: CommitId | null,
  to: CommitId,
  via: Via,
): Promise<Item[]> {
  const changes = await source.store.diff(from, to);
  const found = pairs(source.index, from, to, changes);
  const keep = changes.length <= MAX_KEPT_ITEMS;
  const infos = new Map<CommitId, Promise<CommitInfo>>();
  const info = (id: CommitId) => {
    const known = infos.get(id) ?? source.store.commitInfo(id);
    infos.set(id, known);
    return known;
  };
  const gone = new Set(found.flatMap(({ before, after }) => (before && !after ? [before.path] : [])));
  const removers = gone.size > 0 ? await removersOf(source, from, to, gone) : new Map<RepoPath, CommitId>();
  return found.map((pair) => {
    const removed = pair.before === null ? null : removers.get(pair.before.path);
    const by = pair.after?.changedIn ?? removed ?? to;
    return item(source, { pair, from, to, via, by: () => info(by), word: null, told: null, keep });
  });
}

interface Making {
  readonly pair: Pair;
  readonly from: CommitId | null;
  readonly to: CommitId;
  readonly via: Via;
  by(): Promise<CommitInfo>;
  /** The author's own word for what happened. */
  readonly word: string | null;
  readonly told: Told | null;
  readonly keep: boolean;
}

function item(source: BatchSource, making: Making): Item {
  const { before, after } = making.pair;
  const file = after ?? before;
  if (file === null) throw new TypeError("a pair has one side at least");
  const { path, noteId } = file;
  const read = (id: BlobId) => source.store.readBlob(id);
  const describe = async (): Promise<Described> => {
    const by = await making.by();
    const what = {
      path,
      noteId,
      action: making.word ?? howOf(making.pair),
      revision: after?.blob ?? null,
      trust: after?.trust ?? trustOfRemoval(by, file.trust),
      by,
      via: making.via,
    };
    const told = making.told?.(path, noteId) ?? null;
    const files =
      told && isAbout(told, making.pair)
        ? told
        : beforeAfter(
            before && making.from ? await source.index.noteAt(making.from, before.path, read) : null,
            after ? await source.index.noteAt(making.to, after.path, read) : null,
          );
    return { changed: toChanged(what, files), note: files.after ?? files.before };
  };
  let described: Promise<Described> | null = null;
  return {
    path,
    noteId,
    describe() {
      if (described) return described;
      const now = describe();
      if (making.keep) described = now;
      return now;
    },
  };
}

/** Join the two ends by note id: a note that moved is one pair. */
function pairs(
  index: BatchSource["index"],
  from: CommitId | null,
  to: CommitId,
  changes: readonly TreeChange[],
): Pair[] {
  const before = new Map<NoteId, FileAt>();
  const after = new Map<NoteId, FileAt>();
  for (const { path, before: old, after: now } of changes) {
    const was = old !== null && from !== null ? index.fileAt(from, path) : null;
    const is = now !== null ? index.fileAt(to, path) : null;
    if (was) before.set(was.noteId, was);
    if (is) after.set(is.noteId, is);
  }
  const found: Pair[] = [...after].map(([id, file]) => ({ before: before.get(id) ?? null, after: file }));
  for (const [id, file] of before) if (!after.has(id)) found.push({ before: file, after: null });
  const path = ({ before, after }: Pair) => after?.path ?? before?.path ?? "";
  const there = ({ after }: Pair) => (after === null ? 0 : 1);
  return found.sort((a, b) => byBytes(path(a), path(b)) || there(a) - there(b));
}

function howOf({ before, after }: Pair): string {
  if (after === null) return "delete";
  if (before === null) return "create";
  return before.path === after.path ? "update" : "rename";
}

/** Whether what was told has the same two sides: a note that moved is told as two changes. */
const isAbout = (told: BeforeAfter, { before, after }: Pair) =>
  (told.before === null) === (before === null) && (told.after === null) === (after === null);

/** For each path, the last commit of the step that removed it. @cost a walk over the step */
async function removersOf(
  { store }: BatchSource,
  from: CommitId | null,
  to: CommitId,
  paths: ReadonlySet<RepoPath>,
): Promise<Map<RepoPath, CommitId>> {
  const found = new Map<RepoPath, CommitId>();
  for await (const { events } of store.history(from, to)) {
    for (const event of events) {
      if (event.kind === "removed" && paths.has(event.path)) found.set(event.path, event.by);
    }
  }
  return found;
}
