/**
 * One subscriber: a reader of the log with a position, woken when the log grows. Live and catching up are the
 * same walk, so there is no seam between them; a slow listener costs a position and no events.
 */
import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import { NotesError } from "../../domain/errors.ts";
import type { NoteFilter } from "../../domain/filters.ts";
import type { Warn } from "../../lib/bus.ts";
import type { Changed, Listener, Subscription } from "../notebook.ts";
import { parseCursor } from "./cursor.ts";
import type { LogReader, Position } from "./log-reader.ts";
import { steps } from "./replay.ts";

/** Events handed over before others get a turn. */
const EVENTS_PER_TURN = 64;

export class LogSubscription implements Subscription {
  readonly #log: LogReader;
  readonly #listener: Listener;
  readonly #filter: NoteFilter;
  readonly #warn: Warn;
  readonly #ended: () => void;
  #position: Position;
  #state: "running" | "paused" | "over" = "running";
  /** Wakes the walk: the log grew, or `resume`. */
  #wake: (() => void) | null = null;
  #grown = false;
  #pauses = 0;

  /** @param ended called once, when no more wakes are wanted */
  constructor(
    log: LogReader,
    start: Position,
    listener: Listener,
    filter: NoteFilter,
    warn: Warn,
    ended: () => void,
  ) {
    this.#log = log;
    this.#position = start;
    this.#listener = listener;
    this.#filter = filter;
    this.#warn = warn;
    this.#ended = ended;
    void this.#run();
  }

  get cursor(): string {
    return this.#log.cursor(this.#position);
  }

  pause(): void {
    if (this.#state !== "running") return;
    this.#state = "paused";
    this.#pauses++;
  }

  resume(): void {
    if (this.#state !== "paused") return;
    this.#state = "running";
    this.#wake?.();
  }

  unsubscribe(): void {
    if (this.#state === "over") return;
    this.#state = "over";
    this.#ended();
    this.#wake?.();
  }

  /** The log grew. */
  grown(): void {
    this.#grown = true;
    this.#wake?.();
  }

  async #run(): Promise<void> {
    try {
      await turnOfTheLoop();
      while (this.#state !== "over") {
        this.#grown = false;
        await this.#walk();
        while (!this.#grown && !this.#isOver()) await this.#sleep();
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  async #walk(): Promise<void> {
    let handed = 0;
    await this.#relocate();
    for await (const step of steps(this.#log, this.#position, this.#filter)) {
      if (this.#isOver()) return;
      if (step.changed && this.#state === "paused") return this.#hold();
      const before = this.#position;
      this.#position = step.position;
      if (step.changed) this.#hand(step.changed, before);
      if (++handed % EVENTS_PER_TURN === 0) await turnOfTheLoop();
    }
  }

  /** Wait out a pause; the walk then starts again from the position, so nothing is held meanwhile. */
  async #hold(): Promise<void> {
    this.#listener.lagged(this.cursor);
    const pause = this.#pauses;
    while (this.#state === "paused" && this.#pauses === pause) await this.#sleep();
    this.#grown = true;
  }

  #hand(changed: Changed, before: Position): void {
    try {
      this.#listener.changed(changed);
    } catch (error) {
      this.#position = before;
      throw error;
    }
  }

  /** A position that fell out of the record goes on as a squashed difference. */
  async #relocate(): Promise<void> {
    const cursor = this.#log.isKept(this.#position) ? null : parseCursor(this.cursor);
    if (cursor) this.#position = await this.#log.locate(cursor);
  }

  #sleep(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = null;
        resolve();
      };
    });
  }

  #isOver(): boolean {
    return this.#state === "over";
  }

  #fail(error: unknown): void {
    if (this.#isOver()) return;
    const { cursor } = this;
    this.#state = "over";
    this.#ended();
    const why = error instanceof Error ? error : new Error(String(error));
    this.#warn("a subscription ended", {
      trigger: `event after ${cursor}`,
      why: why.stack ?? why.message,
      outcome: "its door is told to close the socket; the client resumes from its cursor",
    });
    try {
      this.#listener.failed(error instanceof NotesError ? error : why, cursor);
    } catch (second) {
      this.#warn("a subscriber could not be told that it failed", {
        trigger: `failed after ${cursor}`,
        why: second instanceof Error ? (second.stack ?? second.message) : String(second),
        outcome: "the subscription is over all the same",
      });
    }
  }
}
