/**
 * The index as bytes, for a warm start: a line that names format, fingerprint, head and hash, then JSON in columns,
 * then the bodies in UTF-8. Disposable: whatever isn't exactly ours is refused and the caller rebuilds.
 * Invariant: restored, it answers every question as the index that wrote it, and folds on from there.
 */
import { createHash } from "node:crypto";
import type { BlobId, CommitId, NoteId, RepoPath } from "../domain/note.ts";
import type { Brief, CommitRecord, Entry, Row } from "./entry.ts";
import { liveNote, parsedOf } from "./metadata.ts";
import type { ParsedFile } from "./parsed-file.ts";
import { emptyParts, type Parts } from "./parts.ts";

const FORMAT = 2;
const MAGIC = "notesd-index";

type BriefRow = [Brief["title"], Brief["type"], Brief["tags"], Brief["claim"]];
type EntryRow = [
  path: number,
  blob: BlobId,
  id: NoteId,
  fallback: NoteId | null,
  first: number,
  changed: number,
  trust: Entry["trust"],
  brief: number,
];
type HistoryRow = [action: string, entry: number, gone: 0 | 1];
type CommitRow = [
  id: CommitId,
  parents: readonly number[],
  kept: Pick<CommitRecord, "atMs" | "source" | "agent" | "session" | "trust" | "stamps" | "request">,
  rows: readonly HistoryRow[],
  /** Path, entry (-1: none), path, entry, … */
  left: readonly number[],
];
type FileRow = [entry: number, said: ParsedFile["said"], trouble: ParsedFile["trouble"], bodyBytes: number];

interface Payload {
  readonly paths: RepoPath[];
  readonly briefs: BriefRow[];
  readonly entries: EntryRow[];
  readonly commits: CommitRow[];
  readonly files: FileRow[];
}

/** Serialise. @param fingerprint  one word, what parsing depends on @cost one pass; a few hundred bytes a note and its text */
export function writeCheckpoint(parts: Parts, fingerprint: string): Uint8Array {
  const { graph, log, state } = parts;
  const paths = numbering<RepoPath>();
  const briefs = numbering<Brief>();
  const entries = numbering<Entry>();
  const placeOf = (number: number) => graph.at(number).order;

  const left = new Map<number, number[]>();
  for (const { path, commit, entry } of graph.everyDelta()) {
    if (graph.at(commit).order < 0) continue;
    const pair = [paths.of(path), entry === null ? -1 : entries.of(entry)];
    const known = left.get(commit);
    if (known) known.push(...pair);
    else left.set(commit, pair);
  }
  const commits = log.order.map((number): CommitRow => {
    const { id, parents, atMs, source, agent, session, trust, stamps, request, rows } = graph.at(number);
    return [
      id,
      parents.map(placeOf),
      { atMs, source, agent, session, trust, stamps, request },
      rows.map(({ action, entry, gone }) => [action, entries.of(entry), gone ? 1 : 0]),
      left.get(number) ?? [],
    ];
  });
  const bodies: Buffer[] = [];
  const files = [...state.files.values()].map((note): FileRow => {
    const parsed = parsedOf(note);
    const body = Buffer.from(parsed.body);
    bodies.push(body);
    return [entries.of(note.entry), parsed.said, parsed.trouble, body.length];
  });
  const entryRows = entries.all.map(
    (entry): EntryRow => [
      paths.of(entry.path),
      entry.blob,
      entry.id,
      entry.fallback,
      placeOf(entry.first),
      placeOf(entry.changed),
      entry.trust,
      briefs.of(entry.brief),
    ],
  );
  const briefRows = briefs.all.map(({ title, type, tags, claim }): BriefRow => [title, type, tags, claim]);
  const payload: Payload = { paths: paths.all, briefs: briefRows, entries: entryRows, commits, files };
  const head = parts.head < 0 ? NO_HEAD : graph.at(parts.head).id;
  return sealed(head, fingerprint, Buffer.from(JSON.stringify(payload)), Buffer.concat(bodies));
}

const NO_HEAD = "none";

