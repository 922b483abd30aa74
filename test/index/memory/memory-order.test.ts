import fc from "fast-check";
import { expect, test } from "vitest";
import { matches, type NoteFilter } from "../../../src/domain/filters.ts";
import { agentIdOf } from "../../../src/domain/identity.ts";
import type { NoteMetadata } from "../../../src/domain/note.ts";
import { memoryPath } from "../../../src/domain/note-path.ts";
import { pinCounts } from "../../../src/domain/trust.ts";
import { createNoteIndex, restoreNoteIndex } from "../../../src/index/create.ts";
import type { NoteIndex, Viewer } from "../../../src/index/note-index.ts";
import { HistoryBuilder, provedAs } from "../../support/history-builder.ts";
import { bytesOf } from "../../support/index-bytes.ts";

const AGENTS = ["planner", "coder", "小明"];
const KEYS = ["k", "a/b", "a/c d", "__rule__x", `${"é/".repeat(60)}long`, `${"é/".repeat(60)}other`];
const PATHS = [
  "notes/typed.md",
  "notes/other.md",
  ...KEYS.flatMap((key) => [
    memoryPath({ scope: "workspace", ref: null, agent: null, key }),
    ...AGENTS.map((agent) => memoryPath({ scope: "agent", ref: null, agent, key })),
    memoryPath({ scope: "thread", ref: "T 1", agent: "planner", key }),
    memoryPath({ scope: "person", ref: "ann", agent: "coder", key }),
  ]),
];
/** Keys that a path has cut are said in the file. */
const said = (path: string) => KEYS.filter((key) => key.length > 50 && path.includes(tail(key)))[0];
const tail = (key: string) => memoryPath({ scope: "workspace", ref: null, agent: null, key }).slice(-23);
const NOW_MS = 1_800_000_000_000;
const LINES = [
  "",
  "pinned: true\n",
  "expires_at: 2020-01-01T00:00:00Z\n",
  "expires_at: 2099-01-01T00:00:00Z\n",
];
const TEXTS: readonly (string | null)[] = [null, ...LINES, "status: [\n"];

const step = fc.record({
  changes: fc.array(fc.tuple(fc.nat(PATHS.length - 1), fc.nat(TEXTS.length - 1), fc.nat(3)), {
    minLength: 1,
    maxLength: 12,
  }),
  by: fc.constantFrom(null, ...AGENTS),
  atS: fc.nat(3),
  looks: fc.nat(2).map((n) => n > 0),
});

const VIEWERS: readonly Viewer[] = [
  { kind: "person" },
  ...AGENTS.map((name): Viewer => ({ kind: "agent", agentId: agentIdOf(name) })),
];
const FILTERS: readonly NoteFilter[] = [
  {},
  { agentIds: "all" },
  { agentIds: [] },
  { agentIds: AGENTS.slice(0, 2).map(agentIdOf) },
  { agentIds: Array.from({ length: 12 }, (_, i) => (i === 7 ? agentIdOf("coder") : i + 1)) },
  { scope: "agent" },
  { scope: "workspace" },
  { scope: "thread", scopeRefId: "T 1" },
  { scopeRefId: "ann" },
  { scope: "agent", agentIds: [agentIdOf("小明")] },
];

/** What a look at every note finds, newest first. */
function plainly(index: NoteIndex, filter: NoteFilter, viewer: Viewer): NoteMetadata[] {
  return index
    .files()
    .flatMap(({ noteId }) => (index.quarantine(noteId) === null ? (index.get(noteId) ?? []) : []))
    .filter((note) => {
      if (note.key?.startsWith("__") || !matches(filter, note)) return false;
      if (note.expires_at !== null && Date.parse(note.expires_at) <= NOW_MS) return false;
      const isOthers = note.key !== null && note.scope !== "workspace";
      if (!isOthers || filter.agentIds !== undefined || viewer.kind === "person") return true;
      return note.agent_id === viewer.agentId;
    })
    .sort((a, b) => Date.parse(b.updated_at) - Date.parse(a.updated_at) || (a.note_id < b.note_id ? -1 : 1));
}

