/**
 * Where agents took away or rewrote lines that people wrote: found by the lines' own lineage, so that an agent who
 * corrects itself, or only adds, is not told of.
 */

import { carriedLines } from "../../domain/carried-lines.ts";
import type { CommitId } from "../../domain/note.ts";
import type { HistoryRow, NoteIndex } from "../../index/note-index.ts";
import type { Lineage, LineageDeps } from "./lineage.ts";

interface PeoplesTextDeps extends LineageDeps {
  readonly index: LineageDeps["index"] & Pick<NoteIndex, "rowsOf">;
}

export interface LostLines {
  /** People's lines that a step of an agent took away, blank ones not counted. */
  readonly count: number;
  /** The first of them. */
  readonly first: string;
}

/** Front matter that any write moves. */
const DATE = /^(?:updated_at|modified|created_at|created|date): /;

/**
 * @param row  a step of an agent
 * @returns null when no line of a person's went
 * @cost a line diff, and the lineage of the lines that went
 */
export async function lostLines(
  deps: PeoplesTextDeps,
  lineage: Lineage,
  row: HistoryRow,
): Promise<LostLines | null> {
  const version = row.revision === null ? null : deps.index.fileAt(row.commit, row.path);
  if (version === null) return null;
  const [parent] = await lineage.parentsOf(version);
  if (parent === undefined) return null;
  const before = await lineage.linesOf(parent);
  const kept = new Set(carriedLines(before, await lineage.linesOf(version)));
  const gone = [...before.keys()].filter((at) => {
    const line = before[at] ?? "";
    return !kept.has(at) && line.trim() !== "" && !DATE.test(line);
  });
  if (gone.length === 0) return null;
  const origins = await lineage.originsOf(parent, gone);
  const peoples = gone.filter((_, at) => isPersons(deps, origins[at], row));
  const [first] = peoples;
  return first === undefined ? null : { count: peoples.length, first: before[first] ?? "" };
}

function isPersons(
  { index }: PeoplesTextDeps,
  commit: CommitId | undefined,
  { noteId }: HistoryRow,
): boolean {
  if (commit === undefined) return false;
  const row = index.rowsOf(commit).find((one) => one.noteId === noteId);
  return row !== undefined && row.agentId === null && row.source !== "import";
}
