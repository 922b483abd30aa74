/**
 * When the words of changed files are indexed: bit by bit, once somebody searches, in turns of the loop that are
 * spare unless a search waits. An index that nobody searches (a past state, one that is only compared) reads none.
 */
import { type Loop, nodeLoop, type SpareTurns, spareTurns } from "../lib/spare-turns.ts";
import { type Parts, readWords } from "./parts.ts";

const WORDS_A_TURN = 8;
const MANY = 512;
/** Of the time beside writers; more where they are faster than that. */
const LEAST_SHARE = 1 / 10;
const MOST_SHARE = 1 / 2;
/** After many at once all is put together, which goes over every word there is: not while more keep coming. */
const CALM_MS = 2_000;

interface Waiting {
  /** Nobody else is to be served first. */
  readonly hurried: boolean;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export class WordReader {
  readonly #parts: () => Parts;
  readonly #loop: Loop;
  readonly #turns: SpareTurns;
  #wanted = false;
  #many = false;
  #changedMs = Number.NEGATIVE_INFINITY;
  /** The look that follows when no file has changed for a while. */
  #calmSet = false;
  #waiting: Waiting[] = [];
  /** Files left of those that were unread when somebody began to wait. */
  #owed = 0;
  #most = WORDS_A_TURN;
  #share = LEAST_SHARE;
  /** Files that the last turn left unread. */
  #left = Number.POSITIVE_INFINITY;

  /** @param parts  the ones that stand now  @param loop  default: this process's own */
  constructor(parts: () => Parts, loop: Loop = nodeLoop) {
    this.#parts = parts;
    this.#loop = loop;
    const step = () => this.#step();
    this.#turns = spareTurns({ step, isHurried: () => this.#isHurried(), share: () => this.#share }, loop);
  }

  /**
   * Somebody searches: all but a few words are read by then, and from now on without being asked.
   * @param hurried  it is waited for: whatever else there is to do comes between the steps
   * @throws whatever made reading a file's words fail; the next call tries again
   */
  read(hurried = true): Promise<void> {
    this.#wanted = true;
    const { unread } = this.#parts();
    // A search reads as few as these itself.
    if (unread.size <= WORDS_A_TURN) {
      this.#turns.wake();
      return Promise.resolve();
    }
    if (hurried && !this.#isHurried()) this.#owed = unread.size;
    const done = new Promise<void>((resolve, reject) => {
      this.#waiting.push({ hurried, resolve, reject });
    });
    if (hurried) this.#turns.hurry();
    else this.#turns.wake();
    return done;
  }

  /** As `read`, at once. @cost some 100 µs for each file of 1 kB that is left */
  readNow(): void {
    this.#wanted = true;
    readWords(this.#parts());
  }

  /** Files changed. */
  later(): void {
    this.#changedMs = this.#loop.nowMs();
    if (this.#wanted) this.#turns.wake();
  }

  #isHurried(): boolean {
    return this.#waiting.some(({ hurried }) => hurried);
  }

  #step(): boolean {
    try {
      return this.#readSome();
    } catch (error) {
      // Without anybody who waits the next search meets it.
      for (const { reject } of this.#waiting.splice(0)) reject(error);
      return false;
    }
  }

  /** @returns whether there is more to do now */
  #readSome(): boolean {
    const { unread, texts } = this.#parts();
    this.#many ||= unread.size > MANY;
    // Faster writers are overtaken: by a larger share of the time, and where a search waits for what was unread
    // when it came and little more, by larger steps.
    this.#share =
      unread.size > this.#left
        ? Math.min(MOST_SHARE, this.#share * 2)
        : Math.max(LEAST_SHARE, this.#share / 2);
    const read = readWords(this.#parts(), this.#most);
    this.#left = unread.size;
    this.#owed -= this.#most;
    this.#most = read || !this.#isHurried() || this.#owed > 0 ? WORDS_A_TURN : this.#most * 2;
    if (read) for (const { resolve } of this.#waiting.splice(0)) resolve();
    const calmInMs = this.#changedMs + CALM_MS - this.#loop.nowMs();
    // After many at once, as at a start, nothing is left lying that takes room.
    const isTidy = texts.tidy(read && this.#many && calmInMs <= 0);
    if (!read || !isTidy) return true;
    if (calmInMs <= 0) this.#many = false;
    else if (this.#many) this.#lookWhenCalm(calmInMs);
    return false;
  }

  #lookWhenCalm(ms: number): void {
    if (this.#calmSet) return;
    this.#calmSet = true;
    this.#loop.after(Math.ceil(ms), () => {
      this.#calmSet = false;
      this.#turns.wake();
    });
  }
}
