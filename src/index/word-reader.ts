/**
 * When the words of changed files are indexed: bit by bit between turns, once somebody searches. An index that
 * nobody searches (a past state, one that is only compared) reads none.
 */
import { type Parts, readWords } from "./parts.ts";

const WORDS_A_TURN = 8;
const MANY = 512;

export class WordReader {
  readonly #parts: () => Parts;
  #wanted = false;
  #many = false;
  /** The turn in which words are read next. */
  #turn: NodeJS.Immediate | null = null;
  readonly #waiting: { readonly resolve: () => void; readonly reject: (error: unknown) => void }[] = [];
  /** Files left of those that were unread when somebody began to wait. */
  #owed = 0;
  #most = WORDS_A_TURN;

  /** @param parts  the ones that stand now */
  constructor(parts: () => Parts) {
    this.#parts = parts;
  }

  /**
   * Somebody searches: all but a few words are read by then, and from now on without being asked.
   * @throws whatever made reading a file's words fail; the next call tries again
   */
  read(): Promise<void> {
    this.#wanted = true;
    this.later();
    // A search reads as few as these itself.
    if (this.#parts().unread.size <= WORDS_A_TURN) return Promise.resolve();
    this.#turn?.ref();
    if (this.#waiting.length === 0) this.#owed = this.#parts().unread.size;
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  /** As `read`, at once. @cost some 100 µs for each file of 1 kB that is left */
  readNow(): void {
    this.#wanted = true;
    readWords(this.#parts());
  }

  /** Files changed. */
  later(): void {
    if (this.#turn !== null || !this.#wanted) return;
    this.#turn = setImmediate(() => {
      this.#turn = null;
      try {
        this.#readSome();
      } catch (error) {
        // Without anybody who waits the next search meets it.
        for (const { reject } of this.#waiting.splice(0)) reject(error);
      }
    });
    if (this.#waiting.length === 0) this.#turn.unref();
  }

  #readSome(): void {
    this.#many ||= this.#parts().unread.size > MANY;
    const read = readWords(this.#parts(), this.#most);
    this.#owed -= this.#most;
    // Faster writers are overtaken: a search waits for what was unread when it came, and little more.
    this.#most = read || this.#waiting.length === 0 || this.#owed > 0 ? WORDS_A_TURN : this.#most * 2;
    if (read) for (const { resolve } of this.#waiting.splice(0)) resolve();
    // After many at once, as at a start, nothing is left lying that takes room.
    const tidy = this.#parts().texts.tidy(read && this.#many);
    if (read && tidy) this.#many = false;
    if (!read || !tidy) this.later();
  }
}
