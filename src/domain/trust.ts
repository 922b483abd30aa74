/** How far a commit's own changes are trusted: from its proof alone, never from what a file says. */
import type { CommitInfo } from "./event.ts";
import type { NoteMetadata, Trust } from "./note.ts";

/** A commit without a valid proof is `pushed`, whoever its author claims to be. */
export function trustOf({ proved }: Pick<CommitInfo, "proved">): Trust {
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

/**
 * What the removal of a note is trusted as. Of an expired one as the note was: the daemon did what its last writer said.
 * @param before  the note's class until then
 */
export function trustOfRemoval(commit: Pick<CommitInfo, "proved">, before: Trust): Trust {
  return commit.proved?.action === "expire" ? before : trustOf(commit);
}

/**
 * Whether a note's pin counts for the order in which agents are told things. Metadata's `pinned` is that: where a file
 * says it is pinned and whoever wrote that may not pin there, `pinned` is false and the word is kept as `extra.pinned`.
 */
export const pinCounts = ({ pinned }: Pick<NoteMetadata, "pinned">): boolean => pinned;
