/** `notes.blame`: which agent or person wrote each line of a note. */
import { z } from "zod";
import { Trust } from "../domain/note.ts";
import { defineAction } from "./action.ts";
import { RESULT_BYTES, rowsThatFit } from "./answer-size.ts";
import { MomentInput, NoteIdInput } from "./inputs.ts";
import { Entry } from "./notes-history.ts";

const BlamedCommit = z.strictObject({
  commit: z.string(),
  at: z.string(),
  action: z.string(),
  agent_name: z.string().nullable(),
  author_name: Entry.shape.author_name,
  source: Entry.shape.source,
  trust: Trust,
  reason: z.string().nullable(),
});

export const notesBlame = defineAction({
  name: "notes.blame",
  effects: "read",
  summary: "Who wrote each line of a note, when and why.",
  description:
    "Each line of a note's file, front matter included, with the commit that brought it: which agent or person, when, and why. Renames and merges are followed.",
  input: z.strictObject({
    note_id: NoteIdInput,
    at: MomentInput.optional().describe("As it was then; a commit of this branch, or a time."),
    offset: z.number().min(0).multipleOf(1).optional().describe("Lines to leave out at the start."),
    limit: z.number().min(1).multipleOf(1).optional().describe("Lines to give at most."),
  }),
  output: z.strictObject({
    note_id: z.string(),
    path: z.string(),
    revision: z.string(),
    lines: z.array(
      z.strictObject({
        line: z.number().int().describe("Of the file, from 1 on."),
        text: z.string(),
        commit: z.string(),
      }),
    ),
    commits: z.array(BlamedCommit).describe("Each commit that lines name, once."),
    truncated: z.literal(true).optional().describe("Lines follow; go on with offset."),
  }),
  errors: ["INVALID_PARAMS", "NOT_FOUND", "UNKNOWN_COMMIT"],
  examples: [
    {
      name: "Its first lines",
      params: { note_id: "note_20261130_101500_k3vq7a", limit: 2 },
      result: { lines: [{ line: 1, text: "---" }, { line: 2 }], truncated: true },
    },
  ],
  cli: { command: "blame", positional: ["note_id"] },
  async run(params, { notebook, caller }) {
    const { noteId, path, revision, lines, commits } = await notebook.blame(
      params.note_id,
      params.at,
      caller,
    );
    const offset = params.offset ?? 0;
    const end = offset + (params.limit ?? lines.length);
    const rows = lines.slice(offset, end).map((one, at) => ({ line: offset + at + 1, ...one }));
    const shown = rows.slice(0, rowsThatFit(rows, RESULT_BYTES / 2));
    const named = new Set(shown.map(({ commit }) => commit));
    return {
      note_id: noteId,
      path,
      revision,
      lines: shown,
      commits: commits
        .filter(({ commit }) => named.has(commit))
        .map(({ agentName, authorName, ...rest }) => ({
          ...rest,
          agent_name: agentName,
          author_name: authorName,
        })),
      ...(offset + shown.length < lines.length ? { truncated: true as const } : {}),
    };
  },
});
