/** Random numbers that are the same in every run, so that two repositories of one size hold the same notes. */

/**
 * @param {number} seed
 * @returns {() => number} 0 up to, not including, 1
 * @see mulberry32, by Tommy Ettinger (public domain)
 */
export function randomFrom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * @template T
 * @param {() => number} random
 * @param {readonly T[]} list  not empty
 * @returns {T}
 */
export const pick = (random, list) => list[Math.floor(random() * list.length)];
