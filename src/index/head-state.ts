/**
 * What the head holds: files by path, ids, stems, folders, and the notes in order of update. In columns by the
 * path's number, a note being an object only while somebody looks at it.
 * One `set` a path keeps all of them level. No history, no search.
 */
import type { NoteId, RepoPath } from "../domain/note.ts";
import { byBytes } from "../lib/byte-order.ts";
import { counts } from "../lib/held/column.ts";
import { Pages } from "../lib/held/pages.ts";
import { TextPool } from "../lib/held/text-pool.ts";
import { folderOf, stemOf } from "../lib/slash-path.ts";
import type { CommitGraph } from "./commit-graph.ts";
import type { Entry } from "./entry.ts";
import { bodyBytes, readRecord, writeRecord } from "./file-record.ts";
import { HeadColumns } from "./head-columns.ts";
import { MemoryOrder } from "./memory/memory-order.ts";
import { type LiveNote, liveNote, parsedOf } from "./metadata.ts";
import { TimeOrder } from "./time-order.ts";

/** More changes than this are not told apart: all rows are written then. */
const CHANGED_MAX = 4_096;

export class HeadState {
  readonly graph: CommitGraph;
  readonly columns: HeadColumns;
  readonly texts: Pages;
  /** Paths whose row changed since somebody last asked; null: too many to tell them apart. */
  #changed: Set<number> | null = new Set();
  #size = 0;
  readonly #quarantined = new Set<number>();
  /** Files whose claim another file keeps. */
  readonly #contested = new Set<number>();
  /** Files whose words say of a memory what their path doesn't. */
  readonly #disagreeing = new Set<number>();
  /** By id: the path that is served under it. */
  readonly #pathOfId = counts();
  /** Stems of files without a claim; by stem: how many there are, and their paths' numbers xor'ed. */
  readonly #stems = new TextPool();
  readonly #stemCount = counts();
  readonly #stemPaths = counts();
  readonly #folders = new Map<string, number>();
  readonly #order: TimeOrder;
  readonly memories: MemoryOrder;
  /** Those that expire, by when. */
  readonly #expiring: TimeOrder;

  constructor(graph: CommitGraph) {
    this.graph = graph;
    this.columns = new HeadColumns(graph.texts.words);
    const { entry, text, updatedMs, expiresMs } = this.columns;
    this.texts = new Pages(
      (path, position) => entry.at(path) !== 0 && text.at(path) === position,
      (path, position) => {
        text.set(path, position);
        this.#note(path);
      },
    );
    const id = (path: number) => graph.texts.ids.at(graph.entries.idOf(entry.at(path) - 1));
    const keys = { timeMs: (path: number) => updatedMs.at(path), id };
    this.#order = new TimeOrder(keys);
    this.memories = new MemoryOrder({ columns: this.columns, keys, inOrder: () => this.inOrder() });
    this.#expiring = new TimeOrder({ timeMs: (path) => expiresMs.at(path), id });
  }

  /** How many files there are, those that can't be read as notes too. */
  get size(): number {
    return this.#size;
  }

  get(path: RepoPath): LiveNote | null {
    return this.at(this.graph.texts.paths.find(path));
  }

  /** The note at a path's number; null: nothing is there. */
  at(path: number): LiveNote | null {
    if (!this.holds(path)) return null;
    const entry = this.graph.entries.at(this.entryOf(path));
    return liveNote(this.graph, entry, readRecord(this.texts.read(this.columns.text.at(path)), entry.brief));
  }

  entryAt(path: RepoPath): Entry | null {
    const number = this.graph.texts.paths.find(path);
    return this.holds(number) ? this.graph.entries.at(this.entryOf(number)) : null;
  }

  holds(path: number): boolean {
    return this.columns.entry.at(path) !== 0;
  }

  /** The id that the file at a path is served under. */
  idOf(path: number): NoteId {
    return this.graph.texts.ids.at(this.graph.entries.idOf(this.entryOf(path))) as NoteId; // served, so given
  }

