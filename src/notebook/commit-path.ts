/** A file that a person wants committed, as they named it: a note, or a refusal that says what to do instead. */
import { NotesError } from "../domain/errors.ts";
import type { RepoPath } from "../domain/note.ts";
import { isNotePath, parseRepoPath } from "../domain/note-path.ts";

/** @throws NotesError INVALID_PARAMS a path that no note can have: only notes are ever committed here */
export function commitPath(text: string, roots: readonly string[]): RepoPath {
  const path = parseRepoPath(text, "paths");
  if (isNotePath(path, roots)) return path;
  const message = `${JSON.stringify(text)} is no note: notes are *.md files under ${roots.join(", ")}`;
  throw new NotesError("INVALID_PARAMS", `${message}. Commit other files with git commit.`, {
    issues: [{ path: "paths", message }],
  });
}
