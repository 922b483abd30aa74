/** Numbers that look random and are the same in every run: a failing run can be repeated by its seed. */

/** Numerical Recipes' generator. @returns the next number, 0 ≤ n < 1 */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** The same as whole numbers. @returns the next number, 0 ≤ n < `below` */
export function wholeFrom(seed: number): (below: number) => number {
  const next = randomFrom(seed);
  return (below) => Math.floor(next() * below);
}
