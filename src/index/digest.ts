/** The digest of a head's notes: equal heads give equal digests on every machine. */
import { createHash } from "node:crypto";
import type { BlobId, NoteId, RepoPath } from "../domain/note.ts";
import { byBytes } from "../lib/byte-order.ts";
import type { HeadState } from "./head-state.ts";

/** Every note file with its blob and id, by path bytes; expired and quarantined ones too. */
export function filesOf(head: HeadState): { path: RepoPath; blob: BlobId; noteId: NoteId }[] {
  const { texts, entries } = head.graph;
  const files = Array.from(head.paths(), (number) => {
    const entry = head.entryOf(number);
    return {
      // Brands: what the graph gives back had them.
      path: texts.paths.at(number) as RepoPath,
      blob: entries.blobOf(entry),
      noteId: texts.ids.at(entries.idOf(entry)) as NoteId,
    };
  });
  return files.sort((a, b) => byBytes(a.path, b.path));
}

/** SHA-256 (64 hex) of the lines `path NUL blob NUL note_id LF`. @see spec: protocol, daemon.verify */
export function digestOf(head: HeadState): string {
  const lines = filesOf(head).map(({ path, blob, noteId }) => `${path}\0${blob}\0${noteId}\n`);
  return createHash("sha256").update(lines.join(""), "utf8").digest("hex");
}
