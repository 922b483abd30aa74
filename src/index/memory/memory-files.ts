/** One agent's memory as files of names and sizes. Looks at the start of each record: no body is decoded, no note made. */

import { type NoteId, SCOPES } from "../../domain/note.ts";
import { escapeSegment } from "../../domain/note-path.ts";
import { glance } from "../file-record.ts";
import type { HeadState } from "../head-state.ts";

const AGENT = SCOPES.indexOf("agent");
/** A name that is longer may have been cut behind these. @see `escapeSegment` */
const SURE_CHARS = 64;

export interface MemoryFileQuery {
  /** Whose notebook. */
  readonly agentId: number;
  /** "" for every key that callers see. */
  readonly keyPrefix: string;
  readonly nowMs: number;
}

/** One memory of a notebook by its name and size. */
export interface MemoryFileRow {
  readonly noteId: NoteId;
  readonly key: string;
  /** Of the body in UTF-8. */
  readonly bodyBytes: number;
}

/** Newest update first. @cost a look at each memory of the notebook, and at the record of each that is answered */
export function memoryFiles(head: HeadState, query: MemoryFileQuery): MemoryFileRow[] {
  const { agentId, keyPrefix, nowMs } = query;
  const { columns, graph } = head;
  const start = keyPrefix === "" ? "" : escapeSegment(`${keyPrefix}x`).slice(0, -1).slice(0, SURE_CHARS);
  const found: MemoryFileRow[] = [];
  const order = head.memories.inNotebooks({ scope: "agent", agentIds: [agentId] }, { kind: "person" });
  for (let at = order.length - 1; at >= 0; at--) {
    const path = order[at] ?? 0;
    if (!columns.hasKey(path) || columns.isHidden(path) || columns.scopeOf(path) !== AGENT) continue;
    if (columns.expiresMs.at(path) <= nowMs) continue;
    if (start !== "") {
      const name = graph.texts.paths.at(path);
      if (!name.startsWith(start, name.lastIndexOf("/") + 1)) continue;
    }
    const { key, bodyBytes } = glance(head.texts.read(columns.text.at(path)));
    if (key?.startsWith(keyPrefix)) found.push({ noteId: head.idOf(path), key, bodyBytes });
  }
  return found;
}
