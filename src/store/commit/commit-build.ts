/** From a draft to a raw commit object: header, message, proof. One place, so that every store writes the same. */
import { COMMITTER, formatIdentity, formatMessage } from "../../domain/commit-message.ts";
import { signCommit } from "../../domain/commit-proof.ts";
import { NotesError } from "../../domain/errors.ts";
import type { CommitId, RepoPath } from "../../domain/note.ts";
import { repoPath } from "../../domain/note-path.ts";
import type { Draft } from "../note-store.ts";

const MAX_DRAFTS = 256;

/**
 * Build and sign the commit object of a draft.
 *
 * @param tree     40 hex digits of its root tree
 * @param parents  the tip first, then the draft's `mergeParents`
 * @param proofKey 32 bytes
 * @throws NotesError INVALID_PARAMS the author's name or email would forge a header line, or the message a trailer
 */
export function buildCommit(
  draft: Pick<Draft, "author" | "atMs" | "message">,
  tree: string,
  parents: readonly CommitId[],
  proofKey: Uint8Array,
): Uint8Array {
  const header = [
    `tree ${tree}`,
    ...parents.map((parent) => `parent ${parent}`),
    `author ${formatIdentity(draft.author, draft.atMs)}`,
    `committer ${formatIdentity(COMMITTER, draft.atMs)}`,
  ];
  return signCommit(Buffer.from(`${header.join("\n")}\n\n${formatMessage(draft.message)}`), proofKey);
}

/**
 * Refuse drafts that no caller should have made, before anything is looked at.
 *
 * @throws NotesError INVALID_PARAMS none or too many drafts, a path named twice or not plain
 */
export function checkDrafts(drafts: readonly Draft[]): void {
  if (drafts.length === 0 || drafts.length > MAX_DRAFTS) {
    throw new NotesError(
      "INVALID_PARAMS",
      `A chain has 1 to ${MAX_DRAFTS} drafts, this one ${drafts.length}.`,
    );
  }
  for (const { files } of drafts) {
    const seen = new Set<RepoPath>();
    for (const { path } of files) {
      if (repoPath(path) === null) {
        throw new NotesError("INVALID_PARAMS", `${JSON.stringify(path)} is no path inside the repository.`, {
          path,
        });
      }
      if (seen.has(path)) throw new NotesError("INVALID_PARAMS", `One draft names ${path} twice.`, { path });
      seen.add(path);
    }
  }
}
