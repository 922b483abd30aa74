/** Pauses between attempts: each about twice the one before, never the same for two who began together. */

/**
 * @param attempt 1 for the first pause
 * @param random  0 ≤ n < 1
 * @returns between a half and the whole of `firstMs · 2^(attempt - 1)`, at most `mostMs`
 */
export function backoffMs(
  attempt: number,
  { firstMs, mostMs }: { readonly firstMs: number; readonly mostMs: number },
  random: () => number,
): number {
  const wholeMs = Math.min(mostMs, firstMs * 2 ** Math.min(attempt - 1, 30));
  return Math.round(wholeMs / 2 + (random() * wholeMs) / 2);
}
