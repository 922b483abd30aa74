/**
 * Hand edits that wait: since when each has lain unchanged, and when it may be committed. Pure bookkeeping;
 * time is passed in, the disk is somebody else's. Invariant: a new file with the text of a missing one never
 * settles without it, so a rename is one commit and keeps its id.
 */
import type { BlobId, RepoPath } from "../domain/note.ts";

/** Why an edit isn't committed though it may be settled. */
export type Hold =
  /** In the person's Git index: it waits for their own commit. */
  | "staged"
  /** `reconcile.commit: "manual"`. */
  | "manual"
  /** Both sides changed and don't merge; the other side is kept as a conflict. */
  | "conflict";

export interface Edit {
  readonly path: RepoPath;
  /** What the disk holds; null: the file is gone. */
  blob: BlobId | null;
  /** What the branch holds there; null: a new file. */
  was: BlobId | null;
  /** First save after the last commit, and last change; ms since the epoch. */
  firstMs: number;
  changedMs: number;
  hold: Hold | null;
}

export interface SettleTimes {
  readonly quietMs: number;
  readonly maxWaitMs: number;
}

/** Editors delete and recreate: a deletion younger than this is none yet. */
export const DELETION_MS = 1000;

export interface Settling {
  readonly size: number;
  get(path: RepoPath): Edit | undefined;
  all(): IterableIterator<Edit>;
  /** The disk holds `blob` where the branch holds `was`. The same again changes nothing. */
  saw(path: RepoPath, blob: BlobId | null, was: BlobId | null, nowMs: number): Edit;
  /** The path is level again, or committed. */
  forget(path: RepoPath): void;
  clear(): void;
  hold(path: RepoPath, why: Hold): void;
  release(path: RepoPath): void;
  /** Paths with those of renames that they are half of. */
  withPartners(paths: Iterable<RepoPath>): Set<RepoPath>;
  /** When a path may be committed at once, its partners included: no deletion is younger than a second. */
  atOnceMs(path: RepoPath): number;
  /** Everything that has settled by `nowMs`, partners included. */
  ripe(nowMs: number): RepoPath[];
  /** When the next edit that nothing holds settles; null: none waits. */
  nextMs(): number | null;
}

export function createSettling(times: SettleTimes): Settling {
  const edits = new Map<RepoPath, Edit>();

  const ownMs = (edit: Edit) =>
    Math.max(
      Math.min(edit.changedMs + times.quietMs, edit.firstMs + times.maxWaitMs),
      edit.blob === null ? edit.changedMs + DELETION_MS : 0,
    );

  /** Missing and new files by the text they share; only texts that have both. */
  function renames(): Map<BlobId, Edit[]> {
    const byText = new Map<BlobId, Edit[]>();
    const missing = [...edits.values()].filter((e) => e.blob === null && e.was !== null);
    for (const edit of missing) if (edit.was !== null) push(byText, edit.was, edit);
    if (byText.size === 0) return byText;
    const added = new Map<BlobId, Edit[]>();
    for (const edit of edits.values()) {
      if (edit.was === null && edit.blob !== null && byText.has(edit.blob)) push(added, edit.blob, edit);
    }
    for (const [text, gone] of byText) {
      const came = added.get(text);
      if (came === undefined) byText.delete(text);
      else gone.push(...came);
    }
    return byText;
  }

  const textOf = (edit: Edit) => (edit.blob === null ? edit.was : edit.was === null ? edit.blob : null);

  function groupOf(edit: Edit, all: Map<BlobId, Edit[]>): readonly Edit[] {
    const text = textOf(edit);
    return (text === null ? undefined : all.get(text)) ?? [edit];
  }

  /** Groups that nothing holds, with the moment at which all of each have settled. */
  function* groups(): Generator<{ edits: readonly Edit[]; atMs: number }> {
    const all = renames();
    for (const edit of edits.values()) {
      const group = groupOf(edit, all);
      if (group[0] !== edit || group.some((e) => e.hold !== null)) continue;
      yield { edits: group, atMs: Math.max(...group.map(ownMs)) };
    }
  }

  return {
    get size() {
      return edits.size;
    },
    get: (path) => edits.get(path),
    all: () => edits.values(),
    saw(path, blob, was, nowMs) {
      const known = edits.get(path);
      if (known === undefined) {
        const edit: Edit = { path, blob, was, firstMs: nowMs, changedMs: nowMs, hold: null };
        edits.set(path, edit);
        return edit;
      }
      if (known.blob !== blob) {
        known.blob = blob;
        known.changedMs = nowMs;
        known.hold = null;
      }
      if (known.was !== was) {
        known.was = was;
        known.hold = null;
      }
      return known;
    },
    forget: (path) => void edits.delete(path),
    clear: () => edits.clear(),
    hold(path, why) {
      const edit = edits.get(path);
      if (edit !== undefined) edit.hold = why;
    },
    release(path) {
      const edit = edits.get(path);
      if (edit !== undefined) edit.hold = null;
    },
    withPartners(paths) {
      const all = renames();
      const found = new Set<RepoPath>();
      for (const path of paths) {
        const edit = edits.get(path);
        if (edit !== undefined) for (const { path: other } of groupOf(edit, all)) found.add(other);
      }
      return found;
    },
    atOnceMs(path) {
      const edit = edits.get(path);
      if (edit === undefined) return 0;
      const gone = groupOf(edit, renames()).filter((e) => e.blob === null);
      return Math.max(0, ...gone.map((e) => e.changedMs + DELETION_MS));
    },
    ripe(nowMs) {
      return [...groups()].filter((g) => g.atMs <= nowMs).flatMap((g) => g.edits.map((e) => e.path));
    },
    nextMs() {
      let next: number | null = null;
      for (const { atMs } of groups()) next = Math.min(next ?? atMs, atMs);
      return next;
    },
  };
}

function push<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}
