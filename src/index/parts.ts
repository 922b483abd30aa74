/**
 * The parts of an index and how they move together: fold into the graph, then put the head's state, history and
 * words at the new head in one synchronous step. No reading of blobs here.
 */
import type { CommitEvents } from "../domain/event.ts";
import type { RepoPath } from "../domain/note.ts";
import { CommitGraph } from "./commit-graph.ts";
import type { Entry } from "./entry.ts";
import { type Folded, fold } from "./fold.ts";
import type { HeadMove } from "./head-move.ts";
import { HeadState } from "./head-state.ts";
import { HistoryLog } from "./history-log.ts";
import { type LiveNote, liveNote, parsedOf } from "./metadata.ts";
import { changesOf, differenceOf } from "./note-changes.ts";
import type { NoteChange } from "./note-index.ts";
import type { FileBlob, ParsedCache } from "./parsed-cache.ts";
import { MemoryTextIndex, type TextIndex } from "./text-index.ts";

/** Everything that stands at one head. */
export interface Parts {
  readonly graph: CommitGraph;
  readonly log: HistoryLog;
  readonly state: HeadState;
  /** Null until the first search after a restore. */
  texts: TextIndex | null;
  /** Number of the head; -1: none. */
  head: number;
}

export function emptyParts(): Parts {
  const graph = new CommitGraph();
  return { graph, log: new HistoryLog(graph), state: new HeadState(), texts: null, head: -1 };
}

/** The blobs that a commit's events write. */
export function blobsOf({ events }: CommitEvents): FileBlob[] {
  return events.flatMap((event) =>
    event.kind === "written" ? [{ path: event.path, blob: event.after }] : [],
  );
}

/** Fold commits that the graph doesn't hold, parents first. Their blobs are in the cache. */
export function foldAll(
  graph: CommitGraph,
  commits: readonly CommitEvents[],
  cache: ParsedCache,
): Map<number, Folded> {
  const folded = new Map<number, Folded>();
  for (const commit of commits) {
    if (graph.numberOf(commit.commit.id) !== undefined) continue;
    const done = fold(graph, commit, (path, blob) => cache.must({ path, blob }).brief);
    folded.set(done.number, done);
  }
  return folded;
}

/** Whether the state holds an entry's text already, at its path. */
export function heldBy({ state }: Parts, { path, blob }: FileBlob): boolean {
  return state.files.get(path)?.entry.blob === blob;
}

/** Carry out a planned move and tell what changed. @param cache  holds every entry's text that the state doesn't */
export function moveHead(parts: Parts, move: HeadMove, to: number, cache: ParsedCache): NoteChange[] {
  const { graph, log, state } = parts;
  const live = (entry: Entry | null): LiveNote | null => {
    if (entry === null) return null;
    const held = state.files.get(entry.path);
    return liveNote(graph, entry, held?.entry.blob === entry.blob ? parsedOf(held) : cache.must(entry));
  };
  const put = (left: ReadonlyMap<RepoPath, Entry | null>) => {
    const before = new Map([...left.keys()].map((path) => [path, state.files.get(path) ?? null]));
    const after = new Map([...left].map(([path, entry]) => [path, live(entry)]));
    for (const [path, note] of after) state.set(path, note);
    return {
      before: (path: RepoPath) => before.get(path) ?? null,
      after: (path: RepoPath) => after.get(path) ?? null,
    };
  };

  const changes: NoteChange[] = [];
  const touched = new Set<RepoPath>();
  if (move.kind === "steps") {
    for (const step of move.steps) {
      const { before, after } = put(step.left);
      for (const path of step.left.keys()) touched.add(path);
      changes.push(...changesOf(graph.at(step.number).id, step, before, after));
    }
    log.append(to);
  } else {
    const { before, after } = put(move.left);
    for (const path of move.left.keys()) touched.add(path);
    changes.push(...differenceOf(graph.at(to).id, [...touched], before, after));
    log.reset(to);
  }
  parts.head = to;
  if (parts.texts) for (const path of touched) putText(parts.texts, path, state.files.get(path) ?? null);
  return changes;
}

function putText(texts: TextIndex, path: RepoPath, note: LiveNote | null): void {
  if (note === null) texts.remove(path);
  else texts.put(path, { title: note.meta.title, tags: note.meta.tags, body: note.body });
}

/** The words of every note, built now where a restore left them out. @cost some 100 µs a note, once */
export function textsOf(parts: Parts): TextIndex {
  if (parts.texts === null) {
    parts.texts = new MemoryTextIndex();
    for (const [path, note] of parts.state.files) putText(parts.texts, path, note);
  }
  return parts.texts;
}

const TEXTS_A_TURN = 200;

/** As `textsOf`, giving the loop a turn now and then; the parts must not move meanwhile. */
export async function buildTexts(parts: Parts): Promise<void> {
  const texts = new MemoryTextIndex();
  let built = 0;
  for (const [path, note] of parts.state.files) {
    putText(texts, path, note);
    built += 1;
    if (built % TEXTS_A_TURN === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  parts.texts = texts;
}
