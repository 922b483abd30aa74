/**
 * notes.recall over the head: memory in sight, pinned first, then newest. A key is found by the path that it gives,
 * so no file is read but those that are answered.
 */
import { isReservedKey } from "../domain/memory/memory-key.ts";
import { escapeSegment } from "../domain/note-path.ts";
import type { HeadState } from "./head-state.ts";
import type { RecallQuery, RecallRow } from "./note-index.ts";
import { sightOf } from "./search/visible.ts";

/** @cost a look at a few columns of each note, and at the path of each memory in sight */
export function recallNotes(
  head: HeadState,
  query: RecallQuery,
): { readonly rows: readonly RecallRow[]; readonly total: number } {
  const { columns, graph } = head;
  const { filter, viewer, nowMs, limit, prefix } = query;
  const key = query.key === null ? null : `${prefix}${query.key}`;
  const sees = sightOf(head, { filter, viewer, nowMs, ...(isReservedKey(prefix) ? { hidden: true } : {}) });
  const named = fileName(key, prefix);
  const pinned: number[] = [];
  const others: number[] = [];
  let total = 0;
  const order = head.inOrder();
  for (let at = order.length - 1; at >= 0; at--) {
    const path = order[at] ?? 0;
    if (!columns.hasKey(path) || !sees(path) || !named(graph.texts.paths.at(path))) continue;
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
function fileName(key: string | null, prefix: string): (path: string) => boolean {
  if (key !== null) {
    const end = `/${escapeSegment(key)}.md`;
    return (path) => path.endsWith(end);
  }
  if (prefix === "") return () => true;
  // Escapes are by byte, so a text's beginning is its segment's.
  const start = escapeSegment(`${prefix}x`).slice(0, -1);
  return (path) => path.startsWith(start, path.lastIndexOf("/") + 1);
}
