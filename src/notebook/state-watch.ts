/**
 * What a person's Git is doing, told once for each change. Hints say when to look, a slow poll catches the rest.
 */
import { type Bus, createBus, type Warn } from "../lib/bus.ts";
import type { Clock } from "../lib/clock.ts";
import type { NoteStore, RepoState } from "../store/note-store.ts";

/** A state and when it was first seen, ISO 8601. */
export type StateSince = RepoState & { readonly since: string };

export interface StateWatch {
  readonly current: StateSince;
  /** Look now, e.g. because a file of the Git directory changed. Looks that meet share one. */
  look(): Promise<void>;
  /** @returns ends the listening */
  onState(listener: (state: StateSince) => void): () => void;
  stop(): void;
}

interface StateWatchDeps {
  readonly store: Pick<NoteStore, "state">;
  readonly clock: Clock;
  readonly warn: Warn;
  /** Default 2,000. */
  readonly pollMs?: number;
}

/** Look once, then keep looking. The first state is `current` and is not told. */
export async function watchState({
  store,
  clock,
  warn,
  pollMs = 2_000,
}: StateWatchDeps): Promise<StateWatch> {
  const bus: Bus<StateSince> = createBus("repository state", warn);
  const stamped = (state: RepoState): StateSince => ({
    ...state,
    since: new Date(clock.now()).toISOString(),
  });
  let current = stamped(await store.state());
  let failing = false;
  let stopped = false;
  let cancel = () => {};
  let looking: Promise<void> | null = null;
  let again = false;

  const see = (state: RepoState) => {
    const { since: _, ...known } = current;
    if (JSON.stringify(known) === JSON.stringify(state)) return;
    current = stamped(state);
    bus.publish(current);
  };

  const lookOnce = async () => {
    try {
      const state = await store.state();
      failing = false;
      if (!stopped) see(state);
    } catch (error) {
      if (!failing) {
        warn("the repository's state can't be read", {
          trigger: "look at the Git directory",
          why: error instanceof Error ? error.message : String(error),
          outcome: `the last known state (${current.state}) stands; it is looked at again`,
        });
      }
      failing = true;
    }
  };

  const look = (): Promise<void> => {
    if (looking) {
      // What was read already may be older than the hint.
      again = true;
      return looking;
    }
    looking = (async () => {
      do {
        again = false;
        await lookOnce();
      } while (again && !stopped);
      looking = null;
    })();
    return looking;
  };

  const poll = () => {
    if (stopped) return;
    cancel = clock.after(pollMs, () => void look().then(poll));
  };
  poll();

  return {
    get current() {
      return current;
    },
    look,
    onState: (listener) => bus.subscribe(listener),
    stop() {
      stopped = true;
      cancel();
    },
  };
}
