/** Work in slices: a stream cut into arrays, and steps between which others have their turn. */

/** Cut a stream: arrays of `size` items, the last may be shorter; none is empty. */
export async function* slices<T>(items: AsyncIterable<T> | Iterable<T>, size: number): AsyncGenerator<T[]> {
  let slice: T[] = [];
  for await (const item of items) {
    slice.push(item);
    if (slice.length < size) continue;
    yield slice;
    slice = [];
  }
  if (slice.length > 0) yield slice;
}

/** Take all steps at once. */
export function finish<T>(steps: Generator<void, T>): T {
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value;
}

const TURN_MS = 8;

/** Take all steps, giving others their turn after some milliseconds. */
export async function finishInTurns<T>(steps: Generator<void, T>): Promise<T> {
  let untilMs = performance.now() + TURN_MS;
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return step.value;
    if (performance.now() < untilMs) continue;
    await new Promise((resolve) => setImmediate(resolve));
    untilMs = performance.now() + TURN_MS;
  }
}
