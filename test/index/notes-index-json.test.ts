import { expect, test } from "vitest";
import { notesIndexJson } from "../../src/index/notes-index-json.ts";
import { AT_S, indexOf, noteText } from "../support/notes-at.ts";

test("the seed's index has each readable note by id with its seven fields", async () => {
  const at = new Date(AT_S * 1000).toISOString();
  const { index } = await indexOf({
    "notes/a.md": noteText({ id: "note_1", title: "A", type: "action", tags: "x,y" }),
    "notes/bad.md": "! bad",
    "notes/old.md": noteText({ id: "note_2", expires_at: at }),
  });
  expect(JSON.parse(notesIndexJson(index, AT_S * 1000))).toEqual({
    note_1: {
      id: "note_1",
      title: "A",
      type: "action",
      tags: ["x", "y"],
      created_at: at,
      updated_at: at,
      file_path: "notes/a.md",
    },
  });
});
