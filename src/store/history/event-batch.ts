/** Commits with their events as text and back, for a thread that reads them and one that folds them. */
import type { CommitEvents, NoteEvent } from "../../domain/event.ts";

type Unowned = NoteEvent extends infer Event
  ? Event extends unknown
    ? Omit<Event, "commit">
    : never
  : never;
type Row = readonly [commit: CommitEvents["commit"], events: readonly Unowned[]];

/** @cost some µs a commit */
export function packEvents(batch: readonly CommitEvents[]): string {
  return JSON.stringify(
    batch.map(({ commit, events }): Row => [commit, events.map(({ commit: _, ...event }) => event)]),
  );
}

/** What `packEvents` was given; the events of a commit share it again. */
export function unpackEvents(text: string): CommitEvents[] {
  // Only `packEvents` makes these texts.
  const rows = JSON.parse(text) as Row[];
  return rows.map(([commit, events]) => ({
    commit,
    // An event is its fields and the commit that was left out.
    events: events.map((event) => ({ commit, ...event }) as NoteEvent),
  }));
}
