/**
 * Requests of one connection, in the order they came: reads run beside reads and writes beside writes, and
 * a change between them waits for what is under way. So each request sees every earlier write of its own
 * connection, and writes that come together can still share one commit round.
 */

/** `alone` runs beside nothing: what changes the connection itself. */
export type Turn = "read" | "write" | "alone";

interface Waiting {
  readonly turn: Turn;
  readonly start: () => Promise<void>;
}

interface InOrderOptions {
  /** Reads at once; their answers are held in memory. */
  readonly mostReads: number;
  readonly mostWrites: number;
  /** Called each time that the number of waiting and running tasks falls. */
  readonly onLess?: () => void;
}

export class InOrder {
  readonly #options: InOrderOptions;
  #waiting: Waiting[] = [];
  #running = 0;
  #turn: Turn = "alone";
  /** A write that has not reached the writer's queue yet holds back the next, or they could change places. */
  #entering: Waiting | null = null;
  #held = false;
  #idle: (() => void)[] = [];

  constructor(options: InOrderOptions) {
    this.#options = options;
  }

  /** Tasks waiting and running. */
  get size(): number {
    return this.#waiting.length + this.#running;
  }

  /**
   * Run a task when its turn comes.
   *
   * @param task  a write calls `entered` once its place among all writes is taken; ending counts too
   */
  run<T>(turn: Turn, task: (entered: () => void) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const start = async () => {
        try {
          resolve(await task(() => this.#entered(waiting)));
        } catch (error) {
          reject(error);
        }
      };
      const waiting: Waiting = { turn, start };
      this.#waiting.push(waiting);
      this.#next();
    });
  }

  /** Start nothing more until `release`; what runs goes on. */
  hold(): void {
    this.#held = true;
  }

  release(): void {
    this.#held = false;
    this.#next();
  }

  /** Forget the reads that have not started, whose answers nobody wants; their promises never settle. */
  dropReads(): void {
    this.#waiting = this.#waiting.filter((task) => task.turn !== "read");
    this.release();
    this.#settleIdle();
  }

  /** Resolves when nothing waits or runs. */
  whenIdle(): Promise<void> {
    if (this.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  #entered(task: Waiting): void {
    if (this.#entering !== task) return;
    this.#entering = null;
    this.#next();
  }

  #next(): void {
    for (
      let first = this.#waiting[0];
      first !== undefined && this.#mayStart(first.turn);
      first = this.#waiting[0]
    ) {
      this.#waiting.shift();
      this.#running++;
      this.#turn = first.turn;
      if (first.turn === "write") this.#entering = first;
      const task = first;
      void task.start().then(() => this.#ended(task));
    }
  }

  #mayStart(turn: Turn): boolean {
    if (this.#held) return false;
    if (this.#running === 0) return true;
    if (turn !== this.#turn || turn === "alone" || this.#entering !== null) return false;
    return this.#running < (turn === "read" ? this.#options.mostReads : this.#options.mostWrites);
  }

  #ended(task: Waiting): void {
    this.#running--;
    if (this.#entering === task) this.#entering = null;
    this.#next();
    this.#options.onLess?.();
    this.#settleIdle();
  }

  #settleIdle(): void {
    if (this.size > 0) return;
    for (const resolve of this.#idle.splice(0)) resolve();
  }
}
