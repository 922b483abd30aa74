/** Who wrote each line of a note's file, front matter included. */
import { NotesError } from "../../domain/errors.ts";
import type { CommitId, NoteId } from "../../domain/note.ts";
import type { FileAt, HistoryRow, NoteIndex } from "../../index/note-index.ts";
import type { NoteStore } from "../../store/note-store.ts";
import type { Blame, BlamedCommit } from "../notebook.ts";
import { createLineage } from "./lineage.ts";

interface BlameDeps {
  readonly store: Pick<NoteStore, "readBlob" | "commitInfo">;
  readonly index: Pick<NoteIndex, "namedAt" | "fileAt" | "history" | "rowsOf">;
}

/**
 * @param version  of a note, at a commit that the index reaches
 * @cost as `Lineage.originsOf`
 */
export async function blame(deps: BlameDeps, version: FileAt): Promise<Blame> {
  const lineage = createLineage(deps);
  const lines = await lineage.linesOf(version);
  const shown = lines.at(-1) === "" ? lines.slice(0, -1) : lines;
  const origins = await lineage.originsOf(version, [...shown.keys()]);
  const commits = new Map<CommitId, BlamedCommit>();
  for (const commit of origins) {
    if (!commits.has(commit)) commits.set(commit, await whoseCommit(deps, commit, version.noteId));
  }
  return {
    noteId: version.noteId,
    path: version.path,
    revision: version.blob,
    lines: shown.map((text, at) => ({ text, commit: origins[at] ?? version.changedIn })),
    commits: [...commits.values()],
  };
}

/** What is told of a commit beside one of its lines. @throws NotesError INTERNAL it changed no such note */
async function whoseCommit(
  { store, index }: BlameDeps,
  commit: CommitId,
  noteId: NoteId,
): Promise<BlamedCommit> {
  const { author, reason, at } = await store.commitInfo(commit);
  const rows = index.rowsOf(commit);
  const row: HistoryRow | undefined = rows.find((one) => one.noteId === noteId) ?? rows[0];
  if (row === undefined) throw new NotesError("INTERNAL", `History has no line for ${commit}.`);
  const { action, agentName, source, trust } = row;
  return { commit, at, action, agentName, authorName: author.name, source, trust, reason };
}
