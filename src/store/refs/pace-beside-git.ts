/**
 * How often the store publishes while a person's Git is at work: their Git waits for no lock, and what they fetched must
 * not be old before it is pushed. Invariant: a publication waits for one and a half pauses at most.
 *
 * @see spec: storage, section 3, step 5, and section 6, "A push that is behind"
 */
import type { Clock } from "../../lib/clock.ts";
import type { ForeignActivity } from "./foreign-activity.ts";

/** In pauses: how long after a person's fetch the next publication comes, and at most after the last one. */
const AFTER_ASKED = 1.2;
const LONGEST = 1.5;

export interface PaceBesideGit {
  /** Resolves when the next publication may come; at once while no person's Git is at work. */
  turn(): Promise<void>;
  /** As `turn`, by what is known already: no look at the files. */
  room(): Promise<void>;
  /** One was made. */
  published(): void;
}

/** @param besideGitMs the pause from one publication to the next, ms; 0: none */
export function paceBesideGit(options: {
  readonly foreign: Pick<ForeignActivity, "look" | "isActive" | "askedMs">;
  readonly clock: Clock;
  readonly besideGitMs: number;
}): PaceBesideGit {
  const { foreign, clock, besideGitMs } = options;
  let lastMs = Number.NEGATIVE_INFINITY;
  async function room(): Promise<void> {
    while (foreign.isActive()) {
      // Asked anew each time: a fetch that comes while this waits is given its time too.
      const fetched = (foreign.askedMs ?? Number.NEGATIVE_INFINITY) + AFTER_ASKED * besideGitMs;
      const dueMs = Math.max(lastMs + besideGitMs, Math.min(fetched, lastMs + LONGEST * besideGitMs));
      const pauseMs = dueMs - clock.now();
      if (!(pauseMs > 0)) return;
      await new Promise<void>((resolve) => clock.after(pauseMs, resolve));
    }
  }

  return {
    async turn() {
      foreign.look();
      await room();
    },
    room,
    published() {
      lastMs = clock.now();
    },
  };
}
