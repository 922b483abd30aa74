/**
 * One path that both sides changed. A note is merged as a note, any other text by its lines; what doesn't merge is
 * told as a conflict and never guessed at. Pure but for reading bytes.
 */
import { isUtf8 } from "node:buffer";
import { diff3 } from "../../domain/diff3.ts";
import { blobIdOf } from "../../domain/identity.ts";
import type { RepoPath } from "../../domain/note.ts";
import { type Entry, sameEntry } from "../../store/advance.ts";
import type { NoteWords } from "../reconcile/reconciler.ts";
import { isFile } from "./entries.ts";

export interface Sides {
  /** Where the result will lie. */
  readonly path: RepoPath;
  readonly base: Entry | null;
  readonly ours: Entry | null;
  readonly theirs: Entry | null;
}

export type MergedEntry =
  | { readonly kind: "merged"; readonly entry: Entry | null; readonly bytes?: Uint8Array }
  /** Ours stays; `theirs` are the bytes to keep, where the repository holds no blob of them. */
  | { readonly kind: "conflict"; readonly entry: Entry; readonly theirs?: Uint8Array };

interface Words {
  readonly words: Pick<NoteWords, "merge">;
  readonly isNote: (path: RepoPath) => boolean;
  readonly read: (id: string) => Promise<Uint8Array>;
}

/** Other texts above this size are not compared by their lines. */
const MAX_TEXT_BYTES = 4 << 20;

/** Merge one path. Edit against delete keeps the edit. */
export async function mergeEntry(deps: Words, { path, base, ours, theirs }: Sides): Promise<MergedEntry> {
  if (sameEntry(ours, theirs) || sameEntry(theirs, base)) return { kind: "merged", entry: ours };
  if (sameEntry(ours, base)) return { kind: "merged", entry: theirs };
  if (ours === null || theirs === null) return { kind: "merged", entry: ours ?? theirs };
  if (!isFile(ours) || !isFile(theirs)) {
    const told = submoduleText(theirs);
    return { kind: "conflict", entry: ours, ...(told === undefined ? {} : { theirs: told }) };
  }
  const mode = ours.mode === base?.mode ? theirs.mode : ours.mode;
  const whole = (id: string): MergedEntry => ({ kind: "merged", entry: { mode, id } });
  if (ours.id === theirs.id || theirs.id === base?.id) return whole(ours.id);
  if (ours.id === base?.id) return whole(theirs.id);
  const from = isFile(base) ? await deps.read(base.id) : null;
  const [mine, other] = [await deps.read(ours.id), await deps.read(theirs.id)];
  const bytes = deps.isNote(path) ? deps.words.merge(path, from, mine, other) : mergeText(from, mine, other);
  if (bytes === null) return { kind: "conflict", entry: { mode, id: ours.id } };
  const id = blobIdOf(bytes);
  return { kind: "merged", entry: { mode, id }, ...(id === ours.id || id === theirs.id ? {} : { bytes }) };
}

/** A submodule's commit is in another repository: as a conflict it is kept in words. Undefined: it is none. */
export const submoduleText = (entry: Entry | null): Uint8Array | undefined =>
  entry?.mode === "160000" ? Buffer.from(`Subproject commit ${entry.id}\n`) : undefined;

/** Null: both changed the same lines, or it is no text. */
function mergeText(base: Uint8Array | null, ours: Uint8Array, theirs: Uint8Array): Uint8Array | null {
  const all = [base ?? new Uint8Array(), ours, theirs];
  if (all.some((bytes) => bytes.length > MAX_TEXT_BYTES || !isUtf8(bytes) || bytes.includes(0))) return null;
  const [from = "", mine = "", other = ""] = all.map((bytes) =>
    new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes),
  );
  const { text, hunks } = diff3(from, mine, other);
  return hunks.length > 0 ? null : Buffer.from(text);
}
