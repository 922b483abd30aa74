/**
 * Requests with an idempotency key, by the commit that carried each out: in columns, the last ones that arrived. Which of
 * them a head remembers is `request-window.ts`. Invariant: a request keeps its number; the oldest are let go of together.
 */
import type { NoteId } from "../domain/note.ts";
import { Bytes, counts, mustBeLevel, type Rows } from "../lib/held/column.ts";
import type { TextPool } from "../lib/held/text-pool.ts";

/** What keys and hashes are: 64 hexadecimal digits. */
const DIGEST = /^[0-9a-f]{64}$/;
const DIGEST_BYTES = 32;

export interface Request {
  readonly key: string;
  readonly hash: string;
  readonly noteId: NoteId | null;
}

export class RequestTable {
  readonly #ids: TextPool;
  /** Numbers of the commits, rising. */
  readonly #commits = counts();
  readonly #keys = new Bytes();
  readonly #hashes = new Bytes();
  readonly #notes = counts();
  /** How many were let go of: the number of the first row. */
  #forgotten = 0;

  readonly rows: readonly Rows[] = [this.#commits, this.#keys, this.#hashes, this.#notes];

  /** @param ids  where ids of notes have their numbers */
  constructor(ids: TextPool) {
    this.#ids = ids;
  }

  /** Of the requests held: the first one's number. */
  get first(): number {
    return this.#forgotten;
  }
  /** One more than the last one's number. */
  get end(): number {
    return this.#forgotten + this.#commits.length;
  }

  /** Remember what a commit, the newest there is, was asked by. What is no digest is nobody's request. */
  push(commit: number, { key, hash, noteId }: Request): void {
    if (!DIGEST.test(key) || !DIGEST.test(hash)) return;
    this.#commits.push(commit);
    for (const [bytes, digest] of [
      [this.#keys, key],
      [this.#hashes, hash],
    ] as const) {
      const from = bytes.extend(DIGEST_BYTES);
      bytes.held.write(digest, from, "hex");
    }
    this.#notes.push(this.#ids.ofOrNull(noteId));
  }

  /** The number of a commit's request; -1: it has none, or none that is still held. */
  numberOf(commit: number): number {
    let low = 0;
    let high = this.#commits.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#commits.at(middle) < commit) low = middle + 1;
      else high = middle;
    }
    return low < this.#commits.length && this.#commits.at(low) === commit ? this.#forgotten + low : -1;
  }

  commitOf(number: number): number {
    return this.#commits.at(number - this.#forgotten);
  }

  /** @throws RangeError  it is not held */
  at(number: number): Request {
    const row = number - this.#forgotten;
    if (row < 0 || row >= this.#commits.length) throw new RangeError(`request ${number} is not held`);
    const hex = (bytes: Bytes) => bytes.held.toString("hex", row * DIGEST_BYTES, (row + 1) * DIGEST_BYTES);
    // Pushed with the brand.
    const noteId = this.#ids.atOrNull(this.#notes.at(row)) as NoteId | null;
    return { key: hex(this.#keys), hash: hex(this.#hashes), noteId };
  }

  /** The first four bytes of its key: as good as a hash. */
  hashOf(number: number): number {
    return this.#keys.held.readInt32LE((number - this.#forgotten) * DIGEST_BYTES);
  }

  /** Whether it has the key whose bytes these are. */
  hasKey(number: number, key: Buffer): boolean {
    const from = (number - this.#forgotten) * DIGEST_BYTES;
    return this.#keys.held.compare(key, 0, DIGEST_BYTES, from, from + DIGEST_BYTES) === 0;
  }

  /** Let go of the requests before this number; nobody may ask for them again. @cost a copy of the others */
  forgetBefore(number: number): void {
    const count = number - this.#forgotten;
    if (count <= 0) return;
    for (const column of [this.#commits, this.#notes]) column.dropFirst(count);
    for (const bytes of [this.#keys, this.#hashes]) bytes.dropFirst(count * DIGEST_BYTES);
    this.#forgotten = number;
  }

  /**
   * Rows were appended.
   * @param forgotten  `first` of the table that they are of
   * @throws RangeError  no requests: they name what isn't there
   */
  restored(commits: number, forgotten: number): void {
    this.#forgotten = forgotten;
    const { length } = this.#commits;
    mustBeLevel(length, [this.#notes]);
    mustBeLevel(length * DIGEST_BYTES, [this.#keys, this.#hashes]);
    this.#commits.mustBeBelow(commits);
    for (let row = 1; row < length; row++) {
      if (this.#commits.at(row) <= this.#commits.at(row - 1))
        throw new RangeError(`request ${row} is out of order`);
    }
    this.#notes.mustBeBelow(this.#ids.size);
  }
}

/** The bytes of a key; null: nothing has it. */
export const keyBytes = (key: string): Buffer | null => (DIGEST.test(key) ? Buffer.from(key, "hex") : null);
