import { expect, test } from "vitest";
import { createNoteIndex } from "../../src/index/create.ts";
import { notesIndexJson } from "../../src/index/notes-index-json.ts";
import { HistoryBuilder } from "../support/history-builder.ts";

const note = (id: string, more = "") =>
  `---\nid: ${id}\ntitle: Title of ${id}\ntype: blocker\ntags: [a, b]\ncreated_at: 2026-11-30T10:15:00.000Z\n${more}---\n\nbody\n`;

test("the file has the original tool's shape, by id, without what is expired or can't be read", async () => {
  const history = new HistoryBuilder();
  const head = history.commit([], {
    "notes/2026/a.md": note("note_a"),
    "notes/b.md": note("note_b", "expires_at: 2026-11-30T11:00:00.000Z\n"),
    "notes/broken.md": "---\nid: note_c\nid: note_c\n---\n",
  });
  const index = createNoteIndex();
  await index.apply(history.history(null, head), history.read);
  const shown: unknown = JSON.parse((await notesIndexJson(index, Date.UTC(2026, 10, 30, 12))) ?? "");
  expect(shown).toEqual({
    note_a: {
      id: "note_a",
      title: "Title of note_a",
      type: "blocker",
      tags: ["a", "b"],
      created_at: "2026-11-30T10:15:00.000Z",
      updated_at: expect.stringMatching(/Z$/),
      file_path: "notes/2026/a.md",
    },
  });
});
