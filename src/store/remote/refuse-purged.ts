/** What was purged here does not come back from a remote: not as a tip, not in a pack, not below a commit. */
import type { ObjectId } from "../objects/object-id.ts";
import { RemoteFailure } from "./remote.ts";

/** @throws RemoteFailure broken: one of the ids was purged here */
export function refusePurged(purged: ReadonlySet<ObjectId>, ids: Iterable<ObjectId>, shown: string): void {
  if (purged.size === 0) return;
  for (const id of ids) if (purged.has(id)) throw holdsPurged(id, shown);
}

/** The refusal, with what to do. */
export function holdsPurged(id: ObjectId, shown: string): RemoteFailure {
  const advice =
    "Whoever owns it replaces the branch there with the purged history (a push with Git's option --force-with-lease, by hand); every other clone takes that over with notesd sync --accept-remote";
  return new RemoteFailure(
    "broken",
    `${shown} still holds what was purged here (${id}), and nothing was taken from it. ${advice}.`,
  );
}
