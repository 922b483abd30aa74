/**
 * Whose pins count: a pin moves a note to the front of what agents are told, so it counts only where who may pin there
 * set it, and only as long as nobody else has put another text under it. Pure; folded commit by commit.
 *
 * @see spec: protocol, section 2
 */
import type { Trust } from "../domain/note.ts";

/** `claimed`: the file says it is pinned, and that counts for nothing. */
export const PINS = ["none", "claimed", "counts"] as const;
export type Pin = (typeof PINS)[number];

/** One change of a note file that says, after it, that it is pinned. */
export interface Pinning {
  /** The commit's class; of a merge the lower of its sides. */
  readonly trust: Trust;
  /** Who acted; null: no agent. */
  readonly agentId: number | null;
  /** Whose pins count there: who first wrote it, whose notebook it lies in, or any agent's; null: no agent's. */
  readonly authorId: number | null;
  /** The note's pin before; null: it is new, or was said anew. */
  readonly before: Pin | null;
  /** Of a merge: its sides' pins. */
  readonly sides: readonly Pin[] | null;
}

/**
 * Persons pin, by any way of theirs; an agent pins what is its own, and leaves every other pin what it was. What was
 * pushed or imported pins nothing, and takes the pin of a note that it changed: until a person changes it in turn, or
 * its author pins it anew.
 */
export function pinAfter({ trust, agentId, authorId, before, sides }: Pinning): Exclude<Pin, "none"> {
  if (trust === "pushed" || trust === "imported") return "claimed";
  if (sides !== null) return sides.includes("counts") ? "counts" : "claimed";
  if (trust !== "agent") return "counts";
  if (before === "counts" || before === "claimed") return before;
  return agentId !== null && agentId === authorId ? "counts" : "claimed";
}
