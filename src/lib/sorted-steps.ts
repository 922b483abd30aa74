/** Sorting in steps between which others have their turn: short runs, then merges of two. */

const RUN_ITEMS = 1_024;

/** Sort as `Array.prototype.sort` does, into another array; yields after some thousand comparisons. */
export function* sortedSteps<T>(items: readonly T[], compare: (a: T, b: T) => number): Generator<void, T[]> {
  let from: T[] = [];
  for (let start = 0; start < items.length; start += RUN_ITEMS) {
    for (const item of items.slice(start, start + RUN_ITEMS).sort(compare)) from.push(item);
    yield;
  }
  for (let run = RUN_ITEMS; run < from.length; run *= 2) {
    const to: T[] = [];
    for (let start = 0; start < from.length; start += run * 2) {
      yield* merged(from, start, Math.min(start + run, from.length), Math.min(start + run * 2, from.length), {
        to,
        compare,
      });
    }
    from = to;
  }
  return from;
}

/** Add two neighbouring runs to `to`, as one. */
function* merged<T>(
  from: readonly T[],
  start: number,
  middle: number,
  end: number,
  { to, compare }: { readonly to: T[]; readonly compare: (a: T, b: T) => number },
): Generator<void> {
  let left = start;
  let right = middle;
  while (left < middle || right < end) {
    const [a, b] = [from[left], from[right]];
    const takeLeft =
      right >= end || (left < middle && a !== undefined && b !== undefined && compare(a, b) <= 0);
    const taken = takeLeft ? from[left++] : from[right++];
    if (taken !== undefined) to.push(taken);
    if (to.length % RUN_ITEMS === 0) yield;
  }
}
