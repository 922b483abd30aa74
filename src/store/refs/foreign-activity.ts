/**
 * Remembers whether a person's Git is at work beside us: a lock that isn't ours, or HEAD, the Git index or
 * the branch moved by others. Native Git doesn't wait for `index.lock`, so publishing slows down meanwhile.
 * Nothing here is on disk; the invariant: our own publications never count, when told by `settle`.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../lib/clock.ts";
import { orAbsent } from "../../lib/durable-file.ts";

export interface ForeignActivity {
  /** Someone else's Git was seen just now: a lock, a fetch, a push. */
  saw(): void;
  /** A person's Git asked at one of our doors, and will be back in a moment with what it makes of the answer. */
  asked(): void;
  /** When it last asked, ms since the epoch; null: never. */
  readonly askedMs: number | null;
  /** Look at the watched files; anything moved since the last look or `settle` is foreign. */
  look(): void;
  /** Take the watched files as they stand for ours; call at the end of a publication, under its locks. */
  settle(): void;
  /** True for `windowMs` after the last sign. */
  isActive(): boolean;
}

/**
 * Watch HEAD, the Git index and one branch.
 * @param ref full name of the branch, e.g. `refs/heads/main`
 * @cost `look` and `settle`: three stats
 * @see spec: storage, section 3, step 5
 */
export function watchForeignActivity(
  gitdir: string,
  ref: string,
  clock: Clock,
  windowMs = 30_000,
): ForeignActivity {
  const files = ["HEAD", "index", ref].map((name) => join(gitdir, name));
  const signature = () =>
    files
      .map((file) => orAbsent(() => statSync(file, { bigint: true })))
      .map((stat) => (stat === null ? "-" : `${stat.ino}:${stat.size}:${stat.mtimeNs}`))
      .join(" ");
  let known = signature();
  let lastSeenMs: number | null = null;
  let askedMs: number | null = null;
  const saw = () => {
    lastSeenMs = clock.now();
  };
  return {
    saw,
    asked() {
      saw();
      askedMs = lastSeenMs;
    },
    get askedMs() {
      return askedMs;
    },
    look() {
      const found = signature();
      if (found !== known) saw();
      known = found;
    },
    settle() {
      known = signature();
    },
    isActive: () => lastSeenMs !== null && clock.now() - lastSeenMs < windowMs,
  };
}
