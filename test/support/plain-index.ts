/**
 * The least index that a feed needs, for tests: notes are `id: X` on the first line and a body; the state of
 * every commit is kept whole. It stands in for the real fold where a test is about the log alone.
 */
import { changedFields, type NoteState } from "../../src/domain/changed-fields.ts";
import type { CommitEvents, ReadBlob } from "../../src/domain/event.ts";
import type { CommitId, NoteId, NoteMetadata, RepoPath } from "../../src/domain/note.ts";
import { trustOf } from "../../src/domain/trust.ts";
import type { FileAt, NoteChange } from "../../src/index/note-index.ts";

export class PlainIndex {
  head: CommitId | null = null;
  readonly #states = new Map<CommitId, ReadonlyMap<RepoPath, FileAt>>();

  holds(commit: CommitId): boolean {
    return this.#states.has(commit);
  }

  fileAt(commit: CommitId, path: RepoPath): FileAt | null {
    return this.#states.get(commit)?.get(path) ?? null;
  }

  async noteAt(commit: CommitId, path: RepoPath, read: ReadBlob): Promise<NoteState | null> {
    const file = this.fileAt(commit, path);
    return file ? stateOf(file, Buffer.from(await read(file.blob)).toString()) : null;
  }

  async apply(commits: readonly CommitEvents[], read: ReadBlob): Promise<NoteChange[]> {
    const changes: NoteChange[] = [];
    for (const events of commits) changes.push(...(await this.#fold(events, read)));
    this.head = commits.at(-1)?.commit.id ?? this.head;
    return changes;
  }

  async #fold({ commit, events }: CommitEvents, read: ReadBlob): Promise<NoteChange[]> {
    const from = commit.parents[0] ?? null;
    const state = new Map(from ? this.#states.get(from) : []);
    for (const event of events) {
      if (event.kind === "removed") state.delete(event.path);
      else {
        const text = Buffer.from(await read(event.after)).toString();
        const noteId = (/^id: (\S+)/.exec(text)?.[1] ?? `f_${event.path}`) as NoteId;
        const file = { path: event.path, blob: event.after, noteId, changedIn: event.by };
        state.set(event.path, { ...file, trust: trustOf(commit) });
      }
    }
    this.#states.set(commit.id, state);
    return this.#told({ commit, events }, read);
  }

  async #told({ commit, events }: CommitEvents, read: ReadBlob): Promise<NoteChange[]> {
    const from = commit.parents[0];
    const changes: NoteChange[] = [];
    for (const { path, kind } of events) {
      const before = from ? await this.noteAt(from, path, read) : null;
      const after = kind === "written" ? await this.noteAt(commit.id, path, read) : null;
      const file = this.fileAt(commit.id, path) ?? (from ? this.fileAt(from, path) : null);
      if (!file) continue;
      const fields = changedFields(before, after);
      const sides = { before: before?.metadata ?? null, after: after?.metadata ?? null };
      const revision = after ? file.blob : null;
      changes.push({
        commit: commit.id,
        noteId: file.noteId,
        path,
        action: "any",
        ...sides,
        fields,
        revision,
      });
    }
    return changes;
  }
}

function stateOf(file: FileAt, text: string): NoteState {
  const [first = "", ...rest] = text.split("\n");
  const word = (name: string) => new RegExp(`\\b${name}: (\\S+)`).exec(first)?.[1];
  const metadata: NoteMetadata = {
    note_id: file.noteId,
    title: word("title") ?? "untitled",
    type: word("type") ?? "general",
    tags: word("tags")?.split(",") ?? [],
    created_at: "2026-11-30T10:15:00.000Z",
    updated_at: "2026-11-30T10:15:00.000Z",
    status: "open",
    scope: "workspace",
    scope_ref_id: null,
    key: null,
    agent_id: null,
    agent_name: null,
    pinned: false,
    expires_at: null,
    path: file.path,
    revision: file.blob,
    trust: file.trust,
    extra: {},
  };
  return { metadata: word("broken") ? null : metadata, content: rest.join("\n") };
}
