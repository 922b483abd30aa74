/**
 * The fold: one commit's events over the state of its parents give what it left and its lines of history.
 * Pure over the graph; adds to it and changes nothing else.
 * Invariant: the result is a function of the commit alone. A path that a merge took from another parent keeps
 * that side's entry whole; only a commit that really changed a file is its changer. A restored note is the one that
 * was deleted: its author and its age stay. A memory saved over one that had expired is another.
 */
import { type CommitEvents, type CommitInfo, type NoteEvent, ownWord } from "../domain/event.ts";
import { parseNoteId } from "../domain/identity.ts";
import { type BlobId, type NoteId, type RepoPath, TRUSTS, type Trust } from "../domain/note.ts";
import { memorySegments } from "../domain/note-path.ts";
import { trustOf } from "../domain/trust.ts";
import type { CommitGraph } from "./commit-graph.ts";
import type { CommitRecord, Entry, Row } from "./entry.ts";
import { isNotebooks } from "./metadata.ts";
import { type ParsedFile, shareBrief } from "./parsed-file.ts";
import { type Pin, pinAfter } from "./pin.ts";
import { type StateView, settleIds } from "./settle-ids.ts";

type FileOf = (path: RepoPath, blob: BlobId) => Pick<ParsedFile, "brief" | "said">;

/** What happened to one file in one commit. `how` is from the file, `action` may be the author's word. */
export interface FileChange {
  readonly path: RepoPath;
  readonly how: "create" | "update" | "rename" | "delete";
  readonly action: string;
  readonly renamedFrom: RepoPath | null;
}

export interface Folded {
  readonly number: number;
  readonly changes: readonly FileChange[];
  /** Every path whose entry this commit changed: those of `changes`, and files whose id moved. */
  readonly left: ReadonlyMap<RepoPath, Entry | null>;
}

/**
 * Fold one commit into the graph. Its parents are there already; an unknown one counts as none.
 * @param fileOf  what the file at a path says in a blob
 */
export function fold(graph: CommitGraph, { commit, events: given }: CommitEvents, fileOf: FileOf): Folded {
  const events = movedBack(given.map(staysPut), commit);
  const parents = commit.parents.flatMap((id) => graph.numberOf(id) ?? []);
  const first = graph.numberOf(commit.parents[0] ?? commit.id) ?? -1;
  const number = graph.commits.length;
  const atMs = Date.parse(commit.at);
  const trust = trustOf(commit);

  const left = new Map<RepoPath, Entry | null>();
  const get = (path: RepoPath) => {
    const changed = left.get(path);
    return changed === undefined ? graph.entryAt(first, path) : changed;
  };
  const made = new Map<string, Set<RepoPath>>();
  const note = (id: string | null, path: RepoPath) => {
    if (id === null) return;
    const paths = made.get(id);
    if (paths) paths.add(path);
    else made.set(id, new Set([path]));
  };
  const view: StateView = {
    get,
    set(entry) {
      left.set(entry.path, entry);
      note(entry.brief.claim, entry.path);
      note(entry.fallback, entry.path);
    },
    pathsWith: (id) => new Set([...graph.pathsEverWith(id), ...(made.get(id) ?? [])]),
    dateOf: (of) => (of === number ? atMs : graph.commits.atMsOf(of)),
  };

  const others = parents.filter((parent) => parent !== first);
  const freed = new Set<string>();
  const written: RepoPath[] = [];
  for (const event of events) {
    const before = graph.entryAt(first, event.path);
    if (before?.brief.claim) freed.add(before.brief.claim);
    if (before?.fallback) freed.add(before.fallback);
    if (event.kind === "removed") left.set(event.path, null);
    else {
      view.set(writtenEntry(graph, { event, before, first, others, number, trust, fileOf }));
      written.push(event.path);
    }
  }
  settleIds(view, written, freed);

  const changes = fileChanges(events, commit);
  const own = new Set(events.filter((event) => event.by === commit.id).map((event) => event.path));
  const rows = changes.flatMap((change): Row[] => {
    const gone = change.how === "delete";
    const entry = gone ? graph.entryAt(first, change.path) : get(change.path);
    if (entry === null || !own.has(change.path)) return [];
    return [{ commit: number, action: change.action, entry, gone }];
  });
  graph.add(recordOf(graph, commit, { parents, atMs, trust, rows, ...graph.place(first) }), left);
  return { number, changes, left };
}

interface Writing {
  readonly event: NoteEvent & { kind: "written" };
  readonly before: Entry | null;
  readonly first: number;
  readonly others: readonly number[];
  readonly number: number;
  readonly trust: Trust;
  readonly fileOf: FileOf;
}

function writtenEntry(graph: CommitGraph, writing: Writing): Entry {
  const { event, before, first, others, number, trust } = writing;
  const { path, after } = event;
  const sides = others.flatMap((parent) => graph.entryAt(parent, path) ?? []);
  if (event.by !== event.commit.id) {
    const same = sides.filter((entry) => entry.blob === after);
    const taken = same.find((entry) => graph.commits.idOf(entry.changed) === event.by) ?? same[0];
    if (taken) return taken;
  }
  const source = event.renamedFrom === null ? null : graph.entryAt(first, event.renamedFrom);
  const gone = isRestore(event.commit) ? graph.lastAt(first, path) : null;
  const base = source ?? before ?? sides[0] ?? gone;
  const file = writing.fileOf(path, after);
  const brief = shareBrief(base?.brief, file.brief);
  const id = base?.id ?? UNSETTLED;
  const isMerge = others.length > 0 || event.commit.proved?.action === "merge";
  const merged = isMerge ? sidesOf(graph, [first, ...others], path, id) : null;
  const left = merged === null ? trust : mergedTrust(event.commit, trust, merged);
  return {
    path: before?.path ?? path,
    blob: after,
    id,
    fallback: base?.fallback ?? null,
    first: (madeAnew(event.commit) ? null : base?.first) ?? number,
    changed: number,
    trust: left,
    pin: file.said?.pinned ? pinOf(graph, { event, said: file.said, base, trust: left, merged }) : "none",
    brief,
  };
}