const ids = (notes: readonly { readonly note_id: string }[]) => notes.map(({ note_id }) => note_id);

function checkAll(index: NoteIndex): void {
  for (const viewer of VIEWERS)
    for (const filter of FILTERS) {
      const query = { filter, viewer, nowMs: NOW_MS, limit: 1_000 };
      const notes = plainly(index, filter, viewer);
      const memory = notes.filter(({ key }) => key !== null);
      const pinnedFirst = [...memory.filter(pinCounts), ...memory.filter((note) => !pinCounts(note))];
      const all = index.recall({ ...query, key: null, prefix: "" });
      expect(ids(all.rows.map(({ note }) => note))).toEqual(ids(pinnedFirst));
      expect(index.recall({ ...query, key: null, prefix: "", limit: 2 }).total).toBe(memory.length);
      for (const key of KEYS) {
        const { rows } = index.recall({ ...query, key, prefix: "" });
        expect(ids(rows.map(({ note }) => note))).toEqual(
          ids(pinnedFirst.filter((note) => note.key === key)),
        );
      }
      expect(ids(index.list({ ...query, cursor: null }).items)).toEqual(ids(notes));
      const found = index.search({ ...query, query: null, mode: "substring", fields: "title-body" });
      expect(ids(found.rows.map(({ note }) => note))).toEqual(ids(notes));
    }
  const bodies = new Map<string, string | null>(
    index.files().map(({ noteId }) => [noteId, index.content(noteId)]),
  );
  for (const name of AGENTS)
    for (const keyPrefix of ["", "a/", "none/", "é/é/", "é/".repeat(60)]) {
      const agentId = agentIdOf(name);
      const expected = plainly(index, { scope: "agent", agentIds: [agentId] }, { kind: "person" })
        .filter(({ key }) => key?.startsWith(keyPrefix))
        .map(({ note_id, key }) => ({ note_id, key, bytes: Buffer.byteLength(bodies.get(note_id) ?? "") }));
      const files = index.memoryFiles({ agentId, keyPrefix, nowMs: NOW_MS });
      expect(files.map(({ noteId, key, bodyBytes }) => ({ note_id: noteId, key, bytes: bodyBytes }))).toEqual(
        expected,
      );
    }
}

test("memory kept apart is what a look at every note finds, whenever it is asked for first, also after a restart", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 6 }), async (steps) => {
      const builder = new HistoryBuilder();
      const index = createNoteIndex();
      for (const { changes, by, atS, looks } of steps) {
        const files = Object.fromEntries(
          changes.map(([path, text, body]) => {
            const name = PATHS[path] ?? "";
            const lines = TEXTS[text] ?? null;
            const key = said(name);
            const head = `${key === undefined ? "" : `key: ${key}\n`}${lines}`;
            return [name, lines === null ? null : `---\n${head}---\n${"ü".repeat(body)}`];
          }),
        );
        const proved = by === null ? null : provedAs({ action: "save", agent: by, agentId: agentIdOf(by) });
        const to = builder.change(index.head, files, { at: NOW_MS / 1000 + atS, proved });
        await index.apply(builder.history(index.head, to), builder.read);
        if (looks) index.recall(ASK_ALL);
      }
      checkAll(index);
      const again = restoreNoteIndex(bytesOf(index));
      if (again === null) throw new Error("the checkpoint was refused");
      expect(again.recall(ASK_ALL)).toEqual(index.recall(ASK_ALL));
      const rebuilt = createNoteIndex();
      if (index.head) await rebuilt.rebuild(builder.history(null, index.head), builder.read);
      expect(rebuilt.recall(ASK_ALL)).toEqual(index.recall(ASK_ALL));
      expect(again.disagreements()).toEqual(index.disagreements());
      expect(rebuilt.disagreements()).toEqual(index.disagreements());
    }),
    { numRuns: 15 },
  );
});

const ASK_ALL = {
  key: null,
  prefix: "",
  filter: {},
  viewer: { kind: "person" },
  nowMs: NOW_MS,
  limit: 1_000,
} as const;
