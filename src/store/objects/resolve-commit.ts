/** From what a caller writes for a commit to the one that is meant. */
import { NotesError } from "../../domain/errors.ts";
import type { CommitId } from "../../domain/note.ts";
import type { GitObjects } from "./objects.ts";

/**
 * @param text 7 to 40 hex digits
 * @throws NotesError UNKNOWN_COMMIT none or several begin so
 */
export function resolveCommit(objects: GitObjects, text: string): CommitId {
  const ids = /^[0-9a-f]{7,40}$/.test(text) ? objects.idsStarting(text) : [];
  const commits = ids.filter((id) => objects.find(id)?.type === "commit");
  const [only] = commits;
  // Found as a commit among the objects.
  if (only !== undefined && commits.length === 1) return only as CommitId;
  const why =
    commits.length > 1 ? "names several commits; give more digits" : "is no commit of this repository";
  throw new NotesError("UNKNOWN_COMMIT", `${JSON.stringify(text)} ${why}.`, { commit: text });
}
