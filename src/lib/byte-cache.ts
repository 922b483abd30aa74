/** A least-recently-used cache bounded by bytes, for values that can be had again elsewhere. */

export interface ByteCache<K, V> {
  /** The value, now the most recently used; undefined when it is not (or no longer) here. */
  get(key: K): V | undefined;
  /** @param bytes what it costs to hold; a value over the whole bound is not kept */
  set(key: K, value: V, bytes: number): void;
  delete(key: K): void;
  clear(): void;
  /** Bytes held, always ≤ `maxBytes`. */
  readonly bytes: number;
}

/** Make an empty cache. @param maxBytes what all its values together may cost to hold */
export function byteCache<K, V>(maxBytes: number): ByteCache<K, V> {
  const held = new Map<K, { readonly value: V; readonly bytes: number }>();
  let total = 0;
  /** Stands before the oldest: a new look from the head of a Map passes all that was deleted there. */
  let oldest = held.keys();
  const evict = () => {
    let next = oldest.next();
    if (next.done) {
      oldest = held.keys();
      next = oldest.next();
    }
    if (!next.done) remove(next.value);
  };
  const remove = (key: K) => {
    total -= held.get(key)?.bytes ?? 0;
    held.delete(key);
  };
  return {
    get(key) {
      const found = held.get(key);
      if (found === undefined) return undefined;
      held.delete(key);
      held.set(key, found);
      return found.value;
    },
    set(key, value, bytes) {
      remove(key);
      if (bytes > maxBytes) return;
      held.set(key, { value, bytes });
      total += bytes;
      while (total > maxBytes) evict();
    },
    delete: remove,
    clear() {
      held.clear();
      oldest = held.keys();
      total = 0;
    },
    get bytes() {
      return total;
    },
  };
}
