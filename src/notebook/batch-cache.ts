/**
 * The last batches that were read or made, so that many subscribers at one place share one reading.
 * Bounded by items; what is asked for twice at once is loaded once; a failed load is not remembered.
 */
import type { Batch } from "./log-reader.ts";

export class BatchCache {
  readonly #entries = new Map<string, { batch: Promise<Batch | null>; weight: number }>();
  readonly #maxItems: number;
  #weight = 0;

  constructor(maxItems: number) {
    this.#maxItems = maxItems;
  }

  put(key: string, batch: Batch): void {
    this.#drop(key);
    this.#add(key, Promise.resolve(batch), weigh(batch));
  }

  /** @param load gives null at the head: that is not remembered */
  get(key: string, load: () => Promise<Batch | null>): Promise<Batch | null> {
    const known = this.#entries.get(key);
    if (known) return known.batch;
    const batch = load();
    this.#add(key, batch, 1);
    batch.then(
      (loaded) => {
        if (this.#entries.get(key)?.batch !== batch) return;
        this.#drop(key);
        if (loaded) this.#add(key, batch, weigh(loaded));
      },
      () => {
        if (this.#entries.get(key)?.batch === batch) this.#drop(key);
      },
    );
    return batch;
  }

  #add(key: string, batch: Promise<Batch | null>, weight: number): void {
    this.#entries.set(key, { batch, weight });
    this.#weight += weight;
    for (const oldest of this.#entries.keys()) {
      if (this.#weight <= this.#maxItems || oldest === key) break;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    this.#weight -= this.#entries.get(key)?.weight ?? 0;
    this.#entries.delete(key);
  }
}

const weigh = (batch: Batch) => 1 + batch.items.length;