function pinOf(
  { commits }: CommitGraph,
  made: {
    readonly event: NoteEvent;
    readonly said: NonNullable<ParsedFile["said"]>;
    readonly base: Entry | null | undefined;
    readonly trust: Trust;
    readonly merged: readonly Entry[] | null;
  },
): Pin {
  const { event, said, base, trust, merged } = made;
  const { proved } = event.commit;
  const agentId = proved?.agentId ?? null;
  const maker = base ? (commits.agentOf(base.first)?.agentId ?? null) : agentId;
  return pinAfter({
    trust,
    agentId,
    // Memory of the workspace is every agent's to save.
    authorId: isNotebooks(said, event.path)
      ? said.agentId
      : memorySegments(event.path)?.scope === "workspace"
        ? agentId
        : maker,
    // A save says anew whether what it saves is pinned.
    before: proved?.action === "save" ? null : (base?.pin ?? null),
    sides: merged?.map(({ pin }) => pin) ?? null,
  });
}

const isRestore = ({ proved }: CommitInfo) => proved?.action === "restore";

/** A note that a restore took back to its old path moved there, though its text is another. */
function movedBack(events: readonly NoteEvent[], commit: CommitInfo): readonly NoteEvent[] {
  const [from, ...others] = events.filter((event) => event.kind === "removed");
  if (!isRestore(commit) || from === undefined || others.length > 0 || events.length !== 2) return events;
  return events.map((event) => (event.kind === "written" ? { ...event, renamedFrom: from.path } : event));
}

/** A save of ours that tells no change made the memory anew, over one that had expired: who saved is its creator. */
const madeAnew = ({ proved, changes }: CommitInfo) =>
  proved?.action === "save" && proved.source === "api" && changes === null;

/** A memory is its path: the same text at another path is another memory. */
function staysPut(event: NoteEvent): NoteEvent {
  if (event.kind === "removed" || event.renamedFrom === null) return event;
  const moves = memorySegments(event.path) === null && memorySegments(event.renamedFrom) === null;
  return moves ? event : { ...event, renamedFrom: null };
}

/** Stands only until `settleIds` has run. */
const UNSETTLED = "" as NoteId;

/** What a merge's parents have at its path, and the note wherever else one of them has it: it may have moved on either. */
function sidesOf(graph: CommitGraph, parents: readonly number[], path: RepoPath, id: NoteId): Entry[] {
  const paths = new Set([path, ...graph.pathsEverWith(id)]);
  return parents.flatMap((parent) =>
    [...paths].flatMap((one) => {
      const entry = graph.entryAt(parent, one);
      return entry !== null && (one === path || entry.id === id) ? [entry] : [];
    }),
  );
}

/** The lower of a merge's sides. An unproved merge may hold anything, so it is never above `pushed`. */
function mergedTrust(commit: CommitInfo, own: Trust, sides: readonly Entry[]): Trust {
  const classes = sides.map((entry) => entry.trust);
  if (commit.proved === null || commit.parents.length < 2 || classes.length === 0) classes.push(own);
  const lowest = Math.max(...classes.map((trust) => TRUSTS.indexOf(trust)));
  return TRUSTS[lowest] ?? own;
}

function fileChanges(events: readonly NoteEvent[], commit: CommitInfo): FileChange[] {
  const moved = new Set<RepoPath>();
  for (const event of events) {
    if (event.kind === "written" && event.renamedFrom !== null) moved.add(event.renamedFrom);
  }
  const word = ownWord(commit);
  return events.flatMap((event): FileChange[] => {
    if (event.kind === "removed" && moved.has(event.path)) return [];
    const renamedFrom = event.kind === "written" ? event.renamedFrom : null;
    const how =
      event.kind === "removed"
        ? "delete"
        : renamedFrom !== null
          ? "rename"
          : event.before === null
            ? "create"
            : "update";
    // A memory that got another name is saved under that, and gone from where it was.
    const own = event.by === commit.id && !(word === "save" && how === "delete");
    return [{ path: event.path, how, action: own ? (word ?? how) : how, renamedFrom }];
  });
}

function recordOf(
  graph: CommitGraph,
  commit: CommitInfo,
  kept: Pick<CommitRecord, "parents" | "atMs" | "trust" | "rows" | "chain" | "place">,
): CommitRecord {
  const { proved } = commit;
  const request =
    proved?.requestKey && proved.requestHash
      ? {
          key: proved.requestKey,
          hash: proved.requestHash,
          noteId: parseNoteId(proved.noteIds[0] ?? "") ?? kept.rows[0]?.entry.id ?? null,
        }
      : null;
  return {
    id: commit.id,
    ...kept,
    source: proved?.source ?? "git",
    agent:
      proved?.agent != null && proved.agentId !== null ? graph.agent(proved.agentId, proved.agent) : null,
    session: proved?.session ?? null,
    stamps: proved !== null && proved.source !== "disk",
    request,
  };
}
