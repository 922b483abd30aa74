/**
 * Secrets of a write are searched before it has its place in the writer's queue, where everybody would wait for it:
 * it is planned on the notes as they are, and what is found in that is remembered by the guard. Invariant: nothing is
 * decided here; in the queue the whole file is asked for again, and searched there where it became another.
 */
import { randomBytes } from "node:crypto";
import type { WriteRequest } from "../../domain/change.ts";
import type { Caller } from "../../domain/principal.ts";
import { mayHoldSecret } from "../../domain/secrets/secrets.ts";
import { createGroupPlanner, type PlanningDeps } from "./plan-group.ts";

/** @returns null: an ordinary write, there is nothing to search */
export type SearchAhead = (request: WriteRequest, caller: Caller) => Promise<void> | null;

/** Make the search of a writer. @cost for an ordinary write one look for literals at what it says */
export function createSearchAhead(deps: PlanningDeps): SearchAhead {
  const { find, allowed } = deps.secrets;
  // The queue tells of a refusal, and gives ids that were asked for.
  const quiet = {
    ...deps,
    secrets: { find, allowed: { ...allowed, noteRefusal: () => {} } },
    randomBytes: (count: number): Uint8Array => randomBytes(count),
  };
  const plan = async ({ permit: _, ...request }: WriteRequest, caller: Caller): Promise<void> => {
    try {
      await createGroupPlanner(quiet).plan(request, caller, null);
    } catch {
      // Trigger: it is refused, or a blob can't be read now. Why: an earlier write may change that. Outcome: the queue
      // plans it anew, and says so.
    }
  };
  return (request, caller) => {
    const { change } = request;
    // What a restore brings back is not in the request.
    return change.kind === "restore" || mayHoldSecret(JSON.stringify([change, request.reason]))
      ? plan(request, caller)
      : null;
  };
}
