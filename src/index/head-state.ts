/**
 * What the head holds: files by path, ids, stems, folders, and the notes in order of update.
 * One `set` a path keeps all of them level. No history, no search.
 */
import type { NoteId, RepoPath } from "../domain/note.ts";
import { folderOf, stemOf } from "../lib/slash-path.ts";
import type { LiveNote } from "./metadata.ts";

export class HeadState {
  readonly files = new Map<RepoPath, LiveNote>();
  readonly quarantined = new Map<RepoPath, LiveNote>();
  /** Files whose claim another file keeps. */
  readonly contested = new Map<RepoPath, LiveNote>();
  readonly #byId = new Map<string, RepoPath>();
  /** Stems of files served under an `f_` id. */
  readonly #stems = new Map<string, RepoPath | Set<RepoPath>>();
  readonly #folders = new Map<string, number>();
  /** Readable notes, oldest update first, ties by note id from the last; sorted lazily after bulk changes. */
  readonly #order: LiveNote[] = [];
  readonly #unsorted = new Set<LiveNote>();
  readonly #stale = new Set<LiveNote>();

  byId(id: string): LiveNote | null {
    const path = this.#byId.get(id);
    return path === undefined ? null : (this.files.get(path) ?? null);
  }

  byStem(stem: string): LiveNote | null {
    const path = this.#stems.get(stem);
    return typeof path === "string" ? (this.files.get(path) ?? null) : null;
  }

  idAt(path: RepoPath): NoteId | null {
    return this.files.get(path)?.entry.id ?? null;
  }

  folderCount(folder: string): number {
    return this.#folders.get(folder) ?? 0;
  }

  /** Ids that two files claim; `contested` are the files served under another. */
  duplicates(): { id: string; kept: RepoPath; other: RepoPath; servedAs: NoteId }[] {
    return [...this.contested.values()].flatMap(({ entry }) => {
      const id = entry.brief.claim;
      const kept = id === null ? null : this.byId(id);
      if (id === null || kept === null) return [];
      return [{ id, kept: kept.entry.path, other: entry.path, servedAs: entry.id }];
    });
  }

  /** Replace what a path holds; null: nothing. */
  set(path: RepoPath, note: LiveNote | null): void {
    const before = this.files.get(path);
    if (before) this.#drop(path, before);
    if (note) this.#add(path, note);
  }

  #drop(path: RepoPath, note: LiveNote): void {
    this.files.delete(path);
    this.quarantined.delete(path);
    this.contested.delete(path);
    // While a commit's files are set one by one, another file may hold the id already.
    if (this.#byId.get(note.entry.id) === path) this.#byId.delete(note.entry.id);
    const stem = stemOf(path);
    const stems = this.#stems.get(stem);
    if (stems instanceof Set) {
      stems.delete(path);
      const [only] = stems;
      if (stems.size === 1 && only !== undefined) this.#stems.set(stem, only);
    } else if (stems === path) this.#stems.delete(stem);
    const folder = folderOf(path);
    const count = this.folderCount(folder) - 1;
    if (count > 0) this.#folders.set(folder, count);
    else this.#folders.delete(folder);
    if (!this.#unsorted.delete(note) && note.quarantined === null) this.#stale.add(note);
  }

  #add(path: RepoPath, note: LiveNote): void {
    this.files.set(path, note);
    this.#byId.set(note.entry.id, path);
    if (note.quarantined) this.quarantined.set(path, note);
    else this.#unsorted.add(note);
    const { claim } = note.entry.brief;
    if (claim !== null && claim !== note.entry.id) this.contested.set(path, note);
    if (claim === null) {
      const stem = stemOf(path);
      const stems = this.#stems.get(stem);
      if (stems === undefined) this.#stems.set(stem, path);
      else if (stems instanceof Set) stems.add(path);
      else this.#stems.set(stem, new Set([stems, path]));
    }
    const folder = folderOf(path);
    this.#folders.set(folder, this.folderCount(folder) + 1);
  }

  /**
   * Readable notes, oldest update first (ties: greater note id first): read it from its end.
   * @cost O(log n) and a shift for each change since the last call, one sort after many changes
   */
  inOrder(): readonly LiveNote[] {
    const changes = this.#unsorted.size + this.#stale.size;
    if (changes > SPLICE_MAX) {
      const kept = this.#order.filter((note) => !this.#stale.has(note));
      this.#order.length = 0;
      for (const note of kept) this.#order.push(note);
      for (const note of this.#unsorted) this.#order.push(note);
      this.#order.sort(byUpdate);
    } else {
      for (const note of this.#stale) this.#order.splice(this.placeOf(note.updatedMs, note.entry.id), 1);
      for (const note of this.#unsorted) {
        this.#order.splice(this.placeOf(note.updatedMs, note.entry.id), 0, note);
      }
    }
    this.#stale.clear();
    this.#unsorted.clear();
    return this.#order;
  }

  /** Where a note of that update and id stands, or would, in `inOrder`. */
  placeOf(updatedMs: number, id: string): number {
    let low = 0;
    let high = this.#order.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const note = this.#order[middle];
      if (note && compare(note.updatedMs, note.entry.id, updatedMs, id) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

const SPLICE_MAX = 64;

function byUpdate(a: LiveNote, b: LiveNote): number {
  return compare(a.updatedMs, a.entry.id, b.updatedMs, b.entry.id);
}

function compare(aMs: number, aId: string, bMs: number, bId: string): number {
  return aMs - bMs || (aId < bId ? 1 : aId > bId ? -1 : 0);
}
