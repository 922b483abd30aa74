/** `notes.conflicts`: notes of which two versions are kept. */
import { z } from "zod";
import type { BlobId } from "../domain/note.ts";
import type { KeptConflict } from "../store/note-store.ts";
import { type Context, defineAction } from "./action.ts";
import { cutJsonBytes, RESULT_BYTES } from "./answer-size.ts";
import { NoteIdInput } from "./inputs.ts";

const MOST = 100;

const Conflict = z.strictObject({
  note_id: z.string(),
  ours: z.string().nullable().describe("The file as it is served; null: removed here."),
  theirs: z.string().describe("The file as the other side has it."),
  base: z.string().nullable().describe("What both come from; null: none."),
  since: z.string(),
  truncated: z.literal(true).optional().describe("The texts were cut; ask with note_id for more of them."),
});

export const notesConflicts = defineAction({
  name: "notes.conflicts",
  effects: "read",
  summary: "Notes of which two versions are kept, with both.",
  description:
    "List kept conflicts with both versions and their base. notes.update of the note resolves one.",
  input: z.strictObject({ note_id: NoteIdInput.optional() }),
  output: z.strictObject({
    conflicts: z.array(Conflict),
    truncated: z.literal(true).optional().describe("There are more than these."),
  }),
  errors: ["INVALID_PARAMS"],
  examples: [{ name: "All", params: {}, result: { conflicts: [] } }],
  cli: { command: "conflicts", positional: ["note_id"] },
  async run(params, context) {
    const kept = await context.notebook.conflicts(params.note_id);
    const shown = kept.slice(0, MOST);
    const bytesPerText = Math.floor(RESULT_BYTES / (3 * Math.max(1, shown.length))) - 100;
    const conflicts = [];
    for (const conflict of shown) conflicts.push(await conflictRow(conflict, bytesPerText, context));
    return { conflicts, ...(shown.length < kept.length ? { truncated: true as const } : {}) };
  },
});

async function conflictRow(
  { note_id, ours, theirs, base, since }: KeptConflict,
  maxBytes: number,
  { notebook }: Context,
): Promise<z.input<typeof Conflict>> {
  const textOf = async (id: BlobId) => cutJsonBytes(await notebook.blobText(id), maxBytes);
  const none = { text: null, cut: false };
  const sides = [ours ? await textOf(ours) : none, base ? await textOf(base) : none] as const;
  const other = await textOf(theirs);
  const cut = other.cut || sides.some((side) => side.cut);
  return {
    note_id,
    ours: sides[0].text,
    theirs: other.text,
    base: sides[1].text,
    since,
    ...(cut ? { truncated: true as const } : {}),
  };
}
