/** The notes of a push, read as the daemon would read them: one that it could not read is refused with its line. */
import { conflictMarkers } from "../../domain/conflict-markers.ts";
import { readNoteFile } from "../../domain/note-file.ts";
import { isNotePath } from "../../domain/note-path.ts";
import type { PushRules } from "../../doors/hook.ts";
import type { Fault } from "./fault.ts";
import type { HookGit } from "./hook-git.ts";
import { sizeFault } from "./pushed-files.ts";
import { blobSizes, inParts, readBlobs } from "./read-blobs.ts";

const EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

export interface PushedNotes {
  readonly faults: readonly Fault[];
  /** Sentences for the pusher; nothing is refused for them. */
  readonly warnings: readonly string[];
  /** Ids that come to a path which had another one, or none. */
  readonly ids: readonly { readonly id: string; readonly path: string }[];
}

interface Changed {
  readonly path: string;
  readonly before: string | null;
  readonly after: string;
}

/** A note's file that the tip has no more. */
interface Removed {
  readonly path: string;
  readonly blob: string;
}

/** Read what differs from `from` (null: nothing was there) to `to`. @cost each changed note once */
export async function readPushedNotes(
  git: HookGit,
  from: string | null,
  to: string,
  rules: PushRules,
): Promise<PushedNotes> {
  const { changed, removed } = await changedNotes(git, from, to, rules.roots);
  const types = new Set(rules.types);
  const faults: Fault[] = [];
  const warnings: string[] = [];
  const ids: { id: string; path: string }[] = [];
  const seen = new Map<string, string>();
  const sizes = await blobSizes(git, changed.flatMap(blobsOf));
  const fits = (blob: string) => (sizes.get(blob) ?? Infinity) <= rules.note_bytes;
  // Larger than any note may be: one that is pushed is refused unread, one that was there has no id that counts.
  for (const { path, after } of changed) faults.push(...sizeFault(path, sizes.get(after) ?? 0, rules, to));
  const wanted = (one: Changed) => blobsOf(one).filter(fits);
  for (const part of inParts(changed, wanted, sizes)) {
    const texts = await readBlobs(git, part.flatMap(wanted));
    for (const { path, before, after } of part) {
      const read = (blob: string | null) => {
        const bytes = blob === null ? undefined : texts.get(blob);
        return bytes === undefined ? null : readNoteFile(path, bytes, types);
      };
      const note = read(after);
      if (note === null) continue;
      if (note.kind === "quarantined") {
        faults.push({
          where: note.line === null ? path : `${path}:${note.line}`,
          what: `can't be read as a note: ${note.reason}`,
          remedy: "Correct it, commit (git commit --amend will do), and push again.",
        });
        continue;
      }
      const marker = conflictMarkers(note.text);
      if (marker !== null)
        warnings.push(`${path}:${marker} holds conflict markers; the last version without is served.`);
      for (const told of note.disagreements) warnings.push(`${path}: ${told}. The path is what counts.`);
      const { id } = note.fields;
      const old = read(before);
      if (id === null || (old?.kind === "note" && old.fields.id === id)) continue;
      const twin = seen.get(id);
      if (twin === undefined) ids.push({ id, path });
      else faults.push(takenId(path, id, twin));
      seen.set(id, path);
    }
  }
  // A note that the same push takes away elsewhere has moved, and its id with it.
  const moved = ids.length === 0 ? new Set() : await idsOf(git, removed, rules);
  return { faults, warnings, ids: ids.filter(({ id }) => !moved.has(id)) };
}

/** The ids of notes, as their files say. @cost each of them once */
async function idsOf(git: HookGit, files: readonly Removed[], rules: PushRules): Promise<Set<string>> {
  const types = new Set(rules.types);
  const found = new Set<string>();
  const sizes = await blobSizes(
    git,
    files.map(({ blob }) => blob),
  );
  const readable = files.filter(({ blob }) => (sizes.get(blob) ?? Infinity) <= rules.note_bytes);
  for (const part of inParts(readable, ({ blob }) => [blob], sizes)) {
    const texts = await readBlobs(
      git,
      part.map(({ blob }) => blob),
    );
    for (const { path, blob } of part) {
      const bytes = texts.get(blob);
      const note = bytes === undefined ? null : readNoteFile(path, bytes, types);
      if (note?.kind === "note" && note.fields.id !== null) found.add(note.fields.id);
    }
  }
  return found;
}

/** The fault of an id that another note has. */
export const takenId = (path: string, id: string, at: string): Fault => ({
  where: path,
  what: `has the id ${id}, which ${at} has`,
  remedy:
    "Give one of them no id, or another: change its line id: in the front matter, commit, and push again.",
});

const blobsOf = ({ before, after }: Changed) => (before === null ? [after] : [after, before]);

async function changedNotes(
  git: HookGit,
  from: string | null,
  to: string,
  roots: readonly string[],
): Promise<{ readonly changed: Changed[]; readonly removed: Removed[] }> {
  const fields = (
    await git.text(["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", from ?? EMPTY_TREE, to])
  ).split("\0");
  const changed: Changed[] = [];
  const removed: Removed[] = [];
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const [, mode = "", before = "", after = "", status = ""] = (fields[i] ?? "").split(" ");
    const path = fields[i + 1] ?? "";
    if (!isNotePath(path, roots)) continue;
    if (status === "D") removed.push({ path, blob: before });
    else if (mode.startsWith("100")) changed.push({ path, before: status === "A" ? null : before, after });
  }
  return { changed, removed };
}
