/**
 * Which file is served under which id, after one commit changed some files. Pure over a view of the state.
 * Invariants: no two files of a state share a served id; a file's claim or fallback is held by the file
 * with the earliest first addition, ties to the smaller path; who loses gets the next free `f_…` of its path.
 *
 * @see spec: storage, section 5 (two files with one id); protocol, section 3 (note_id)
 */
import { fileId, parseNoteId } from "../domain/identity.ts";
import type { NoteId, RepoPath } from "../domain/note.ts";
import { byBytes } from "../lib/byte-order.ts";
import type { Entry } from "./entry.ts";

/** The state that a commit is making: its first parent's, with the changes made so far. */
export interface StateView {
  get(path: RepoPath): Entry | null;
  /** Change the state; counts as left by the commit. */
  set(entry: Entry): void;
  /** Paths that may hold an id as claim or fallback; more than do is fine. */
  pathsWith(id: string): Iterable<RepoPath>;
  /** Author date of a commit, ms. */
  dateOf(commit: number): number;
}

/** The files that hold an id as claim or fallback, the one that keeps it first. */
function holdersOf(view: Omit<StateView, "set">, id: string): Entry[] {
  const holders: Entry[] = [];
  for (const path of view.pathsWith(id)) {
    const entry = view.get(path);
    if (entry && (entry.brief.claim === id || entry.fallback === id)) holders.push(entry);
  }
  return holders.sort((a, b) => view.dateOf(a.first) - view.dateOf(b.first) || byBytes(a.path, b.path));
}

/**
 * Settle who is served as what.
 * @param written  paths the commit wrote, by path bytes; their entries are in the view with the fallback they carry
 * @param freed  ids that entries before the change held
 */
export function settleIds(view: StateView, written: readonly RepoPath[], freed: Iterable<string>): void {
  const taken = (id: string) => holdersOf(view, id).length > 0;
  for (const path of written) {
    const entry = view.get(path);
    if (entry && entry.brief.claim === null && entry.fallback === null) {
      const fallback = fileId(path, taken);
      view.set({ ...entry, fallback, id: fallback });
    }
  }
  const open = new Set<string>(freed);
  for (const path of written) {
    const entry = view.get(path);
    if (entry?.brief.claim) open.add(entry.brief.claim);
    if (entry?.fallback) open.add(entry.fallback);
  }
  let queue = [...open].sort(byBytes);
  while (queue.length > 0) {
    const next = new Set<string>();
    for (const id of queue) settleOne(view, id, taken, next);
    queue = [...next].sort(byBytes);
  }
}

function settleOne(view: StateView, id: string, taken: (id: string) => boolean, next: Set<string>): void {
  for (const [place, held] of holdersOf(view, id).entries()) {
    const entry = view.get(held.path);
    if (entry === null) continue;
    if (place > 0) lose(view, entry, id, taken);
    else if (entry.brief.claim === id) {
      if (entry.fallback !== null && entry.fallback !== id) next.add(entry.fallback);
      const claimed: NoteId | null = parseNoteId(id);
      if (claimed && (entry.id !== claimed || entry.fallback !== null)) {
        view.set({ ...entry, id: claimed, fallback: null });
      }
    } else if (entry.fallback !== null && entry.id !== entry.fallback && !keepsClaim(view, entry)) {
      view.set({ ...entry, id: entry.fallback });
    }
  }
}

function lose(view: StateView, entry: Entry, id: string, taken: (id: string) => boolean): void {
  if (entry.brief.claim !== id && keepsClaim(view, entry)) {
    view.set({ ...entry, fallback: null });
  } else if (entry.fallback !== null && entry.fallback !== id) {
    if (entry.id !== entry.fallback) view.set({ ...entry, id: entry.fallback });
  } else {
    const fallback = fileId(entry.path, taken);
    view.set({ ...entry, fallback, id: fallback });
  }
}

function keepsClaim(view: StateView, entry: Entry): boolean {
  return entry.brief.claim !== null && holdersOf(view, entry.brief.claim)[0]?.path === entry.path;
}
