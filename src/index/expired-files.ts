/** Notes that are gone by their own expiry and still lie there: what a sweep goes through. Reads columns alone. */
import { fileOf } from "./find-at.ts";
import type { ExpiredFile } from "./note-index.ts";
import type { Parts } from "./parts.ts";

/** Each as it is when its turn comes, so that the head may move in between. */
export function* expiredFiles({ graph, state }: Parts, nowMs: number): Generator<ExpiredFile> {
  // A copy: the order is the state's own.
  for (const path of state.expired(nowMs).slice()) {
    const expiresMs = state.columns.expiresMs.at(path);
    const file = state.holds(path) ? fileOf(graph, graph.entries.at(state.entryOf(path))) : null;
    if (file !== null && expiresMs <= nowMs) yield { ...file, expiresMs };
  }
}
