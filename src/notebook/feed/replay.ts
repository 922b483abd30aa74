/**
 * Reading on from a position: the one walk behind subscriptions and `notes.changes`, so that both give the
 * same records. Holds one event back to know whether it is the last of its batch that passes.
 */
import { matches, type NoteFilter } from "../../domain/filters.ts";
import type { Changed, ChangesPage } from "../notebook.ts";
import type { Described } from "./batch.ts";
import type { Batch, LogReader, Position } from "./log-reader.ts";

/** An event with the position after it, or a batch of which nothing passed. */
export interface Step {
  readonly changed: Changed | null;
  readonly position: Position;
  /** Items looked at for this step. */
  readonly looked: number;
}

/** Items looked at for one page: a filter that nothing passes must not hold a request for ever. */
const MAX_LOOKED_PER_PAGE = 10_000;
/** An answer stays under 1,000,000 bytes. */
const MAX_PAGE_BYTES = 700_000;

/** Every step from a position to the head as it is when the walk gets there. */
export async function* steps(log: LogReader, from: Position, filter: NoteFilter): AsyncGenerator<Step> {
  let position = from;
  for (let batch = await log.next(position); batch; batch = await log.next(position)) {
    yield* batchSteps(log, batch, position, filter);
    position = { kind: "log", place: batch.end, skip: 0 };
  }
}

async function* batchSteps(
  log: LogReader,
  batch: Batch,
  position: Position,
  filter: NoteFilter,
): AsyncGenerator<Step> {
  let held: Step | null = null;
  let looked = 0;
  for (let i = position.skip; i < batch.items.length; i++) {
    looked++;
    const described = await batch.items[i]?.describe();
    if (!described || !passes(filter, described)) continue;
    if (held) yield held;
    held = { changed: described.changed, position: { ...position, skip: i + 1 }, looked };
    looked = 0;
  }
  const end: Position = { kind: "log", place: batch.end, skip: 0 };
  const changed = held?.changed ? { ...held.changed, cursor: log.cursor(end) } : null;
  yield { changed, position: end, looked: looked + (held?.looked ?? 0) };
}

/** One page of what a subscription would have sent. @param limit at least 1 */
export async function page(
  log: LogReader,
  from: Position,
  limit: number,
  filter: NoteFilter,
): Promise<ChangesPage> {
  const changes: Changed[] = [];
  let position = from;
  let more = false;
  let looked = 0;
  let bytes = 0;
  for await (const step of steps(log, from, filter)) {
    looked += step.looked;
    if (step.changed) {
      bytes += Buffer.byteLength(JSON.stringify(step.changed));
      more = changes.length >= limit || (changes.length > 0 && bytes > MAX_PAGE_BYTES);
      if (more) break;
      changes.push(step.changed);
    }
    position = step.position;
    more = looked >= MAX_LOOKED_PER_PAGE && !log.atEnd(position);
    if (more) break;
  }
  return { changes, cursor: log.cursor(position), more, squashed: from.kind === "squash" };
}

function passes(filter: NoteFilter, { changed, note }: Described): boolean {
  if (note === null) return Object.values(filter).every((part) => part === undefined);
  // What is asked for is the change's own class: a note that a person wrote may have been deleted by a push.
  return matches(filter, filter.minTrust ? { ...note, trust: changed.trust } : note);
}
