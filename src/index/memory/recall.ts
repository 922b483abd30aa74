/**
 * notes.recall over the head: memory in sight, pinned first, then newest. A key is found by the path that it gives,
 * so no file is read but those that are answered.
 */
import { isReservedKey } from "../../domain/memory/memory-key.ts";
import { escapeSegment } from "../../domain/note-path.ts";
import type { HeadState } from "../head-state.ts";
import type { RecallQuery, RecallRow } from "../note-index.ts";
import { sightOf } from "../search/visible.ts";

/** @cost a look at a few columns of each memory in the notebooks in sight; of a key, at the end of each one's path */
export function recallNotes(
  head: HeadState,
  query: RecallQuery,
): { readonly rows: readonly RecallRow[]; readonly total: number } {
  const { columns } = head;
  const { filter, viewer, nowMs, limit, prefix } = query;
  const key = query.key === null ? null : `${prefix}${query.key}`;
  const sees = sightOf(head, { filter, viewer, nowMs, ...(isReservedKey(prefix) ? { hidden: true } : {}) });
  const named = fileName(head, key, prefix);
  const pinned: number[] = [];
  const others: number[] = [];
  let total = 0;
  const order = head.memories.inNotebooks(filter, viewer);
  for (let at = order.length - 1; at >= 0; at--) {
    const path = order[at] ?? 0;
    if (!columns.hasKey(path) || !sees(path) || !named(path)) continue;
    total += 1;
    const rows = columns.isPinned(path) ? pinned : others;
    if (rows.length < limit) rows.push(path);
  }
  const rows = [...pinned, ...others].slice(0, limit).flatMap((path): RecallRow[] => {
    const note = head.at(path);
    return note === null ? [] : [{ note: note.meta, value: note.body }];
  });
  return { rows, total };
}

/** Whether a path is of a key, or of one that begins so. */
function fileName(head: HeadState, key: string | null, prefix: string): (path: number) => boolean {
  const { paths } = head.graph.texts;
  if (key !== null) {
    const ending = Buffer.from(`/${escapeSegment(key)}.md`);
    return (path) => paths.endsWith(path, ending);
  }
  if (prefix === "") return () => true;
  // Escapes are by byte, so a text's beginning is its segment's.
  const start = escapeSegment(`${prefix}x`).slice(0, -1);
  return (path) => {
    const name = paths.at(path);
    return name.startsWith(start, name.lastIndexOf("/") + 1);
  };
}
