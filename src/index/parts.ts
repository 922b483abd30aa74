/**
 * The parts of an index and how they move together: fold into the graph, then put the head's state, history and
 * words at the new head in one synchronous step. No reading of blobs here.
 */
import type { CommitEvents, NoteEvent } from "../domain/event.ts";
import type { RepoPath } from "../domain/note.ts";
import { slicer } from "../lib/slicer.ts";
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
import { MemoryTextIndex, type TextIndex } from "./search/text-index.ts";

/** Everything that stands at one head. */
export interface Parts {
  readonly graph: CommitGraph;
  readonly log: HistoryLog;
  readonly state: HeadState;
  readonly texts: TextIndex;
  /** Numbers of paths whose words the text index doesn't have as they are now; a search reads them first. */
  readonly unread: Set<number>;
  /** Number of the head; -1: none. */
  head: number;
}

/** What the protocol promises: requests of the last 100,000 writes are found again. */
const REQUESTS_REMEMBERED = 100_000;

/** Parts that stand before the first commit. @param requests  how many a head remembers */
export function emptyParts(requests = REQUESTS_REMEMBERED): Parts {
  const graph = new CommitGraph();
  return {
    graph,
    log: new HistoryLog(graph, requests),
    state: new HeadState(graph),
    texts: new MemoryTextIndex(),
    unread: new Set(),
    head: -1,
  };
}

/** A commit's events at note paths; a move in from elsewhere is a new file. */
export function onlyNotes(
  { commit, events }: CommitEvents,
  isNote: (path: RepoPath) => boolean,
): CommitEvents {
  const kept = events.flatMap((event): NoteEvent[] => {
    if (!isNote(event.path)) return [];
    const fromElsewhere =
      event.kind === "written" && event.renamedFrom !== null && !isNote(event.renamedFrom);
    return [fromElsewhere ? { ...event, renamedFrom: null } : event];
  });
  return { commit, events: kept };
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
    const done = fold(graph, commit, (path, blob) => cache.must({ path, blob }));
    folded.set(done.number, done);
  }
  return folded;
}

/** As `foldAll`, with turns of the loop between commits: nobody sees them before the head gets there. */
export async function foldInTurns(
  graph: CommitGraph,
  commits: readonly CommitEvents[],
  cache: ParsedCache,
): Promise<Map<number, Folded>> {
  const all = new Map<number, Folded>();
  const turn = slicer();
  for (const commit of commits) {
    for (const [number, folded] of foldAll(graph, [commit], cache)) all.set(number, folded);
    const pause = turn();
    if (pause) await pause;
  }
  return all;
}

/** Whether the state holds an entry's text already, at its path. */
export function heldBy({ state }: Parts, { path, blob }: FileBlob): boolean {
  return state.entryAt(path)?.blob === blob;
}

/**
 * Put everything of a head into parts that nobody sees yet, giving the loop its turns; nobody is told.
 * @param cache  read from where it doesn't hold an entry's text; it lets go of what was put in place
 */
export async function fillHead(parts: Parts, to: number, cache: ParsedCache): Promise<void> {
  const { graph, log, state, unread } = parts;
  const turn = slicer();
  for (let path = 1; path < graph.texts.paths.size; path++) {
    const number = graph.entryNumberAt(to, path);
    if (number < 0) continue;
    const entry = graph.entries.at(number);
    const record = cache.record(entry);
    const held = cache.get(entry, entry.brief);
    if (held === undefined) await cache.load([entry]);
    state.set(entry.path, liveNote(graph, entry, held ?? cache.must(entry)), record);
    unread.add(path);
    cache.drop(entry);
    const pause = turn();
    if (pause) await pause;
  }
  // Along first parents the log only ever appends, so in steps it becomes what it becomes at once.
  const chain = graph.chain(-1, to) ?? [];
  for (let left = chain.length - 1; left >= 0; left -= COMMITS_A_STEP) {
    log.append(chain[left] ?? to);
    await turn();
  }
  log.append(to);
  parts.head = to;
}

const COMMITS_A_STEP = 256;

/** Carry out a planned move and tell what changed. @param cache  holds every entry's text that the state doesn't */
export function moveHead(parts: Parts, move: HeadMove, to: number, cache: ParsedCache): NoteChange[] {
  const { graph, log, state } = parts;
  const live = (entry: Entry | null): LiveNote | null => {
    if (entry === null) return null;
    const held = state.get(entry.path);
    return liveNote(graph, entry, held?.entry.blob === entry.blob ? parsedOf(held) : cache.must(entry));
  };
  const put = (left: ReadonlyMap<RepoPath, Entry | null>) => {
    const before = new Map([...left.keys()].map((path) => [path, state.get(path)]));
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
      // Not spread into arguments: a commit may bring 100,000 files.
      for (const change of changesOf(graph.commits.idOf(step.number), step, before, after))
        changes.push(change);
    }
    log.append(to);
  } else {
    const { before, after } = put(move.left);
    for (const path of move.left.keys()) touched.add(path);
    for (const change of differenceOf(graph.commits.idOf(to), [...touched], before, after))
      changes.push(change);
    log.reset(to);
  }
  parts.head = to;
  for (const path of touched) parts.unread.add(graph.texts.paths.find(path));
  return changes;
}

/**
 * Index the words of files that changed, up to `most` of them, the first changed first.
 * @returns whether none is left
 * @cost some 100 µs a note of 1 kB
 */
export function readWords({ texts, unread, state }: Parts, most = Number.POSITIVE_INFINITY): boolean {
  let left = most;
  for (const path of unread) {
    if (left-- <= 0) return false;
    const note = state.at(path);
    if (note)
      texts.put(path, state.entryOf(path), { title: note.meta.title, tags: note.meta.tags, body: note.body });
    else texts.remove(path);
    // Last: what fails is tried again by whoever searches next.
    unread.delete(path);
  }
  return true;
}
