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
  readonly #waiting: (() => void)[] = [];

  /** @param parts  the ones that stand now */
  constructor(parts: () => Parts) {
    this.#parts = parts;
  }

  /** Somebody searches: all but a few words are read by then, and from now on without being asked. */
  read(): Promise<void> {
    this.#wanted = true;
    this.later();
    // A search reads as few as these itself.
    if (this.#parts().unread.size <= WORDS_A_TURN) return Promise.resolve();
    this.#turn?.ref();
    return new Promise((resolve) => this.#waiting.push(resolve));
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
      this.#many ||= this.#parts().unread.size > MANY;
      const read = readWords(this.#parts(), WORDS_A_TURN);
      if (read) for (const done of this.#waiting.splice(0)) done();
      // After many at once, as at a start, nothing is left lying that takes room.
      const tidy = this.#parts().texts.tidy(read && this.#many);
      if (read && tidy) this.#many = false;
      if (!read || !tidy) this.later();
    });
    if (this.#waiting.length === 0) this.#turn.unref();
  }
}
