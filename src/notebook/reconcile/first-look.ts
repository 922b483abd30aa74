/**
 * The first look at every working file after a start. Until it is done nobody knows what people did while no daemon
 * ran, so writes wait for it; reads are served meanwhile. Invariant: whoever waits is answered, by the end of the
 * attempt under way or by the stop.
 */
import { NotesError } from "../../domain/errors.ts";

export interface FirstLook {
  readonly done: boolean;
  /** @throws what made the attempt under way fail; NotesError OVERLOADED the daemon stops */
  wait(): Promise<void>;
  /** Tell what became of an attempt. Whatever comes after the first success is nothing to anybody. */
  follow(attempt: Promise<void>): Promise<void>;
  /** No attempt comes any more. */
  close(): void;
}

/**
 * @param needed false: nobody waits for anything
 * @param maxWaiting who comes when so many wait is refused (OVERLOADED)
 */
export function createFirstLook(needed: boolean, maxWaiting: number): FirstLook {
  let done = !needed;
  let closed = false;
  const waiting: { readonly resolve: () => void; readonly reject: (error: unknown) => void }[] = [];
  const take = () => waiting.splice(0);

  return {
    get done() {
      return done;
    },
    wait() {
      if (done) return Promise.resolve();
      if (closed) return Promise.reject(stopping());
      if (waiting.length >= maxWaiting) return Promise.reject(overloaded(waiting.length));
      return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
    },
    async follow(attempt) {
      try {
        await attempt;
        // A scan that a stop cut short has seen nothing.
        if (!closed) done = true;
        if (done) for (const { resolve } of take()) resolve();
      } catch (error) {
        for (const { reject } of take()) reject(error);
        throw error;
      }
    },
    close() {
      closed = true;
      for (const { reject } of take()) reject(stopping());
    },
  };
}

const overloaded = (waiting: number) =>
  new NotesError(
    "OVERLOADED",
    `The daemon is starting and ${waiting} writes wait already, more than it accepts. Try again after a pause.`,
    { retry_after_ms: 1000 },
  );

const stopping = () =>
  new NotesError("OVERLOADED", "The daemon is stopping and takes no more writes. Reconnect and try again.", {
    retry_after_ms: 1000,
  });
