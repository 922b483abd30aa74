/** How a repository and a remote stand. What it takes to find out is the notebook's. */

export const SYNC_STATES = [
  // Both have the same.
  "ok",
  // Not reached: tried again by itself.
  "away",
  // A login is missing, or may not.
  "denied",
  // A hook or a rule of the remote says no to the push.
  "refused",
  // What the remote sends can't be taken.
  "broken",
  // Its history was rewritten, or is another one: a person decides.
  "diverged",
  // Files or an operation of a person are in the way here, or others kept pushing.
  "busy",
  // Not synced since the start.
  "waiting",
] as const;
export type SyncState = (typeof SYNC_STATES)[number];
