/**
 * A cache bounded by bytes for what is read by the thousand: two generations, of which the older is dropped
 * whole. What was used lately stays, nearly as with least-recently-used, but a hit changes nothing.
 */

export interface GenerationCache<K, V> {
  /** Undefined when it is not (or no longer) here. */
  get(key: K): V | undefined;
  /** A value over half the bound is not kept. */
  set(key: K, value: V): void;
  clear(): void;
}

/**
 * Make an empty cache.
 * @param maxBytes  what all its values together may cost to hold
 * @param bytesOf   what one costs; the same at every call
 */
export function generationCache<K, V>(
  maxBytes: number,
  bytesOf: (value: V) => number,
): GenerationCache<K, V> {
  let young = new Map<K, V>();
  let old = new Map<K, V>();
  let youngBytes = 0;
  const keep = (key: K, value: V) => {
    const bytes = bytesOf(value);
    if (bytes > maxBytes / 2) return;
    if (youngBytes + bytes > maxBytes / 2) {
      old = young;
      young = new Map();
      youngBytes = 0;
    }
    young.set(key, value);
    youngBytes += bytes;
  };
  return {
    get(key) {
      const found = young.get(key);
      if (found !== undefined) return found;
      const older = old.get(key);
      if (older !== undefined) keep(key, older);
      return older;
    },
    set(key, value) {
      const replaced = young.get(key);
      if (replaced !== undefined) youngBytes -= bytesOf(replaced);
      young.delete(key);
      old.delete(key);
      keep(key, value);
    },
    clear() {
      young = new Map();
      old = new Map();
      youngBytes = 0;
    },
  };
}
