/** The sync of one daemon, from its settings: which remote, how often, and who we are there. */
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { Notebook } from "../notebook/notebook.ts";
import { type ScheduledSync, scheduleSync } from "../notebook/sync/schedule.ts";
import type { GitStore } from "../store/git-store.ts";
import type { Settings } from "./settings.ts";

const INTERVAL_MS = 5 * 60_000;
const ON_CHANGE_MS = 2_000;

/** Nothing runs before `start`. */
export function openSync(
  { store, notebook }: { readonly store: GitStore; readonly notebook: Notebook },
  settings: NonNullable<Settings["sync"]>,
  around: {
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly log: Log;
    readonly clock: Clock;
  },
): ScheduledSync {
  const { env, log, clock } = around;
  const password = env["NOTESD_REMOTE_TOKEN"];
  const stopping = new AbortController();
  const login =
    password === undefined || password === ""
      ? null
      : { username: env["NOTESD_REMOTE_USER"] ?? "notesd", password };
  const remotes = store.remotes({ env, login, signal: stopping.signal });
  const sync = scheduleSync(
    { store, notebook, remotes, clock, random: Math.random, warn: log.warn },
    {
      remote: settings.remote ?? null,
      intervalMs: settings.interval_ms === 0 ? null : (settings.interval_ms ?? INTERVAL_MS),
      onChangeMs: settings.on_change === false ? null : (settings.on_change_ms ?? ON_CHANGE_MS),
    },
  );
  return {
    ...sync,
    stop() {
      stopping.abort();
      return sync.stop();
    },
  };
}
