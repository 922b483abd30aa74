/**
 * What an index tells of the head alone: which notes there are now, by id, path, notebook and folder. Words, history and
 * older states are told elsewhere. Looks only; whoever extends it moves the parts.
 */
import type { NoteId, NoteMetadata, Quarantined, RepoPath } from "../domain/note.ts";
import { digestOf, filesInSteps, filesOf, type HeldFile } from "./digest.ts";
import { expiredFiles } from "./expired-files.ts";
import { listNotes, summarize } from "./list-notes.ts";
import { memoryFiles } from "./memory/memory-files.ts";
import { recallNotes } from "./memory/recall.ts";
import type { LiveNote } from "./metadata.ts";
import type { ExpiredFile, NoteIndex, Page } from "./note-index.ts";
import type { Parts } from "./parts.ts";

export abstract class HeadReads {
  protected abstract readonly parts: Parts;

  protected note(id: string): LiveNote | null {
    return this.parts.state.byId(id) ?? this.parts.state.byStem(id);
  }

  get(id: string): NoteMetadata | null {
    return this.note(id)?.meta ?? null;
  }

  idAt(path: RepoPath): NoteId | null {
    return this.parts.state.idAt(path);
  }

  files(): readonly HeldFile[] {
    return filesOf(this.parts.state);
  }

  content(id: NoteId): string | null {
    return this.parts.state.byId(id)?.body ?? null;
  }

  quarantined(): readonly Quarantined[] {
    return this.parts.state.quarantined().flatMap((note) => note.quarantined ?? []);
  }

  quarantine(id: NoteId): Quarantined | null {
    return this.parts.state.byId(id)?.quarantined ?? null;
  }

  duplicates(): ReturnType<NoteIndex["duplicates"]> {
    return this.parts.state.duplicates();
  }

  disagreements(): ReturnType<NoteIndex["disagreements"]> {
    return this.parts.state.disagreements();
  }

  recall(query: Parameters<NoteIndex["recall"]>[0]): ReturnType<NoteIndex["recall"]> {
    return recallNotes(this.parts.state, query);
  }

  memoryFiles(query: Parameters<NoteIndex["memoryFiles"]>[0]): ReturnType<NoteIndex["memoryFiles"]> {
    return memoryFiles(this.parts.state, query);
  }

  list(query: Parameters<NoteIndex["list"]>[0]): Page<NoteMetadata> {
    return listNotes(this.parts.state, query);
  }

  summary(viewer: Parameters<NoteIndex["summary"]>[0], nowMs: number): ReturnType<NoteIndex["summary"]> {
    return summarize(this.parts.state, viewer, nowMs);
  }

  folders(): Iterable<string> {
    return this.parts.state.folders();
  }

  folderCount(folder: string): number {
    return this.parts.state.folderCount(folder.replace(/\/+$/, ""));
  }

  expired(nowMs: number): Iterable<ExpiredFile> {
    return expiredFiles(this.parts, nowMs);
  }

  nextExpiryMs(afterMs: number): number {
    return this.parts.state.nextExpiryMs(afterMs);
  }

  size(nowMs?: number): number {
    const { state } = this.parts;
    const expired = nowMs === undefined ? 0 : state.expired(nowMs).length;
    return state.size - state.quarantinedCount - expired;
  }

  digest(): string {
    return digestOf(this.parts.state);
  }

  filesInSteps(): Generator<void, HeldFile[]> {
    return filesInSteps(this.parts.state);
  }
}
