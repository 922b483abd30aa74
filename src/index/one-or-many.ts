/** Maps from a key to a short list, where most lists have one item: that one is held bare. */

/** `T` is never an array itself. */
export type OneOrMany<T> = T | T[];

/** Add an item to the list of a key. */
export function pushTo<K, T extends object>(map: Map<K, OneOrMany<T>>, key: K, item: T): void {
  const held = map.get(key);
  if (held === undefined) map.set(key, item);
  else if (Array.isArray(held)) held.push(item);
  else map.set(key, [held, item]);
}

/** The items in the order they came. */
export function itemsOf<T extends object>(held: OneOrMany<T> | undefined): readonly T[] {
  if (held === undefined) return [];
  return Array.isArray(held) ? held : [held];
}
