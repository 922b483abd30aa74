/**
 * A notebook in a Map, for tests of actions and doors alone: no Git, no files, no index. It answers as the
 * interface says, so far as those tests look; what the real one promises is tested with the real one.
 */
import { createHash } from "node:crypto";
import type { WriteRequest } from "../../src/domain/change.ts";
import { NotesError } from "../../src/domain/errors.ts";
import { matches, type NoteFilter } from "../../src/domain/filters.ts";
import { agentIdOf, type MemoryKey, memoryId, parseNoteId } from "../../src/domain/identity.ts";
import { type CommitId, NOTE_TYPES, type NoteMetadata } from "../../src/domain/note.ts";
import { memoryPath } from "../../src/domain/note-path.ts";
import type { Caller } from "../../src/domain/principal.ts";
import type {
  Changed,
  Joined,
  Listener,
  Notebook,
  Subscription,
  WriteOutcome,
} from "../../src/notebook/notebook.ts";

interface Held {
  metadata: NoteMetadata;
  content: string;
}

const sha = (text: string) => createHash("sha1").update(text).digest("hex");

export class FakeNotebook implements Notebook {
  readonly notes = new Map<string, Held>();
  readonly log: Changed[] = [];
  readonly requests: WriteRequest[] = [];
  readonly seenCallers: Caller[] = [];
  readonly types = NOTE_TYPES;
  /** Runs before a write takes its place in the queue. */
  beforeEntering: (request: WriteRequest) => Promise<void> = async () => {};
  /** Runs before a write takes effect, to hold it or make it fail. */
  beforeWrite: (request: WriteRequest) => Promise<void> = async () => {};
  /** Notifications handed to listeners so far. */
  delivered = 0;
  #count = 0;
  #remembered = new Map<string, { hash: string; outcome: WriteOutcome }>();
  #deleted = new Map<string, string>();
  #subscribers = new Set<FakeSubscription>();

  async join(theirs: CommitId): Promise<Joined> {
    return { kind: "up_to_date", tip: theirs, commit: theirs, conflicts: [] };
  }

  async write(request: WriteRequest, caller: Caller, entered?: () => void): Promise<WriteOutcome> {
    await this.beforeEntering(request);
    this.requests.push(request);
    entered?.();
    await this.beforeWrite(request);
    const before = request.idempotency && this.replay(request.idempotency);
    if (before) return before;
    const { change } = request;
    const id = change.kind === "create" ? "" : change.kind === "save" ? memoryId(change) : change.noteId;
    request.permit?.(this.metadata(id));
    const outcome = this.#apply(request, caller);
    if (request.idempotency) {
      this.#remembered.set(request.idempotency.key, { hash: request.idempotency.hash, outcome });
    }
    return outcome;
  }

  replay({ key, hash }: NonNullable<WriteRequest["idempotency"]>): WriteOutcome | null {
    const remembered = this.#remembered.get(key);
    if (remembered === undefined) return null;
    if (remembered.hash !== hash) {
      throw new NotesError("IDEMPOTENCY_MISMATCH", "This key was used with other parameters.");
    }
    return { ...remembered.outcome, replayed: true };
  }

