/** What clients ask: one request of each operation, with text as notes have it. No sockets, no times. */
import { pick } from "./seed/random.mjs";
import { body, title, word } from "./seed/text.mjs";

const TYPES = ["task_state", "conclusion", "blocker", "action", "reference", "general"];
const BODY_BYTES = 1_000;

/** @typedef {{ random: () => number, ids: readonly string[] }} Means */

/** @type {Record<string, (means: Means) => [method: string, params: Record<string, unknown>]>} */
export const OPERATIONS = {
  create: ({ random }) => [
    "notes.create",
    {
      title: title(random),
      content: body(random, BODY_BYTES * (0.5 + random())),
      note_type: pick(random, TYPES),
    },
  ],
  update: ({ random, ids }) => [
    "notes.update",
    { note_id: pick(random, ids), content: body(random, BODY_BYTES * (0.5 + random())) },
  ],
  append: ({ random, ids }) => ["notes.append", { note_id: pick(random, ids), content: body(random, 60) }],
  read: ({ random, ids }) => ["notes.read", { note_id: pick(random, ids) }],
  list: ({ random }) => ["notes.list", { note_type: pick(random, TYPES) }],
  search: ({ random }) => ["notes.search", { query: query(random) }],
  history: ({ random, ids }) => ["notes.history", { note_id: pick(random, ids) }],
};

/** Two words as somebody would type them. @param {() => number} random */
export const query = (random) => `${word(random)} ${word(random)}`;

export const WRITES = ["create", "update", "append"];
export const READS = ["read", "list", "search", "history"];