function sealed(head: string, fingerprint: string, json: Buffer, bodies: Buffer): Uint8Array {
  const content = Buffer.concat([json, bodies]);
  const line = [MAGIC, FORMAT, hashOf(fingerprint), head, json.length, bodies.length, hashOf(content)].join(
    " ",
  );
  return Buffer.concat([Buffer.from(`${line}\n`), content]);
}

function hashOf(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

/** Things numbered in the order of their first mention. */
function numbering<T>(): { of(thing: T): number; readonly all: T[] } {
  const numbers = new Map<T, number>();
  const all: T[] = [];
  return {
    all,
    of(thing) {
      const known = numbers.get(thing);
      if (known !== undefined) return known;
      numbers.set(thing, all.length);
      return all.push(thing) - 1;
    },
  };
}

/**
 * Read a checkpoint back, without any blob.
 * @returns null for bytes of another format, fingerprint or program, truncated or damaged: rebuild then
 * @cost one pass; the words of the notes are indexed afterwards
 */
export function readCheckpoint(bytes: Uint8Array, fingerprint: string): Parts | null {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = buffer.subarray(0, LINE_MAX_BYTES).indexOf("\n");
  const [magic, format, print, head, jsonBytes, bodyBytes, hash] = buffer
    .toString("latin1", 0, Math.max(0, end))
    .split(" ");
  const content = buffer.subarray(end + 1);
  const json = Number(jsonBytes);
  const ours =
    end > 0 &&
    magic === MAGIC &&
    format === String(FORMAT) &&
    print === hashOf(fingerprint) &&
    json + Number(bodyBytes) === content.length &&
    hash === hashOf(content);
  if (!ours) return null;
  // The hash says that these are the bytes that `writeCheckpoint` made.
  const payload = JSON.parse(content.toString("utf8", 0, json)) as Payload;
  const parts = partsOf(payload, content.subarray(json));
  const restored = parts.head < 0 ? NO_HEAD : parts.graph.at(parts.head).id;
  return restored === head ? parts : null;
}

const LINE_MAX_BYTES = 512;

function partsOf(payload: Payload, bodies: Buffer): Parts {
  const parts = emptyParts();
  const { graph, log, state } = parts;
  const path = at(payload.paths);
  const brief = at(payload.briefs.map(([title, type, tags, claim]): Brief => ({ title, type, tags, claim })));
  const entry = at(
    payload.entries.map(
      ([place, blob, id, fallback, first, changed, trust, says]): Entry => ({
        path: path(place),
        blob,
        id,
        fallback,
        first,
        changed,
        trust,
        brief: brief(says),
      }),
    ),
  );
  for (const [number, [id, parents, kept, rows, left]] of payload.commits.entries()) {
    const entries = new Map<RepoPath, Entry | null>();
    for (let i = 0; i + 1 < left.length; i += 2) {
      const [place = -1, what = -1] = [left[i], left[i + 1]];
      entries.set(path(place), what < 0 ? null : entry(what));
    }
    const made = rows.map(
      ([action, which, gone]): Row => ({ commit: number, action, entry: entry(which), gone: gone === 1 }),
    );
    const agent = kept.agent && graph.agent(kept.agent.agentId, kept.agent.name);
    graph.add(
      { id, parents, ...kept, agent, rows: made, ...graph.place(parents[0] ?? -1), order: -1 },
      entries,
    );
  }
  let from = 0;
  for (const [which, said, trouble, length] of payload.files) {
    const file = entry(which);
    const body = bodies.toString("utf8", from, from + length);
    from += length;
    parts.unread.add(file.path);
    state.set(file.path, liveNote(graph, file, { brief: file.brief, said, trouble, body }));
  }
  parts.head = graph.commits.length - 1;
  if (parts.head >= 0) log.append(parts.head);
  return parts;
}

function at<T>(items: readonly T[]): (place: number) => T {
  return (place) => {
    const item = items[place];
    if (item === undefined) throw new RangeError(`the checkpoint names place ${place} of ${items.length}`);
    return item;
  };
}
