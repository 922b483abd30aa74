/**
 * The index in memory: a graph of folded commits, the head's state, history and words, kept level.
 * What a caller may ask is `note-index.ts`; the parts answer, this class moves the head. Of the head alone: `head-reads.ts`.
 * Invariant: between two turns of the loop all parts stand at the same head.
 */
import type { NoteState } from "../domain/changed-fields.ts";
import { NotesError } from "../domain/errors.ts";
import type { CommitEvents, ReadBlob } from "../domain/event.ts";
import type { CommitId, NoteId, RepoPath } from "../domain/note.ts";
import { canExtend } from "./can-extend.ts";
import { type Mark, type Origin, type Snapshot, takeSnapshot } from "./checkpoint.ts";
import { type Difference, differencesBetween } from "./differences.ts";
import { deletedIn, entryNamed, fileOf, idEver, pathsOf, rowsOfCommit } from "./find-at.ts";
import { entriesOf, planMove } from "./head-move.ts";
import { HeadReads } from "./head-reads.ts";
import { queryHistory, rowsAfter } from "./history-query.ts";
import { liveNote, parsedOf, stateOf } from "./metadata.ts";
import type {
  FileAt,
  HistoryFilter,
  HistoryRow,
  NoteChange,
  NoteIndex,
  Page,
  SearchQuery,
  SearchRow,
} from "./note-index.ts";
import { ParsedCache } from "./parsed-cache.ts";
import type { ParseFile } from "./parsed-file.ts";
import { blobsOf, emptyParts, foldInTurns, heldBy, moveHead, onlyNotes, type Parts } from "./parts.ts";
import { rebuiltParts } from "./rebuild.ts";
import { rememberedRequest } from "./remembered-request.ts";
import { searchNotes } from "./search/search-notes.ts";
import { searchPast } from "./search/search-past.ts";
import { finish, finishInTurns } from "./slices.ts";
import { WordReader } from "./word-reader.ts";

export interface MemoryIndexOptions {
  readonly parse: ParseFile;
  /** Which paths of events are notes; others are left out. */
  readonly isNotePath: (path: RepoPath) => boolean;
  /** What parsing depends on beside the bytes; a checkpoint made under another is refused. */
  readonly fingerprint: string;
  /** How many requests are remembered; default: as many as the protocol promises. */
  readonly requests?: number;
}

export class MemoryIndex extends HeadReads implements NoteIndex {
  readonly #options: MemoryIndexOptions;
  readonly origin: Origin | null;
  protected parts: Parts;
  #moving = false;
  readonly #reader = new WordReader(() => this.parts);

  constructor(options: MemoryIndexOptions, parts: Parts | null = null, origin: Origin | null = null) {
    super();
    this.#options = options;
    this.origin = origin;
    this.parts = parts ?? emptyParts(options.requests);
  }

  get head(): CommitId | null {
    const { graph, head } = this.parts;
    return head < 0 ? null : graph.commits.idOf(head);
  }

  canExtend(commits: readonly CommitEvents[], to?: CommitId): boolean {
    return canExtend(this.parts, commits, to);
  }

  async apply(commits: readonly CommitEvents[], read: ReadBlob, to?: CommitId): Promise<NoteChange[]> {
    const target = to ?? commits.at(-1)?.commit.id;
    if (target === undefined) return [];
    const given = commits.some(({ commit }) => commit.id === target);
    if (!this.canExtend(commits) || (!given && this.parts.graph.numberOf(target) === undefined)) {
      throw new NotesError("UNKNOWN_COMMIT", `The history of ${target} is not held here; rebuild the index.`);
    }
    return this.#alone(async () => {
      const parts = this.parts;
      const fresh = commits.filter(({ commit }) => parts.graph.numberOf(commit.id) === undefined);
      const cache = new ParsedCache(this.#options.parse, read);
      const own = fresh.map((commit) => onlyNotes(commit, this.#options.isNotePath));
      await cache.load(own.flatMap(blobsOf));
      const folded = await foldInTurns(parts.graph, own, cache);
      const head = parts.graph.numberOf(target) ?? -1;
      const move = planMove(parts.graph, parts.state, parts.head, head, folded);
      await cache.load([...entriesOf(move)].filter((entry) => !heldBy(parts, entry)));
      const changes = moveHead(parts, move, head, cache);
      parts.log.requests.forgetOld();
      this.#reader.later();
      return changes;
    });
  }

  async rebuild(
    commits: AsyncIterable<CommitEvents> | Iterable<CommitEvents>,
    read: ReadBlob,
  ): Promise<void> {
    await this.#alone(async () => {
      this.parts = await rebuiltParts(commits, read, this.#options);
      this.#reader.later();
    });
  }

