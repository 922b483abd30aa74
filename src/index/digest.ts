/** The digest of a head's notes: equal heads give equal digests on every machine. */
import { createHash } from "node:crypto";
import type { BlobId, NoteId, RepoPath } from "../domain/note.ts";
import { byBytes } from "../lib/byte-order.ts";
import { sortedSteps } from "../lib/sorted-steps.ts";
import type { HeadState } from "./head-state.ts";
import { finish } from "./slices.ts";

/** A note file at the head. */
export interface HeldFile {
  readonly path: RepoPath;
  readonly blob: BlobId;
  readonly noteId: NoteId;
}

const STEP_FILES = 512;

/** Every note file with its blob and id, by path bytes; expired and quarantined ones too. */
export const filesOf = (head: HeadState): HeldFile[] => finish(filesInSteps(head));

/** As `filesOf`, of a head that stands still meanwhile. */
export function* filesInSteps(head: HeadState): Generator<void, HeldFile[]> {
  const { texts, entries } = head.graph;
  const files: HeldFile[] = [];
  for (const number of head.paths()) {
    const entry = head.entryOf(number);
    files.push({
      // Brands: what the graph gives back had them.
      path: texts.paths.at(number) as RepoPath,
      blob: entries.blobOf(entry),
      noteId: texts.ids.at(entries.idOf(entry)) as NoteId,
    });
    if (files.length % STEP_FILES === 0) yield;
  }
  return yield* sortedSteps(files, (a, b) => byBytes(a.path, b.path));
}

/** SHA-256 (64 hex) of the lines `path NUL blob NUL note_id LF`. @see spec: protocol, daemon.verify */
export const digestOf = (head: HeadState): string => finish(digestInSteps(filesOf(head)));

/** As `digestOf`, of its files. */
export function* digestInSteps(files: readonly HeldFile[]): Generator<void, string> {
  const hash = createHash("sha256");
  for (let from = 0; from < files.length; from += STEP_FILES) {
    const some = files.slice(from, from + STEP_FILES);
    hash.update(some.map(({ path, blob, noteId }) => `${path}\0${blob}\0${noteId}\n`).join(""), "utf8");
    yield;
  }
  return hash.digest("hex");
}