  /** Number of the entry at a path that holds one. */
  entryOf(path: number): number {
    return this.columns.entry.at(path) - 1;
  }

  /** The body in UTF-8, not decoded; null where it can't be had like that. */
  bodyBytes(path: number): Buffer | null {
    return bodyBytes(this.texts.read(this.columns.text.at(path)));
  }

  /** Numbers of the paths that hold a file. */
  *paths(): Generator<number> {
    for (let path = 1; path < this.columns.entry.length; path++) if (this.holds(path)) yield path;
  }

  byId(id: string): LiveNote | null {
    return this.at(this.pathById(id));
  }

  /** The number of the path served under an id; 0: none. */
  pathById(id: string): number {
    const number = this.graph.texts.ids.find(id);
    return number === 0 ? 0 : this.#pathOfId.at(number);
  }

  byStem(stem: string): LiveNote | null {
    const number = this.#stems.find(stem);
    return number !== 0 && this.#stemCount.at(number) === 1 ? this.at(this.#stemPaths.at(number)) : null;
  }

  idAt(path: RepoPath): NoteId | null {
    const number = this.graph.texts.paths.find(path);
    return this.holds(number) ? this.idOf(number) : null;
  }

  /** Folders that directly hold a file. */
  folders(): IterableIterator<string> {
    return this.#folders.keys();
  }

  folderCount(folder: string): number {
    return this.#folders.get(folder) ?? 0;
  }

  get quarantinedCount(): number {
    return this.#quarantined.size;
  }

  quarantined(): LiveNote[] {
    return [...this.#quarantined].flatMap((path) => this.at(path) ?? []);
  }

  /** Ids that two files claim; `contested` are the files served under another. */
  duplicates(): { id: string; kept: RepoPath; other: RepoPath; servedAs: NoteId }[] {
    return [...this.#contested].flatMap((path) => {
      const { entries } = this.graph;
      const { id: servedAs, path: other, brief } = entries.at(this.entryOf(path));
      const kept = brief.claim === null ? null : this.byId(brief.claim);
      if (brief.claim === null || kept === null) return [];
      return [{ id: brief.claim, kept: kept.entry.path, other, servedAs }];
    });
  }

  /** Files whose words say of a memory what their path doesn't, by path. */
  disagreements(): { path: RepoPath; reason: string }[] {
    return [...this.#disagreeing]
      .flatMap((path) => this.at(path) ?? [])
      .map(({ entry, disagreements }) => ({ path: entry.path, reason: disagreements.join("; ") }))
      .sort((a, b) => byBytes(a.path, b.path));
  }

  /**
   * Replace what a path holds; null: nothing. The graph holds the note's entry.
   * @param record  its file as `writeRecord` gives it, when that is known
   */
  set(path: RepoPath, note: LiveNote | null, record?: Uint8Array): void {
    const number = this.graph.texts.paths.find(path);
    if (number === 0 && note === null) return;
    const text = this.columns.text.at(number);
    const held = this.holds(number);
    if (held) this.#drop(number, path);
    if (note) {
      const entry = this.graph.entryNumber(note.entry);
      if (entry < 0) throw new RangeError(`${path} holds an entry that no commit left there`);
      this.columns.set(number, entry, this.texts.put(number, record ?? writeRecord(parsedOf(note))), note);
      this.#add(number, path);
    }
    if (held) this.texts.drop(text);
    this.#note(number);
  }

  #drop(path: number, name: RepoPath): void {
    const { entries } = this.graph;
    const entry = this.entryOf(path);
    this.#size--;
    this.#quarantined.delete(path);
    this.#contested.delete(path);
    this.#disagreeing.delete(path);
    // While a commit's files are set one by one, another file may hold the id already.
    if (this.#pathOfId.at(entries.idOf(entry)) === path) this.#pathOfId.set(entries.idOf(entry), 0);
    if (entries.claimOf(entry) === 0) this.#countStem(path, name, -1);
    const folder = folderOf(name);
    const count = this.folderCount(folder) - 1;
    if (count > 0) this.#folders.set(folder, count);
    else this.#folders.delete(folder);
    if (!this.columns.isQuarantined(path)) {
      this.#order.drop(path);
      this.memories.drop(path);
    }
    if (this.#expires(path)) this.#expiring.drop(path);
    this.columns.clear(path);
  }

  #add(path: number, name: string): void {
    this.#enter(path, name);
    if (this.columns.isQuarantined(path)) this.#quarantined.add(path);
    else {
      this.#order.add(path);
      this.memories.add(path);
    }
    if (this.#expires(path)) this.#expiring.add(path);
  }

  /** A file that can't be read as a note says no expiry. */
  #expires(path: number): boolean {
    return this.columns.expiresMs.at(path) < Number.POSITIVE_INFINITY;
  }

  /** All of `#add` but the order. */
  #enter(path: number, name: string): void {
    const { entries } = this.graph;
    const entry = this.entryOf(path);
    const claim = entries.claimOf(entry);
    this.#size++;
    this.#pathOfId.set(entries.idOf(entry), path);
    if (claim === 0) this.#countStem(path, name, 1);
    else if (claim !== entries.idOf(entry)) this.#contested.add(path);
    if (this.columns.disagrees(path)) this.#disagreeing.add(path);
    const folder = folderOf(name);
    this.#folders.set(folder, this.folderCount(folder) + 1);
  }

