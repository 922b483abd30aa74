/**
 * The last batches that were read or made, so that many subscribers at one place share one reading.
 * Bounded by items; what is asked for twice at once is loaded once; a failed load is not remembered. A batch too
 * large for the bound is held weakly, so that paging through it does not read it again for each page.
 */
import type { Batch } from "./log-reader.ts";

interface Entry {
  readonly batch: Promise<Batch | null>;
  readonly weight: number;
}

export class BatchCache {
  readonly #entries = new Map<string, Entry>();
  readonly #maxItems: number;
  #weight = 0;
  #large: { readonly key: string; readonly batch: WeakRef<Batch> } | null = null;

  constructor(maxItems: number) {
    this.#maxItems = maxItems;
  }

  put(key: string, batch: Batch): void {
    this.#drop(key);
    const weight = 1 + batch.items.length;
    if (weight > this.#maxItems) this.#large = { key, batch: new WeakRef(batch) };
    else this.#add(key, { batch: Promise.resolve(batch), weight });
  }

  /** @param load gives null at the head: that is not remembered */
  get(key: string, load: () => Promise<Batch | null>): Promise<Batch | null> {
    const large = this.#large?.key === key ? this.#large.batch.deref() : undefined;
    if (large) return Promise.resolve(large);
    const known = this.#entries.get(key);
    if (known) return known.batch;
    const entry: Entry = { batch: load(), weight: 1 };
    this.#add(key, entry);
    entry.batch.then(
      (loaded) => {
        if (this.#entries.get(key) !== entry) return;
        this.#drop(key);
        if (loaded) this.put(key, loaded);
      },
      () => {
        if (this.#entries.get(key) === entry) this.#drop(key);
      },
    );
    return entry.batch;
  }

  #add(key: string, entry: Entry): void {
    this.#entries.set(key, entry);
    this.#weight += entry.weight;
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
