/**
 * The memory tool's `rename`: a file, or a directory with all that lies in it, to a path where nothing is. Each file
 * moves in one commit, with its pin, its expiry and its tags, so that at no moment it is there twice or not at all.
 */
import { NotesError } from "../../domain/errors.ts";
import { isFileName, type MemoryPath, parseMemoryPath } from "../../domain/memory-tool/memory-path.ts";
import { type MemoryFile, pathOf } from "../../domain/memory-tool/memory-tree.ts";
import {
  destinationExists,
  intoItself,
  notADirectory,
  nothingThere,
  renamed,
  reservedName,
  rootStays,
  tooLongBelow,
} from "../../domain/memory-tool/replies.ts";
import type { MemoryCommand } from "./command.ts";
import { writeAll } from "./many-writes.ts";
import { type Memories, orDoneBefore } from "./memories.ts";

/** The step that says that a rename of a directory has begun: what is at its destination since is its own. */
const BEGUN = "rename";

/** @throws MemoryRefusal  the source is not there, or the destination is */
export async function renamePath(
  { oldPath, newPath }: Extract<MemoryCommand, { command: "rename" }>,
  memories: Memories,
): Promise<string> {
  const [from, to] = [parseMemoryPath(oldPath), parseMemoryPath(newPath)];
  const reply = renamed(from.text, to.text);
  if (from.key === "") throw rootStays("rename");
  return orDoneBefore(memories, reply, async () => {
    const noteId = memories.find(from);
    const below = noteId === null ? memories.below(from) : [];
    if (noteId === null && below.length === 0) throw nothingThere(from.text);
    const begun = memories.took(BEGUN);
    checkDestination(from, to, memories, begun);
    const moves =
      noteId !== null
        ? [move({ name: from.key, noteId }, to.key, memories)]
        : below.map((one) => move(one, keyBelow(one, from, to), memories));
    let moved = 0;
    try {
      moved = await writeAll(
        moves,
        memories,
        ({ file: { noteId } }, at) => (at === 0 && !begun ? BEGUN : noteId),
        "moved",
      );
    } catch (error) {
      if (error instanceof NotesError && error.data["reason"] === "path_taken")
        throw destinationExists(to.text);
      throw error;
    }
    // Another call moved or deleted all of it since it was looked up.
    if (moved === 0) throw nothingThere(from.text);
    return reply;
  });
}

type Named = Pick<MemoryFile, "name" | "noteId">;

const move = (file: Named, key: string, { owner: agent }: Memories) => ({
  file,
  change: { kind: "move", noteId: file.noteId, scope: "agent", ref: null, agent, key } as const,
});

function checkDestination(from: MemoryPath, to: MemoryPath, memories: Memories, begun: boolean): void {
  if (to.key === "" || memories.find({ ...to, isDirectory: false }) !== null)
    throw destinationExists(to.text);
  if (memories.below(to).length > 0 && !begun) throw destinationExists(to.text);
  if (memories.below(from).length > 0 && to.key.startsWith(`${from.key}/`))
    throw intoItself(from.text, to.text);
  if (!isFileName(to.key)) throw reservedName(to.text);
  const above = memories.fileAbove(to.key);
  if (above !== null) throw notADirectory(to.text, pathOf(above));
}

/** @throws MemoryRefusal  the whole new path would be too long */
function keyBelow(file: MemoryFile, from: MemoryPath, to: MemoryPath): string {
  const key = `${to.key}${file.name.slice(from.key.length)}`;
  if (!isFileName(key)) throw tooLongBelow(to.text, pathOf(file.name));
  return key;
}
