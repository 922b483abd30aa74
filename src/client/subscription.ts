/**
 * One subscription that outlives its connections: it remembers the last cursor, asks again from there, and
 * drops what it has passed on since that cursor, so its handler sees each change once.
 */
import { z } from "zod";
import { NotesError } from "../domain/errors.ts";
import type { Changed } from "./types.ts";

export interface SubscriptionHandlers {
  changed(change: Changed): void;
  /** The daemon can't tell what happened between: read what matters again. Changes go on from `cursor`. */
  resync?(cursor: string): void;
  /** After a reconnect the daemon refused to go on: nothing more will come. */
  ended?(error: NotesError): void;
}

export interface Subscription {
  /** Changes up to here were passed on; give it as `since` to go on from here, also after a restart. */
  readonly cursor: string;
  close(): Promise<void>;
}

const Opened = z.object({ subscription_id: z.string(), cursor: z.string() });

export class OpenSubscription implements Subscription {
  readonly #filter: Readonly<Record<string, unknown>>;
  readonly #handlers: SubscriptionHandlers;
  readonly #seen = new Set<string>();
  #since: string | null;
  #id: string | null = null;

  constructor(
    filter: Readonly<Record<string, unknown>>,
    since: string | null,
    handlers: SubscriptionHandlers,
  ) {
    this.#filter = filter;
    this.#handlers = handlers;
    this.#since = since;
  }

  get cursor(): string {
    return this.#since ?? "";
  }

  get id(): string | null {
    return this.#id;
  }

  /**
   * Ask for the changes from the last cursor on.
   * @param request sends `notes.subscribe`; calls `settled` before any later message is looked at
   */
  async open(
    request: (params: Record<string, unknown>, settled: (result: unknown) => void) => Promise<unknown>,
    again: boolean,
  ): Promise<void> {
    this.#id = null;
    const settled = (result: unknown) => {
      const { subscription_id, cursor } = Opened.parse(result);
      this.#id = subscription_id;
      this.#since ??= cursor;
    };
    const from = (since: string | null) => ({ ...this.#filter, ...(since === null ? {} : { since }) });
    try {
      await request(from(this.#since), settled);
    } catch (error) {
      const resync =
        error instanceof NotesError && error.code === "UNKNOWN_COMMIT" ? error.data["resync_from"] : null;
      if (!again || typeof resync !== "string") throw error;
      this.#seen.clear();
      this.#since = resync;
      await request(from(resync), settled);
      this.#handlers.resync?.(resync);
    }
  }

  end(error: NotesError): void {
    this.#id = null;
    this.#handlers.ended?.(error);
  }

  deliver(change: Changed): void {
    const key = `${change.commit} ${change.path} ${change.note_id}`;
    const repeated = this.#seen.has(key);
    if (change.cursor === undefined) this.#seen.add(key);
    else {
      this.#since = change.cursor;
      this.#seen.clear();
    }
    if (!repeated) this.#handlers.changed(change);
  }

  /** Replaced by the client that owns the connection. */
  close: () => Promise<void> = async () => {};
}
