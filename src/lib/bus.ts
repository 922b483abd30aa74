/**
 * Publish and subscribe inside the process. Every listener hears every value in the order of `publish`,
 * also when a listener publishes; a listener that throws is logged and hinders neither the others nor the
 * publisher. Nothing is kept for later: who needs the past reads the log of the repository.
 */

/** One log entry, e.g. `log.warn`. */
export type Warn = (message: string, fields: Readonly<Record<string, string | number | null>>) => void;

export interface Bus<T> {
  /** Hand `value` to every listener of this moment; never throws. */
  publish(value: T): void;
  /** @returns a function that ends the subscription at once, also from inside a listener; may be called twice */
  subscribe(listener: (value: T) => void): () => void;
}

/** @param name what is published, for the log */
export function createBus<T extends NonNullable<unknown>>(name: string, warn: Warn): Bus<T> {
  const listeners = new Set<{ readonly hear: (value: T) => void }>();
  const waiting: T[] = [];
  let delivering = false;

  const deliver = (value: T) => {
    for (const listener of [...listeners]) {
      if (!listeners.has(listener)) continue;
      try {
        listener.hear(value);
      } catch (error) {
        warn("a listener failed", {
          trigger: `publish of ${name}`,
          why: error instanceof Error ? (error.stack ?? error.message) : String(error),
          outcome: "the other listeners were told; this one missed one value",
        });
      }
    }
  };

  return {
    publish(value) {
      waiting.push(value);
      if (delivering) return;
      delivering = true;
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) deliver(next);
      delivering = false;
    },
    subscribe(hear) {
      const listener = { hear };
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
