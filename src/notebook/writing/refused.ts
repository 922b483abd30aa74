/** What the single writer itself refuses a write for: nothing of it was written then. */
import { NotesError } from "../../domain/errors.ts";
import type { RepoPath } from "../../domain/note.ts";

export const mismatch = () =>
  new NotesError(
    "IDEMPOTENCY_MISMATCH",
    "This idempotency_key was used for a request with other parameters. Send the same parameters again, or take a new key.",
  );

export const inTheWay = ({ path, why }: { readonly path: RepoPath; readonly why: string }) =>
  new NotesError(
    "CONFLICT",
    `${path} can't be written: it ${why}. Nothing was written; move what is in the way, or choose another folder.`,
    { reason: "path_taken", path },
  );

export const lostRaces = () =>
  new NotesError(
    "REPO_BUSY",
    "The note's file kept changing while this write was being committed. Nothing was written; try again in a moment.",
    { state: "locked", retry_after_ms: 1000 },
  );
