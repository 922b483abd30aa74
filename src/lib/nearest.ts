/** Did you mean …: the candidate that is fewest typing errors away from a word. */

/**
 * The nearest candidate, or null when none is near (over a third of the longer word is different).
 * @cost word × candidate characters each; words are cut at 64 characters
 */
export function nearest(word: string, candidates: Iterable<string>): string | null {
  const given = word.slice(0, 64).toLowerCase();
  let best: string | null = null;
  let fewest = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const other = candidate.slice(0, 64).toLowerCase();
    // Most of a name, with its end left out, is that name.
    const begun = other.startsWith(given) && given.length * 2 > other.length;
    const errors = begun ? 1 : distance(given, other);
    if (errors < fewest && errors <= Math.max(1, Math.max(given.length, candidate.length) / 3)) {
      best = candidate;
      fewest = errors;
    }
  }
  return best;
}

/** Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`. */
function distance(a: string, b: string): number {
  let older: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(
        (previous[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + 1,
        (previous[j - 1] ?? 0) + (same ? 0 : 1),
      );
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, (older[j - 2] ?? 0) + 1);
      }
      row.push(cost);
    }
    older = previous;
    previous = row;
  }
  return previous[b.length] ?? 0;
}
