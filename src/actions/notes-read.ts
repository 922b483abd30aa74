/** `notes.read`: one note with its text, whole, in part, or as it was. */
import { z } from "zod";
import { NoteMetadata } from "../domain/note.ts";
import { findSection } from "../domain/section.ts";
import { defineAction } from "./action.ts";
import { cutJsonBytes, jsonBytes, RESULT_BYTES } from "./answer-size.ts";
import { NoteIdInput } from "./inputs.ts";

export const notesRead = defineAction({
  name: "notes.read",
  effects: "read",
  summary: "Read one note: its metadata and its text.",
  description:
    "Read a note by id. offset and limit take a range of lines, heading one section, at the note as it was at a commit or a time. metadata.revision is what if_revision of a later change wants.",
  input: z.strictObject({
    note_id: NoteIdInput,
    at: z.string().min(1).max(128).optional().describe("A commit, an ISO time, 7d, 12h, monday or last."),
    offset: z.number().min(0).multipleOf(1).optional().describe("Lines to leave out at the start."),
    limit: z.number().min(1).multipleOf(1).optional().describe("Lines to give at most."),
    heading: z.string().min(1).max(512).optional().describe("Only the section under this heading."),
  }),
  output: z.strictObject({
    metadata: NoteMetadata,
    content: z.string(),
    truncated: z.literal(true).optional().describe("Lines follow; go on with offset."),
    dirty: z.literal(true).optional().describe("The working file holds an edit that is not committed yet."),
    conflicted: z.literal(true).optional().describe("Two versions are kept: see notes.conflicts."),
  }),
  errors: ["INVALID_PARAMS", "NOT_FOUND", "UNKNOWN_COMMIT", "INVALID_NOTE"],
  examples: [
    { name: "By id", params: { note_id: "note_20261130_101500_k3vq7a" }, result: {} },
    { name: "Its first line", params: { note_id: "note_20261130_101500_k3vq7a", limit: 1 }, result: {} },
  ],
  cli: { command: "read", positional: ["note_id"] },
  async run(params, context) {
    const note = await context.notebook.read(params.note_id, context.caller, params.at);
    let text = note.content;
    if (params.heading !== undefined) {
      const { heading, end } = findSection(text, params.heading);
      text = text.slice(heading.start, end);
    }
    const range = lineRange(text, params.offset ?? 0, params.limit ?? Number.POSITIVE_INFINITY);
    const sized = cutToLines(range.text, RESULT_BYTES - jsonBytes(note.metadata));
    return {
      metadata: note.metadata,
      content: sized.text,
      ...(range.cut || sized.cut ? { truncated: true as const } : {}),
      ...(note.dirty ? { dirty: true as const } : {}),
      ...(note.conflicted ? { conflicted: true as const } : {}),
    };
  },
});

/** Lines `offset..offset+limit` with their line ends; `cut` when lines follow them. */
function lineRange(text: string, offset: number, limit: number): { text: string; cut: boolean } {
  let start = 0;
  for (let skipped = 0; skipped < offset && start < text.length; skipped++) start = nextLine(text, start);
  let end = start;
  for (let taken = 0; taken < limit && end < text.length; taken++) end = nextLine(text, end);
  return { text: text.slice(start, end), cut: end < text.length };
}

function nextLine(text: string, from: number): number {
  const lineFeed = text.indexOf("\n", from);
  return lineFeed === -1 ? text.length : lineFeed + 1;
}

/** Whole lines only, unless the first alone is too long. */
function cutToLines(text: string, maxBytes: number): { text: string; cut: boolean } {
  const sized = cutJsonBytes(text, maxBytes);
  const lastLine = sized.text.lastIndexOf("\n");
  return sized.cut && lastLine !== -1 ? { text: sized.text.slice(0, lastLine + 1), cut: true } : sized;
}
