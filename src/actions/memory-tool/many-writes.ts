/**
 * The writes of one call to all files of a directory. All but the last go side by side, so that they share commit
 * rounds; the last, which says that the call is done, goes when they are, and not at all when one was refused.
 */
import type { Change } from "../../domain/change.ts";
import { ERRORS, NotesError } from "../../domain/errors.ts";
import { type MemoryFile, pathOf } from "../../domain/memory-tool/memory-tree.ts";
import { MemoryRefusal, shown } from "../../domain/memory-tool/refusal.ts";
import type { Memories } from "./memories.ts";

export interface FileWrite {
  readonly file: Pick<MemoryFile, "name" | "noteId">;
  readonly change: Change;
}

const SIDE_BY_SIDE = 128;
const NAMED_MOST = 10;

/**
 * @param stepOf  what a write that isn't the last is called within the call
 * @param word  what was done to a file, e.g. `deleted`
 * @returns how many files were there to be written
 * @throws MemoryRefusal  some were written and others not: which, and why
 * @throws NotesError  none was written, or some and the rest may be when the call is sent again
 */
export async function writeAll(
  writes: readonly FileWrite[],
  memories: Memories,
  stepOf: (write: FileWrite, at: number) => string,
  word: string,
): Promise<number> {
  let gone = 0;
  const failed: { file: FileWrite["file"]; error: unknown }[] = [];
  const one = async ({ file, change }: FileWrite, step?: string) => {
    try {
      await memories.write(change, step);
    } catch (error) {
      // Trigger: somebody took the file away meanwhile. Outcome: there is nothing left to do to it.
      if (error instanceof NotesError && error.code === "NOT_FOUND") gone += 1;
      else failed.push({ file, error });
    }
  };
  const last = writes.at(-1);
  const others = writes.slice(0, -1);
  for (let from = 0; from < others.length && failed.length === 0; from += SIDE_BY_SIDE) {
    const group = others.slice(from, from + SIDE_BY_SIDE);
    await Promise.all(group.map((write, at) => one(write, stepOf(write, from + at))));
    if (failed.length > 0) throw partly(writes, from + group.length - failed.length, failed, word);
  }
  if (last !== undefined) await one(last);
  if (failed.length > 0) throw partly(writes, writes.length - failed.length, failed, word);
  return writes.length - gone;
}

function partly(
  writes: readonly FileWrite[],
  done: number,
  failed: readonly { readonly file: FileWrite["file"]; readonly error: unknown }[],
  word: string,
): unknown {
  const first = failed[0]?.error;
  if (done === 0 || !(first instanceof NotesError)) return first;
  const names = failed.slice(0, NAMED_MOST).map(({ file }) => shown(pathOf(file.name)));
  const more = failed.length > NAMED_MOST ? ` and ${failed.length - NAMED_MOST} more` : "";
  const told = `Only ${done} of ${writes.length} files were ${word}. Refused: ${names.join(", ")}${more}. ${first.message}`;
  // Sent again with its key such a call goes on where it ended; a client does so by itself.
  return ERRORS[first.code].retryable
    ? new NotesError(first.code, told, { ...first.data }, first)
    : new MemoryRefusal(`Error: ${told}`);
}
