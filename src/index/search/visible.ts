/** Who sees what: the notebooks of a default query, expired notes, hidden keys. One rule for every query. */
import { matches, type NoteFilter } from "../../domain/filters.ts";
import type { LiveNote } from "../metadata.ts";
import type { Viewer } from "../note-index.ts";

export interface Sight {
  readonly filter: NoteFilter;
  readonly viewer: Viewer;
  readonly nowMs: number;
}

/**
 * Whether a query shows a note: it passes the filter, is not expired, has no hidden key (`__…`), and,
 * where the filter names no notebook, lies in the viewer's sight: for an agent its own notebook,
 * workspace memory and every typed note; for a person everything.
 *
 * @see spec: protocol, section 4, "Who sees what"
 */
export function sees({ filter, viewer, nowMs }: Sight, note: LiveNote): boolean {
  const { meta } = note;
  if (note.expiresMs !== null && note.expiresMs <= nowMs) return false;
  if (meta.key?.startsWith("__")) return false;
  if (filter.agentIds === undefined && viewer.kind === "agent") {
    const typed = meta.key === null;
    if (!typed && meta.scope !== "workspace" && meta.agent_id !== viewer.agentId) return false;
  }
  return matches(filter, meta);
}
