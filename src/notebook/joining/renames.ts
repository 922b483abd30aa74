/**
 * Files that one side moved while the other changed them: the change follows the file, so that a note keeps its id and
 * never comes to be twice. A move is one deletion and exactly one addition of the same blob, or of a note that says
 * the same id.
 */
import type { RepoPath } from "../../domain/note.ts";
import { byBytes } from "../../lib/byte-order.ts";
import type { EntryChange } from "../../store/advance.ts";
import type { NoteWords } from "../reconcile/reconciler.ts";
import { isFile } from "./entries.ts";
import type { Parted } from "./parted.ts";

/** One file that lies at another path on one side, or on both. */
export interface MovedFile {
  readonly from: EntryChange;
  readonly ours: RepoPath;
  readonly theirs: RepoPath;
  /** Where it shall lie: the side's that moved it; the smaller path where both did. */
  readonly to: RepoPath;
}

interface Deps {
  readonly words: Pick<NoteWords, "describe">;
  readonly isNote: (path: RepoPath) => boolean;
}

/** Additions of a side that are read to find a note by its id; with more only equal bytes tell. */
const MAX_READ = 2_000;

/** @cost nothing without a file that one side deleted and the other changed; then the blobs that side added */
export async function movedFiles(deps: Deps, parted: Parted): Promise<MovedFile[]> {
  const targets = { ours: targetsOf(deps, parted, "ours"), theirs: targetsOf(deps, parted, "theirs") };
  const moved: MovedFile[] = [];
  const used = new Set<RepoPath>();
  for (const [path, mine] of parted.ours) {
    const other = parted.theirs.get(path);
    if (other === undefined || (mine.after !== null && other.after !== null)) continue;
    const [ours, theirs] = [
      mine.after === null ? await targets.ours(mine) : path,
      other.after === null ? await targets.theirs(other) : path,
    ];
    if (ours === null || theirs === null || [ours, theirs].some((one) => used.has(one))) continue;
    const to = targetOf(parted, { from: path, ours, theirs });
    if (to === null) continue;
    for (const one of [ours, theirs]) used.add(one);
    moved.push({ from: mine, ours, theirs, to });
  }
  return moved;
}

/** Which of the two paths; null where a side has another file at the other's, so that nothing follows the move. */
function targetOf(
  parted: Parted,
  { from, ours, theirs }: { readonly from: RepoPath; readonly ours: RepoPath; readonly theirs: RepoPath },
): RepoPath | null {
  if (ours === theirs) return ours;
  const isFree = (path: RepoPath) =>
    (parted[path === ours ? "theirs" : "ours"].get(path)?.after ?? null) === null;
  if (!isFree(ours) || !isFree(theirs)) return null;
  // Of a side that left it where it was the path is no choice.
  return [ours, theirs].filter((path) => path !== from).sort(byBytes)[0] ?? null;
}

/** Where a side moved a file that it deleted; null: nowhere, or nobody can tell. */
function targetsOf(deps: Deps, parted: Parted, side: "ours" | "theirs") {
  const added = [...parted[side].values()].filter(({ before, after }) => before === null && isFile(after));
  let ids: Promise<Map<string, RepoPath | null>> | null = null;

  const idOf = async (path: RepoPath, blob: string) => deps.words.describe(path, await parted.read(blob)).id;
  async function readIds(): Promise<Map<string, RepoPath | null>> {
    const found = new Map<string, RepoPath | null>();
    const notes = added.filter(({ path }) => deps.isNote(path));
    for (const { path, after } of notes.length > MAX_READ ? [] : notes) {
      const id = after === null ? null : await idOf(path, after.id);
      if (id !== null) found.set(id, found.has(id) ? null : path);
    }
    return found;
  }

  return async ({ path, before }: EntryChange): Promise<RepoPath | null> => {
    if (!isFile(before)) return null;
    const same = added.filter(({ after }) => after?.id === before.id);
    if (same.length > 0) return same.length === 1 ? (same[0]?.path ?? null) : null;
    const id = deps.isNote(path) ? await idOf(path, before.id) : null;
    ids ??= readIds();
    return id === null ? null : ((await ids).get(id) ?? null);
  };
}
