/** Cut a stream into arrays, so that reads go many at a time and memory holds one slice. */

/** Arrays of `size` items, the last may be shorter; none is empty. */
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
