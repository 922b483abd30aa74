/** The hand edits that wait are committed when the daemon stops; what can't be is left to the next start. */
import type { Warn } from "../../lib/bus.ts";
import type { Reconciler } from "./reconciler.ts";

/** Commit what can be. Never throws: a stop goes on. */
export async function settleAtStop(
  reconciler: Pick<Reconciler, "settle" | "heldEdits">,
  warn: Warn,
): Promise<void> {
  try {
    await reconciler.settle();
  } catch (error) {
    // Trigger: a merge under way or a full disk. Why: the edits are safe on disk. Outcome: the next start adopts them.
    warn("hand edits stay uncommitted until the next start", {
      why: error instanceof Error ? error.message : String(error),
      outcome: "they are safe in the working tree",
    });
  }
  const held = reconciler.heldEdits();
  if (held.length === 0) return;
  warn("hand edits that hold a secret stay uncommitted", {
    files: held.length,
    outcome: "they are safe in the working tree, and held by the next start too",
  });
}
