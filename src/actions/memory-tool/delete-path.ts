/** The memory tool's `delete`: a file, or a directory with all that lies in it, each file a commit. */
import { NotesError } from "../../domain/errors.ts";
import { parseMemoryPath } from "../../domain/memory-tool/memory-path.ts";
import { deleted, nothingThere, rootStays } from "../../domain/memory-tool/replies.ts";
import type { MemoryCommand } from "./command.ts";
import { writeAll } from "./many-writes.ts";
import { type Memories, orDoneBefore } from "./memories.ts";

/** @throws MemoryRefusal  nothing is there, or it is `/memories` itself */
export async function deletePath(
  { path: given }: Extract<MemoryCommand, { command: "delete" }>,
  memories: Memories,
): Promise<string> {
  const path = parseMemoryPath(given);
  if (path.key === "") throw rootStays("delete");
  return orDoneBefore(memories, deleted(path.text), async () => {
    const file = memories.find(path);
    if (file !== null) await deleteFile(file);
    else {
      const below = memories.below(path);
      if (below.length === 0) throw nothingThere(path.text);
      const writes = below.map((one) => ({
        file: one,
        change: { kind: "delete", noteId: one.noteId } as const,
      }));
      await writeAll(writes, memories, ({ file: { noteId } }) => noteId, "deleted");
    }
    return deleted(path.text);
  });

  async function deleteFile(noteId: NonNullable<ReturnType<Memories["find"]>>): Promise<void> {
    try {
      await memories.write({ kind: "delete", noteId });
    } catch (error) {
      if (error instanceof NotesError && error.code === "NOT_FOUND") throw nothingThere(path.text);
      throw error;
    }
  }
}
