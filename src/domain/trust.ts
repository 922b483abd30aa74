/** How far a commit's own changes are trusted: from its proof alone, never from what a file says. */
import type { CommitInfo } from "./event.ts";
import type { Trust } from "./note.ts";

/** A commit without a valid proof is `pushed`, whoever its author claims to be. */
export function trustOf({ proved }: CommitInfo): Trust {
  switch (proved?.source) {
    case "api":
      return proved.agent === null ? "person" : "agent";
    case "disk":
      return "disk";
    case "import":
      return "imported";
    default:
      return "pushed";
  }
}