  #apply({ change, reason }: WriteRequest, caller: Caller): WriteOutcome {
    const at = new Date(Date.UTC(2026, 10, 30, 10, 0, this.#count)).toISOString();
    const commit = sha(`commit ${++this.#count}`);
    const agent = caller.principal.kind === "agent" ? caller.principal : null;
    const freshId = `note_20261130_100000_${sha(String(this.#count)).slice(0, 6)}`;
    const id = change.kind === "create" ? freshId : change.kind === "save" ? memoryId(change) : change.noteId;
    let held = this.notes.get(id);
    const created = change.kind === "create" || (change.kind === "save" && held === undefined);
    if (created) {
      const memory = change.kind === "save" ? change : null;
      const owner = memory?.agent ?? agent?.name ?? null;
      const metadata: NoteMetadata = {
        note_id: id,
        title: change.kind === "create" ? change.title : (memory?.key ?? ""),
        type: change.kind === "create" ? change.noteType : "general",
        tags: change.kind === "create" ? [...change.tags] : [],
        created_at: at,
        updated_at: at,
        status: "open",
        scope: memory?.scope ?? "workspace",
        scope_ref_id: memory?.ref ?? null,
        key: memory?.key ?? null,
        agent_id: owner === agent?.name ? (agent?.agentId ?? null) : owner === null ? null : agentIdOf(owner),
        agent_name: owner,
        pinned: change.pinned,
        expires_at: null,
        path: memory ? memoryPath(memory) : `notes/2026/11/30/${id}.md`,
        revision: sha(id),
        trust: agent ? "agent" : "person",
        extra: { ...change.extra },
      };
      held = { metadata, content: change.kind === "create" ? change.content : (memory?.value ?? "") };
    }
    if (held === undefined) throw this.#missing(id);
    const { metadata } = held;
    if (
      "ifRevision" in change &&
      change.ifRevision !== undefined &&
      change.ifRevision !== metadata.revision
    ) {
      throw new NotesError("CONFLICT", "The note changed since.", { revision: metadata.revision });
    }
    if (change.kind === "save") {
      held.content = change.value;
      metadata.pinned = change.pinned;
    } else if (change.kind === "update") {
      if (change.content !== undefined) held.content = change.content;
      if (change.title !== undefined) metadata.title = change.title;
      if (change.noteType !== undefined) metadata.type = change.noteType;
      if (change.tags !== undefined) metadata.tags = [...change.tags];
      if (change.status !== undefined) metadata.status = change.status;
      if (change.pinned !== undefined) metadata.pinned = change.pinned;
      if (change.extra !== undefined) metadata.extra = { ...metadata.extra, ...change.extra };
    } else if (change.kind === "append") {
      held.content += change.content;
    } else if (change.kind === "edit") {
      held.content = held.content.replace(change.oldStr, () => change.newStr);
    }
    metadata.revision = sha(JSON.stringify([metadata.title, metadata.tags, held.content, this.#count]));
    metadata.updated_at = at;
    if (change.kind === "delete") {
      this.notes.delete(id);
      this.#deleted.set(id, commit);
    } else {
      this.notes.set(id, held);
    }
    const gone = change.kind === "delete";
    this.#publish({
      commit: commit as Changed["commit"],
      action: change.kind,
      note_id: id as Changed["note_id"],
      title: metadata.title,
      type: metadata.type,
      status: metadata.status,
      tags: metadata.tags,
      fields: ["content"],
      path: metadata.path as Changed["path"],
      revision: gone ? null : (metadata.revision as Changed["revision"]),
      agent_id: agent?.agentId ?? null,
      agent_name: agent?.name ?? null,
      author_name: agent?.name ?? "Pat",
      reason,
      source: "api",
      trust: metadata.trust,
      via: "live",
      at,
      cursor: commit,
    });
    return {
      noteId: id as WriteOutcome["noteId"],
      path: gone ? null : (metadata.path as WriteOutcome["path"]),
      revision: gone ? null : (metadata.revision as WriteOutcome["revision"]),
      commit: commit as WriteOutcome["commit"],
      title: metadata.title,
      createdAt: metadata.created_at,
      updatedAt: at,
      changed: true,
      merged: false,
      created,
      replayed: false,
    };
  }

  #missing(id: string): NotesError {
    const deletedIn = this.#deleted.get(id);
    return new NotesError(
      "NOT_FOUND",
      `There is no note ${id.slice(0, 80)}.`,
      deletedIn ? { deleted_in: deletedIn } : {},
    );
  }

  #publish(change: Changed): void {
    this.log.push(change);
    for (const subscriber of this.#subscribers) subscriber.pump();
  }

  memory(key: MemoryKey): NoteMetadata | null {
    return this.metadata(memoryId(key));
  }

  /** Who sees what is the index's to say: here everyone sees everything. */
  recall({ filter, key, prefix, limit }: Parameters<Notebook["recall"]>[0]): ReturnType<Notebook["recall"]> {
    const rows = this.#rows(filter)
      .filter(({ metadata }) => metadata.key?.startsWith(key === null ? prefix : `${prefix}${key}`))
      .map(({ metadata, content }) => ({ note: metadata, value: content }));
    return { rows: rows.slice(0, limit), total: rows.length };
  }

  memoryFiles({
    agentId,
    keyPrefix,
  }: Parameters<Notebook["memoryFiles"]>[0]): ReturnType<Notebook["memoryFiles"]> {
    return this.#rows({ scope: "agent", agentIds: [agentId] }).flatMap(({ metadata, content }) => {
      const { key } = metadata;
      const noteId = parseNoteId(metadata.note_id);
      if (noteId === null || key === null || !key.startsWith(keyPrefix)) return [];
      return [{ noteId, key, bodyBytes: Buffer.byteLength(content) }];
    });
  }

  agentName(agentId: number): string | null {
    return (
      [...this.notes.values()].find(({ metadata }) => metadata.agent_id === agentId)?.metadata.agent_name ??
      null
    );
  }

  metadata(id: string): NoteMetadata | null {
    return structuredClone(this.notes.get(id)?.metadata ?? null);
  }

  async read(id: string): Promise<Awaited<ReturnType<Notebook["read"]>>> {
    const held = this.notes.get(id);
    if (held === undefined) throw this.#missing(id);
    return {
      metadata: structuredClone(held.metadata),
      content: held.content,
      dirty: false,
      conflicted: false,
    };
  }

  /** There is no past here: a note was always as it is. */
  async noteThen(id: string): ReturnType<Notebook["noteThen"]> {
    const { metadata, content } = await this.read(id);
    return {
      noteId: metadata.note_id as WriteOutcome["noteId"],
      path: metadata.path as NonNullable<WriteOutcome["path"]>,
      revision: metadata.revision as NonNullable<WriteOutcome["revision"]>,
      commit: sha("then") as WriteOutcome["commit"],
      atMs: 0,
      metadata,
      content,
    };
  }

  async sides(id: string): ReturnType<Notebook["sides"]> {
    const { metadata, content } = await this.read(id);
    const after = { path: metadata.path as NonNullable<WriteOutcome["path"]>, text: content };
    return { noteId: id as WriteOutcome["noteId"], from: null, to: null, before: null, after };
  }

  async blame(id: string): ReturnType<Notebook["blame"]> {
    const { noteId, path, revision } = await this.noteThen(id);
    return { noteId, path, revision, lines: [], commits: [] };
  }

  #rows(filter: NoteFilter): Held[] {
    return [...this.notes.values()].filter((held) => matches(filter, held.metadata)).reverse();
  }

  list(query: Parameters<Notebook["list"]>[0]): ReturnType<Notebook["list"]> {
    const rows = this.#rows(query.filter).map((held) => held.metadata);
    const from = Number(query.cursor ?? 0);
    const next = from + query.limit;
    return {
      items: rows.slice(from, next),
      total: rows.length,
      nextCursor: next < rows.length ? String(next) : null,
    };
  }

  async search(query: Parameters<Notebook["search"]>[0]): ReturnType<Notebook["search"]> {
    const wanted = query.query?.toLowerCase() ?? "";
    const rows = this.#rows(query.filter).filter(({ metadata, content }) =>
      [metadata.title, content, ...(query.fields === "title-body" ? [] : metadata.tags)].some((text) =>
        text.toLowerCase().includes(wanted),
      ),
    );
    const found = rows.slice(0, query.limit).map((held) => ({
      note: held.metadata,
      content: held.content,
      score: 1,
      snippet: held.content.slice(0, 240),
    }));
    return { rows: found, total: rows.length };
  }

  summary(): ReturnType<Notebook["summary"]> {
    const rows = this.#rows({}).map((held) => held.metadata);
    const count = (pick: (note: NoteMetadata) => string) => {
      const counts: Record<string, number> = {};
      for (const note of rows) counts[pick(note)] = (counts[pick(note)] ?? 0) + 1;
      return counts;
    };
    return {
      total_notes: rows.length,
      type_distribution: count((note) => note.type),
      recent_notes: rows
        .slice(0, 5)
        .map(({ note_id, title, type, updated_at }) => ({ note_id, title, type, updated_at })),
      by_status: count((note) => note.status),
      by_scope: count((note) => note.scope),
      by_agent: count((note) => note.agent_name ?? "person"),
      open_blockers: rows
        .filter((note) => note.type === "blocker" && note.status === "open")
        .map(({ note_id, title, updated_at }) => ({ note_id, title, updated_at })),
    };
  }

  async changes(since: string, limit: number, filter: NoteFilter): ReturnType<Notebook["changes"]> {
    const at = this.log.findIndex((change) => change.cursor === since);
    if (at === -1 && since !== sha("start") && !/^\d+[dh]$/.test(since))
      throw new NotesError("UNKNOWN_COMMIT", "Not a commit of this branch.");
    const rest = this.log
      .slice(at + 1)
      .filter((change) => !filter.types || filter.types.includes(change.type));
    const page = rest.slice(0, limit);
    return {
      changes: page,
      cursor: page.at(-1)?.cursor ?? since,
      more: page.length < rest.length,
      squashed: false,
    };
  }

  async subscribe(listener: Listener, filter: NoteFilter, since: string | null): Promise<Subscription> {
    const from =
      since === null ? this.log.length : this.log.findIndex((change) => change.cursor === since) + 1;
    const subscription = new FakeSubscription(counting(listener, this), filter, this.log, from, () =>
      this.#subscribers.delete(subscription),
    );
    this.#subscribers.add(subscription);
    setImmediate(() => subscription.pump());
    return subscription;
  }

  async history(
    filter: Parameters<Notebook["history"]>[0],
    limit: number,
    cursor: string | null,
  ): ReturnType<Notebook["history"]> {
    const rows = this.log.filter((change) => !filter.noteId || change.note_id === filter.noteId).reverse();
    const from = Number(cursor ?? 0);
    const items = rows.slice(from, from + limit).map((change) => ({
      commit: change.commit,
      noteId: change.note_id,
      path: change.path,
      action: change.action,
      type: change.type,
      title: change.title,
      tags: change.tags,
      agentId: change.agent_id,
      agentName: change.agent_name,
      source: change.source,
      trust: "agent" as const,
      session: null,
      atMs: Date.parse(change.at),
      revision: change.revision,
      authorName: change.agent_name ?? "Ada",
      reason: change.reason,
      changes: null,
    }));
    const next = from + limit;
    return { items, total: rows.length, nextCursor: next < rows.length ? String(next) : null };
  }

  readonly keptConflicts: Awaited<ReturnType<Notebook["conflicts"]>>[number][] = [];
  readonly blobs = new Map<string, string>();

  async review(): ReturnType<Notebook["review"]> {
    const since = { commit: null, at: new Date(0).toISOString(), from: "week" as const };
    const none = { by: [], conflicts: [], opened: [], conclusions: [], closed: [], edits: [], deleted: [] };
    return { since, head: null, writes: 0, notes: 0, ...none, marked: false };
  }

  async conflicts(noteId?: string): ReturnType<Notebook["conflicts"]> {
    return this.keptConflicts.filter((kept) => noteId === undefined || kept.note_id === noteId);
  }

  async blobText(id: string): Promise<string> {
    const text = this.blobs.get(id);
    if (text === undefined) throw new NotesError("STORAGE", "no such blob");
    return text;
  }

  #stateListeners = new Set<Parameters<Notebook["onState"]>[0]>();

  onState(listener: Parameters<Notebook["onState"]>[0]): () => void {
    this.#stateListeners.add(listener);
    return () => this.#stateListeners.delete(listener);
  }

  tellState(state: Parameters<Parameters<Notebook["onState"]>[0]>[0]): void {
    for (const listener of this.#stateListeners) listener(state);
  }

  async moment(text: string): ReturnType<Notebook["moment"]> {
    if (/^\d+[dh]$/.test(text)) return { commit: null, atMs: 0 };
    const atMs = Date.parse(text);
    if (Number.isNaN(atMs)) throw new NotesError("INVALID_PARAMS", `${text} is no commit, time or word.`);
    return { commit: null, atMs };
  }

  agentFilter(value: string | number): ReturnType<Notebook["agentFilter"]> {
    if (value === "all" || value === "*") return "all";
    if (typeof value === "number") return [value];
    if (/^[\s0-]/.test(value)) throw new NotesError("INVALID_PARAMS", `${value} is no agent.`);
    if (/^\d+$/.test(value)) return [Number(value)];
    return [agentIdOf(value)];
  }

  seen(caller: Caller): void {
    this.seenCallers.push(caller);
  }

  held(): ReturnType<Notebook["held"]> {
    return [];
  }

  async settle(): ReturnType<Notebook["settle"]> {
    return [];
  }

  async verify(): ReturnType<Notebook["verify"]> {
    const digest = "0".repeat(64);
    return { digest, rebuilt: digest, equal: true, problems: [] };
  }

  async status(): ReturnType<Notebook["status"]> {
    return {
      branch: "main",
      head: this.log.at(-1)?.commit ?? null,
      state: { state: "ok" },
      notes: this.notes.size,
      quarantined: [],
      duplicates: [],
      pending: [],
      unsettled: [],
      reported: [],
      held: [],
      watching: "watching",
    };
  }

  async close(): Promise<void> {}

  get subscriberCount(): number {
    return this.#subscribers.size;
  }
}

/** The listener, with each notification counted. */
function counting(listener: Listener, notebook: FakeNotebook): Listener {
  return {
    ...listener,
    changed(change) {
      notebook.delivered++;
      listener.changed(change);
    },
  };
}

class FakeSubscription implements Subscription {
  #paused = false;
  #next: number;
  #told = false;
  readonly listener: Listener;
  readonly filter: NoteFilter;
  readonly log: readonly Changed[];
  readonly end: () => void;

  constructor(
    listener: Listener,
    filter: NoteFilter,
    log: readonly Changed[],
    from: number,
    end: () => void,
  ) {
    this.listener = listener;
    this.filter = filter;
    this.log = log;
    this.#next = from;
    this.end = end;
  }

  get cursor(): string {
    return this.log[this.#next - 1]?.cursor ?? sha("start");
  }

  pump(): void {
    for (;;) {
      const change = this.log[this.#next];
      if (change === undefined) return;
      if (this.#paused) {
        if (!this.#told) this.listener.lagged(this.cursor);
        this.#told = true;
        return;
      }
      this.#next++;
      if (!this.filter.types || this.filter.types.includes(change.type)) this.listener.changed(change);
    }
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#told = false;
    this.pump();
  }

  unsubscribe(): void {
    this.end();
  }
}
