/** Commits with their events as text and back, for a thread that reads them and one that folds them. */
import type { CommitEvents, NoteEvent } from "../../domain/event.ts";
import type { BlobId } from "../../domain/note.ts";

type Unowned = NoteEvent extends infer Event
  ? Event extends unknown
    ? Omit<Event, "commit">
    : never
  : never;
/** Some events of a commit; `more`: the next row holds others of the same. */
type Row = readonly [commit: CommitEvents["commit"], events: readonly Unowned[], more: boolean];

const BATCH_COMMITS = 256;
/** Some 300 bytes each; a text as V8 holds it has at most 512 MiB. */
const BATCH_EVENTS = 4_096;

interface Packed {
  readonly text: string;
  /** Blobs that its events write. */
  readonly written: readonly BlobId[];
}

/** Texts of so many commits, or of some more events at most; a commit with more goes in parts. */
export async function* packEvents(history: AsyncIterable<CommitEvents>): AsyncGenerator<Packed> {
  let rows: Row[] = [];
  let written: BlobId[] = [];
  let held = 0;
  for await (const { commit, events } of history) {
    let from = 0;
    do {
      const some = events.slice(from, from + BATCH_EVENTS);
      from += some.length;
      rows.push([commit, some.map(({ commit: _, ...event }) => event), from < events.length]);
      for (const event of some) if (event.kind === "written") written.push(event.after);
      held += some.length;
      if (rows.length < BATCH_COMMITS && held < BATCH_EVENTS) continue;
      yield { text: JSON.stringify(rows), written };
      rows = [];
      written = [];
      held = 0;
    } while (from < events.length);
  }
  yield { text: JSON.stringify(rows), written };
}

/** Turns the texts of `packEvents`, in order, into what it was given; the events of a commit share it again. */
export function eventUnpacker(): (text: string) => CommitEvents[] {
  let begun: { readonly commit: CommitEvents["commit"]; readonly events: NoteEvent[] } | null = null;
  return (text) => {
    const whole: CommitEvents[] = [];
    // Only `packEvents` makes these texts.
    for (const [told, events, more] of JSON.parse(text) as Row[]) {
      begun ??= { commit: told, events: [] };
      const { commit, events: own } = begun;
      // An event is its fields and the commit that was left out.
      for (const event of events) own.push({ commit, ...event } as NoteEvent);
      if (more) continue;
      whole.push(begun);
      begun = null;
    }
    return whole;
  };
}
