/**
 * A repository's life as drafts: notes created, updated, appended to and deleted by several agents over months.
 * The product's own plans make the bytes and its own rules the paths; what writes the drafts is `write.mjs`.
 */
import { agentIdOf, blobIdOf, newNoteId } from "../../../dist/domain/identity.js";
import { NOTE_TYPES } from "../../../dist/domain/note.js";
import { dayFolder, newNotePath } from "../../../dist/domain/note-path.js";
import { plan } from "../../../dist/domain/plan.js";
import { pick, randomFrom } from "./random.mjs";
import { body, title, word } from "./text.mjs";

const AGENTS = ["planner", "builder", "reviewer", "tester", "scout"];
const TYPES = new Set(Object.keys(NOTE_TYPES));
const TAGS = "auth urgent db ui perf docs infra api bug idea later legal billing mobile search sync".split(
  " ",
);
const BODY_BYTES = 1_000;
const COMMITS_A_NOTE = 1.25;
/** Of the notes that are left in the end, so many were created and deleted again beside. */
const DELETED_SHARE = 0.01;
const BEGIN_MS = Date.UTC(2025, 0, 1, 8);
const COMMITS_A_DAY = 400;
const DAY_MS = 86_400_000;

/**
 * Drafts for `NoteStore.commit`, in order; each is built on the one before.
 * @param {number} notes  how many there are in the end
 * @returns {Generator<import("../../../src/store/note-store.ts").Draft>}
 */
export function* history(notes) {
  const random = randomFrom(notes);
  const deletes = Math.floor(notes * DELETED_SHARE);
  const commits = Math.max(notes + 2 * deletes, Math.round(notes * COMMITS_A_NOTE));
  const left = { create: notes + deletes, delete: deletes, change: commits - notes - 2 * deletes };
  const counts = new Map();
  const taken = new Set();
  /** @type {import("../../../src/domain/plan.ts").CurrentNote[]} */
  const living = [];
  for (let n = 0; n < commits; n++) {
    const atMs = BEGIN_MS + Math.floor((n / COMMITS_A_DAY) * DAY_MS);
    const kind = next(random, left, living.length);
    left[kind]--;
    // Agents mostly go on with what they wrote lately.
    const far = random() < 0.3 ? living.length : Math.min(living.length, 400);
    const at = living.length - 1 - Math.floor(random() * far);
    const current = kind === "create" ? null : living[at];
    const planned = plan(wish(random, kind, current), current, contextAt(random, atMs, taken, counts));
    const { noteId, path, bytes } = planned;
    const now = bytes && {
      noteId,
      path,
      revision: blobIdOf(bytes),
      bytes,
      title: planned.title,
      type: planned.type,
    };
    if (current === null) living.push(now);
    else if (now === null) living.splice(at, 1);
    else living[at] = now;
    if (current === null) count(counts, path, 1);
    if (now === null) count(counts, path, -1);
    yield draftOf(planned, pick(random, AGENTS), atMs, random() < 0.3 ? title(random) : null);
  }
}

/**
 * New notes of today without end, for a repository of an earlier `history`.
 * @param {number} seed
 * @returns {Generator<import("../../../src/store/note-store.ts").Draft>}
 */
export function* newNotes(seed) {
  const random = randomFrom(seed);
  const counts = new Map();
  const taken = new Set();
  for (;;) {
    const atMs = Date.now();
    const planned = plan(wish(random, "create", null), null, contextAt(random, atMs, taken, counts));
    count(counts, planned.path, 1);
    yield draftOf(planned, pick(random, AGENTS), atMs, null);
  }
}

function contextAt(random, atMs, taken, counts) {
  return {
    nowMs: atMs,
    types: TYPES,
    maxNoteBytes: 256 << 10,
    newId: () => idOf(random, taken, atMs),
    newPath: (id, name) =>
      newNotePath(
        dayFolder(atMs, (f) => counts.get(f) ?? 0),
        id,
        name,
        "id",
      ),
    baseBytes: null,
  };
}

function count(counts, path, by) {
  const folder = path.slice(0, path.lastIndexOf("/"));
  counts.set(folder, (counts.get(folder) ?? 0) + by);
}

/** What comes next, so that all of it comes in the end. */
function next(random, left, living) {
  if (living < 16 && left.create > 0) return "create";
  const at = random() * (left.create + left.delete + left.change);
  if (at < left.create) return "create";
  return at < left.create + left.delete ? "delete" : "change";
}

function wish(random, kind, current) {
  const fresh = {
    title: title(random),
    content: body(random, BODY_BYTES * (0.5 + random())),
    noteType: pick(random, [...TYPES]),
    tags: Array.from({ length: Math.floor(random() * 4) }, () => pick(random, TAGS)),
  };
  if (kind === "create") {
    return { kind, ...fresh, extra: {}, pinned: random() < 0.01, expiresInHours: null, folder: null };
  }
  const { noteId } = current;
  if (kind === "delete") return { kind, noteId };
  const how = random();
  if (how < 0.4) return { kind: "append", noteId, content: body(random, 200) };
  if (how < 0.6)
    return {
      kind: "update",
      noteId,
      status: "resolved",
      tags: [...fresh.tags, word(random)],
      onConflict: "fail",
    };
  return { kind: "update", noteId, content: fresh.content, onConflict: "fail" };
}

function idOf(random, taken, atMs) {
  const bytes = (count) => Uint8Array.from({ length: count }, () => Math.floor(random() * 256));
  const id = newNoteId(atMs, bytes, (known) => taken.has(known));
  taken.add(id);
  return id;
}

/** As the notebook's own planner words it. */
function draftOf({ action, noteId, path, expected, bytes, title: name, type, changes }, agent, atMs, reason) {
  return {
    author: { name: agent, email: `${agent}@agents.notesd.invalid` },
    atMs,
    message: {
      action,
      label: type,
      title: name,
      reason,
      changes,
      noteIds: [noteId],
      noteType: type,
      source: "api",
      agent,
      agentId: agentIdOf(agent),
      session: null,
      requestKey: null,
      requestHash: null,
    },
    files: [{ path, expected, bytes }],
    origin: "door",
  };
}
