/**
 * Which requests a head remembers: the last so many that its history holds, and of these the first one of each key.
 * Invariant: that is a function of the end of the history alone.
 */
import { counts } from "../lib/held/column.ts";
import { HashSlots } from "../lib/held/hash-slots.ts";
import { keyBytes, type RequestTable } from "./request-table.ts";

export class RequestWindow {
  readonly #table: RequestTable;
  readonly #most: number;
  /** Numbers of requests, in order of the history. */
  readonly #order = counts();
  #slots = this.#newSlots();

  /** @param most  how many are remembered */
  constructor(table: RequestTable, most: number) {
    this.#table = table;
    this.#most = most;
  }

  #newSlots(): HashSlots {
    return new HashSlots((place) => this.#table.hashOf(this.#order.at(place)));
  }

  /** The history reaches a commit. */
  take(commit: number): void {
    const number = this.#table.numberOf(commit);
    if (number < 0) return;
    this.#slots.add(this.#table.hashOf(number), this.#order.push(number));
    if (this.#order.length >= this.#most * 2) this.#trim();
  }

  /** The number of the request with this key; -1: it is not remembered. */
  find(key: string): number {
    const bytes = keyBytes(key);
    const place = bytes === null ? -1 : this.#find(bytes);
    return place < 0 ? -1 : this.#order.at(place);
  }

  /** The first of its places that is remembered. */
  #find(key: Buffer): number {
    const end = this.#order.length;
    let found = end;
    this.#slots.find(key.readInt32LE(0), (place) => {
      const isOne = place >= end - this.#most && this.#table.hasKey(this.#order.at(place), key);
      if (isOne) found = Math.min(found, place);
      return false;
    });
    return found === end ? -1 : found;
  }

  #trim(): void {
    this.#order.dropFirst(Math.max(0, this.#order.length - this.#most));
    this.#slots = this.#newSlots();
    this.#slots.reserve(this.#order.length);
    for (let place = 0; place < this.#order.length; place++)
      this.#slots.add(this.#table.hashOf(this.#order.at(place)), place);
  }

  /** Let the table go of what no head near this one asks for, once that is worth a copy. @cost seldom, some ms */
  forgetOld(): void {
    const { first, end } = this.#table;
    const spare = Math.ceil(this.#most * SPARE);
    if (end - first < this.#most + spare * 2) return;
    this.#trim();
    let oldest = end - this.#most - spare;
    for (let place = 0; place < this.#order.length; place++) oldest = Math.min(oldest, this.#order.at(place));
    this.#table.forgetBefore(oldest);
  }

  get most(): number {
    return this.#most;
  }

  clear(): void {
    this.#order.clear();
    this.#slots = this.#newSlots();
  }
}

/** Share of what is remembered that is held beside it, so that the branch can be put back by as much. */
const SPARE = 1 / 4;
