/** The edit of an index entry that is, or becomes, a link or a submodule. */
import type { BlobId, RepoPath } from "../../domain/note.ts";
import type { Entry } from "../advance.ts";
import type { IndexEdit } from "./git-index.ts";

/** @param indexed what the entry holds now; null: there is none */
export function linkEdit(
  path: RepoPath,
  before: Entry | null,
  after: Entry | null,
  indexed: string | null,
): IndexEdit {
  const mode = Number.parseInt(after?.mode ?? before?.mode ?? "100644", 8);
  // An index entry names an object, whatever its kind.
  const id = (text: string | null) => text as BlobId | null;
  return { path, expected: id(indexed), blob: id(after?.id ?? null), stat: null, mode };
}