  words(hurried = true): Promise<void> {
    return this.#reader.read(hurried);
  }

  /** One move at a time: a second that starts while blobs are read would build on a head that is leaving. */
  async #alone<T>(move: () => Promise<T>): Promise<T> {
    if (this.#moving)
      throw new Error("the index is moving already; calls of apply and rebuild must not overlap");
    this.#moving = true;
    try {
      return await move();
    } finally {
      this.#moving = false;
    }
  }

  holds(commit: CommitId): boolean {
    return this.parts.graph.numberOf(commit) !== undefined;
  }

  #entryAt(commit: CommitId, path: RepoPath) {
    const number = this.parts.graph.numberOf(commit);
    return number === undefined ? null : this.parts.graph.entryAt(number, path);
  }

  fileAt(commit: CommitId, path: RepoPath): FileAt | null {
    return fileOf(this.parts.graph, this.#entryAt(commit, path));
  }

  namedAt(commit: CommitId, name: string): FileAt | null {
    const { graph } = this.parts;
    const number = graph.numberOf(commit);
    return number === undefined ? null : fileOf(graph, entryNamed(graph, number, name));
  }

  idEver(name: string): NoteId | null {
    return this.note(name)?.entry.id ?? idEver(this.parts.graph, this.parts.log, name);
  }

  async noteAt(commit: CommitId, path: RepoPath, read: ReadBlob): Promise<NoteState | null> {
    const { graph, state } = this.parts;
    const entry = this.#entryAt(commit, path);
    if (entry === null) return null;
    const held = state.get(path);
    const parsed =
      held?.entry.blob === entry.blob ? parsedOf(held) : this.#options.parse(path, await read(entry.blob));
    return stateOf(liveNote(graph, entry, parsed));
  }

  search(query: SearchQuery): { rows: readonly SearchRow[]; total: number } {
    this.#reader.readNow();
    return finish(searchNotes(this.parts.state, this.parts.texts, query));
  }

  async searchInTurns(query: SearchQuery): Promise<{ rows: readonly SearchRow[]; total: number }> {
    await this.words();
    this.#reader.readNow();
    return finishInTurns(searchNotes(this.parts.state, this.parts.texts, query));
  }

  async searchAt(commit: CommitId, query: SearchQuery, read: ReadBlob): ReturnType<NoteIndex["searchAt"]> {
    await this.words();
    this.#reader.readNow();
    return searchPast({ parts: this.parts, commit, parse: this.#options.parse, read }, query);
  }

  history(filter: HistoryFilter, limit: number, cursor: string | null): Page<HistoryRow> {
    return queryHistory(this.parts.graph, this.parts.log, filter, limit, cursor);
  }

  rowsAfter(seen: readonly CommitId[]): Iterable<HistoryRow> {
    const { graph, log } = this.parts;
    return rowsAfter(
      graph,
      log,
      seen.flatMap((id) => graph.numberOf(id) ?? []),
    );
  }

  rowsOf(id: CommitId): readonly HistoryRow[] {
    return rowsOfCommit(this.parts, id);
  }

  pathsOf(id: NoteId): readonly RepoPath[] {
    return pathsOf(this.parts, id);
  }

  deletedIn(id: string): CommitId | null {
    return deletedIn(this.parts, id);
  }

  knows(commit: CommitId): boolean {
    return this.parts.log.reached(commit) !== null;
  }

  request(key: string): ReturnType<NoteIndex["request"]> {
    return rememberedRequest(this.parts.graph, this.parts.log, key);
  }

  idTaken(id: string): boolean {
    return this.parts.graph.pathsEverWith(id).length > 0;
  }

  agents(): readonly { readonly agentId: number; readonly name: string }[] {
    return this.parts.log.agents();
  }

  differences(other: NoteIndex): readonly Difference[] {
    return differencesBetween(this, other);
  }

  snapshot(after: Mark | null): Snapshot {
    return takeSnapshot(this.parts, this.#options.fingerprint, after);
  }
}