  #countStem(path: number, name: string, by: 1 | -1): void {
    const stem = this.#stems.of(stemOf(name));
    this.#stemCount.set(stem, this.#stemCount.at(stem) + by);
    this.#stemPaths.set(stem, (this.#stemPaths.at(stem) ^ path) >>> 0);
  }

  /**
   * Numbers of the paths of readable notes, oldest update first (ties: greater note id first): read it from its
   * end. The order is the state's own, until the next change.
   */
  inOrder(): Uint32Array {
    return this.#order.numbers();
  }

  /** Numbers of the paths of notes that have expired by a moment, the longest gone first; as `inOrder`. */
  expired(nowMs: number): Uint32Array {
    return this.#expiring.upTo(nowMs);
  }

  /** When the next note expires after a moment; Infinity: none does. */
  nextExpiryMs(afterMs: number): number {
    return this.#expiring.nextMs(afterMs);
  }

  #note(path: number): void {
    this.#changed?.add(path);
    if (this.#changed && this.#changed.size > CHANGED_MAX) this.#changed = null;
  }

  /** Paths whose row changed since the last call, by number; null: they were too many. */
  takeChanged(): Uint32Array | null {
    const changed = this.#changed && Uint32Array.from(this.#changed);
    this.#changed = new Set();
    return changed;
  }

  /**
   * Rows and records were put in place from a file: find again what follows from them.
   * @throws RangeError  they name what isn't there
   */
  restored(): void {
    const { entries, texts } = this.graph;
    this.columns.entry.mustBeBelow(entries.length + 1);
    for (const column of [this.columns.agentName, this.columns.ref]) column.mustBeBelow(texts.words.size);
    const readable: number[] = [];
    const expiring: number[] = [];
    for (let path = 1; path < this.columns.entry.length; path++) {
      if (!this.holds(path)) continue;
      if (entries.pathOf(this.entryOf(path)) !== path)
        throw new RangeError(`the entry at ${path} is another's`);
      this.texts.claim(this.columns.text.at(path), path);
      this.#enter(path, this.graph.texts.paths.at(path));
      if (this.columns.isQuarantined(path)) this.#quarantined.add(path);
      else readable.push(path);
      if (this.#expires(path)) expiring.push(path);
    }
    this.texts.restored();
    this.#order.fill(readable);
    this.#expiring.fill(expiring);
  }
}
