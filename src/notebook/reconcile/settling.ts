/**
 * Hand edits that wait: since when each has lain unchanged, and when it may be committed. Pure bookkeeping;
 * time is passed in, the disk is somebody else's. Invariant: a file that came to hold the text of a missing one, new or
 * in place of another, never settles without it, so a rename is one commit, keeps its id, and takes no note away.
 */
import type { BlobId, RepoPath } from "../../domain/note.ts";

/** Why an edit isn't committed though it may be settled. */
export type Hold =
  /** In the person's Git index, or half of a rename whose other half is: it waits for their own commit. */
  | "staged"
  /** `reconcile.commit: "manual"`. */
  | "manual"
  /** Both sides changed and don't merge; the other side is kept as a conflict. */
  | "conflict"
  /** It holds a secret that nobody allowed: it waits for another save, or for `notesd allow`. */
  | "secret";

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

interface SettleTimes {
  readonly quietMs: number;
  readonly maxWaitMs: number;
  readonly graceMs: number;
}

/** Editors delete and recreate: a deletion younger than this is none yet. */
const DELETION_MS = 1000;

export interface Settling {
  readonly size: number;
  get(path: RepoPath): Edit | undefined;
  all(): IterableIterator<Edit>;
  /** The disk holds `blob` where the branch holds `was`. The same again changes nothing. */
  saw(path: RepoPath, blob: BlobId | null, was: BlobId | null, nowMs: number): Edit;
  /** The path is level again, or committed. */
  forget(path: RepoPath): void;
  clear(): void;
  /** A missing file is the one that another was renamed and edited from: they settle together, while both wait. */
  tie(gone: RepoPath, came: RepoPath): void;
  /** The other half of such a rename. */
  tiedTo(path: RepoPath): Edit | undefined;
  hold(path: RepoPath, why: Hold): void;
  release(path: RepoPath): void;
  /** The groups that given paths belong to: one edit each, or all halves of a rename. Held ones too. */
  groupsOf(paths: Iterable<RepoPath>): Group[];
  /** Groups that have settled by `nowMs` and that nothing holds. */
  ripe(nowMs: number): Group[];
  /**
   * When to look for ripe groups; null: none waits. Edits that settle within `graceMs` after the first are
   * waited for, so that files saved together are committed together.
   */
  nextMs(): number | null;
}

/** What settles together. */
export interface Group {
  readonly edits: readonly Edit[];
  /** When all of it has settled by itself. */
  readonly atMs: number;
  /** When it may be committed on demand: no deletion in it is younger than a second. */
  readonly atOnceMs: number;
}

/** Begin with no edit waiting. */
export function createSettling(times: SettleTimes): Settling {
  const edits = new Map<RepoPath, Edit>();
  /** Both ways. */
  const ties = new Map<RepoPath, RepoPath>();

  const ownMs = (edit: Edit) =>
    Math.max(
      Math.min(edit.changedMs + times.quietMs, edit.firstMs + times.maxWaitMs),
      edit.blob === null ? edit.changedMs + DELETION_MS : 0,
    );

  /** Missing files and those that hold their text now, by that text; only texts that have both. */
  function renames(): Map<BlobId, Edit[]> {
    const byText = new Map<BlobId, Edit[]>();
    for (const edit of edits.values())
      if (edit.blob === null && edit.was !== null) push(byText, edit.was, edit);
    if (byText.size === 0) return byText;
    const added = new Map<BlobId, Edit[]>();
    for (const edit of edits.values()) {
      if (edit.blob !== null && byText.has(edit.blob)) push(added, edit.blob, edit);
    }
    for (const [text, gone] of byText) {
      const came = added.get(text);
      if (came === undefined) byText.delete(text);
      else gone.push(...came);
    }
    return byText;
  }

  const textOf = (edit: Edit) => edit.blob ?? edit.was;

  const byItsText = (edit: Edit, all: Map<BlobId, Edit[]>) => {
    const text = textOf(edit);
    return text === null ? undefined : all.get(text);
  };

  function tiedTo(path: RepoPath): Edit | undefined {
    const [edit, other] = [edits.get(path), edits.get(ties.get(path) ?? path)];
    const isRename = edit !== other && (edit?.blob === null) !== (other?.blob === null);
    return edit !== undefined && isRename ? other : undefined;
  }

  function groupOf(edit: Edit, all: Map<BlobId, Edit[]>): readonly Edit[] {
    const same = byItsText(edit, all);
    if (same !== undefined) return same;
    const other = tiedTo(edit.path);
    if (other === undefined || byItsText(other, all) !== undefined) return [edit];
    return edit.blob === null ? [edit, other] : [other, edit];
  }

  function forget(path: RepoPath): void {
    edits.delete(path);
    const other = ties.get(path);
    if (other !== undefined) ties.delete(other);
    ties.delete(path);
  }

  const asGroup = (group: readonly Edit[]): Group => ({
    edits: group,
    atMs: group.reduce((ms, edit) => Math.max(ms, ownMs(edit)), 0),
    atOnceMs: group.reduce((ms, e) => (e.blob === null ? Math.max(ms, e.changedMs + DELETION_MS) : ms), 0),
  });

  function groups(): Group[] {
    const all = renames();
    const firsts = [...edits.values()].filter((edit) => groupOf(edit, all)[0] === edit);
    return firsts.map((edit) => asGroup(groupOf(edit, all)));
  }

  const free = () => groups().filter((group) => group.edits.every((edit) => edit.hold === null));

  /** When each free group settles. Asked after every hint, so that edits without a rename must cost next to nothing. */
  function* settleTimes(): Generator<number> {
    if (ties.size > 0 || renames().size > 0) for (const group of free()) yield group.atMs;
    else for (const edit of edits.values()) if (edit.hold === null) yield ownMs(edit);
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
    forget,
    clear() {
      edits.clear();
      ties.clear();
    },
    tie(gone, came) {
      ties.set(gone, came);
      ties.set(came, gone);
    },
    tiedTo,
    hold(path, why) {
      const edit = edits.get(path);
      if (edit !== undefined) edit.hold = why;
    },
    release(path) {
      const edit = edits.get(path);
      if (edit !== undefined) edit.hold = null;
    },
    groupsOf(paths) {
      const wanted = new Set(paths);
      return groups().filter((group) => group.edits.some((edit) => wanted.has(edit.path)));
    },
    ripe: (nowMs) => free().filter((group) => group.atMs <= nowMs),
    nextMs() {
      let firstMs = Number.POSITIVE_INFINITY;
      for (const ms of settleTimes()) firstMs = Math.min(firstMs, ms);
      if (firstMs === Number.POSITIVE_INFINITY) return null;
      let lastMs = firstMs;
      for (const ms of settleTimes()) if (ms <= firstMs + times.graceMs) lastMs = Math.max(lastMs, ms);
      return lastMs;
    },
  };
}

function push<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}
