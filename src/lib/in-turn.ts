/** Turns: an async function whose calls run one after the other, in the order they were made. */

/** Wrap `fn` so that no two calls overlap. A call that rejects rejects alone; the next runs all the same. */
export function inTurn<Args extends unknown[], T>(
  fn: (...args: Args) => Promise<T>,
): (...args: Args) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (...args) => {
    const turn = last.then(() => fn(...args));
    last = turn.catch(() => undefined);
    return turn;
  };
}
