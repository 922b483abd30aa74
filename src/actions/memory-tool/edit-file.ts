/** The memory tool's `create`, `str_replace` and `insert`: one file, one commit. */
import { NotesError } from "../../domain/errors.ts";
import { isFileName, type MemoryPath, parseMemoryPath } from "../../domain/memory-tool/memory-path.ts";
import {
  type ChangedText,
  inserted,
  linesOf,
  numbered,
  replaced,
} from "../../domain/memory-tool/memory-text.ts";
import { pathOf } from "../../domain/memory-tool/memory-tree.ts";
import {
  created,
  directoryExists,
  fileExists,
  insertedReply,
  isDirectoryName,
  notADirectory,
  nothingThere,
  nothingToReplaceIn,
  notThere,
  replacedReply,
  reservedName,
} from "../../domain/memory-tool/replies.ts";
import { cutJsonBytes } from "../answer-size.ts";
import type { MemoryCommand } from "./command.ts";
import { type Memories, orDoneBefore } from "./memories.ts";

type Command<Name extends MemoryCommand["command"]> = Extract<MemoryCommand, { command: Name }>;

/** @throws MemoryRefusal  something is there already, or no file can be */
export async function createFile(
  { path: given, fileText: value }: Command<"create">,
  memories: Memories,
): Promise<string> {
  const path = parseMemoryPath(given);
  return orDoneBefore(memories, created(path.text), async () => {
    checkNewPath(path, memories);
    if (memories.find(path) !== null) throw fileExists(path.text);
    const place = { scope: "agent", ref: null, agent: memories.owner, key: path.key } as const;
    try {
      await memories.write({
        kind: "save",
        ...place,
        value,
        pinned: false,
        expiresInHours: null,
        onlyNew: true,
      });
    } catch (error) {
      if (error instanceof NotesError && error.data["reason"] === "path_taken") throw fileExists(path.text);
      throw error;
    }
    return created(path.text);
  });
}

/**
 * Whether a file could be made at a path where none is.
 * @throws MemoryRefusal  a directory is there, a file stands in the way, or the name is none for a file
 */
function checkNewPath(path: MemoryPath, memories: Memories): void {
  if (path.key === "" || (!path.isDirectory && memories.below(path).length > 0))
    throw directoryExists(path.text);
  if (path.isDirectory) throw isDirectoryName(path.text);
  if (!isFileName(path.key)) throw reservedName(path.text);
  const above = memories.fileAbove(path.key);
  if (above !== null) throw notADirectory(path.text, pathOf(above));
}

/** @throws MemoryRefusal  there is no such file, or the text occurs in it never or several times */
export async function replaceText(command: Command<"str_replace">, memories: Memories): Promise<string> {
  const { oldStr, newStr } = command;
  const path = parseMemoryPath(command.path);
  return orDoneBefore(memories, replacedReply(null), async () => {
    for (let attempt = 1; ; attempt++) {
      const noteId = memories.find(path);
      if (noteId === null) throw nothingToReplaceIn(path.text);
      const changed = replaced(path.text, (await memories.read(noteId)).content, oldStr, newStr);
      try {
        // Without the revision that was read: the writer looks for the text in what the file holds by then.
        const { replayed } = await memories.write({ kind: "edit", noteId, oldStr, newStr });
        const isAlone = !replayed && (await memories.read(noteId)).content === changed.text;
        return replacedReply(isAlone ? snippetOf(changed) : null);
      } catch (error) {
        if (!isOvertaken(error)) throw error;
        if (attempt === ATTEMPTS) throw notThere(path.text, oldStr);
      }
    }
  });
}

/** Another session's write came in between, so that the file is to be looked at again. */
const isOvertaken = (error: unknown): error is NotesError =>
  error instanceof NotesError &&
  (error.code === "NOT_FOUND" ||
    (error.code === "CONFLICT" &&
      ("revision" in error.data || /^(?:no|many)_match/.test(String(error.data["reason"])))));

/** Each time at least one other write of the file took effect. */
const ATTEMPTS = 256;

const AROUND_LINES = 2;
const SNIPPET_BYTES = 16_000;

/** The changed lines with two before and two after. */
function snippetOf({ text, from, to }: ChangedText): string {
  const lines = linesOf(text);
  const first = Math.max(1, from - AROUND_LINES);
  const shown = lines.slice(first - 1, to + AROUND_LINES).map((line, i) => numbered(line, first + i));
  const { text: snippet, cut } = cutJsonBytes(shown.join("\n"), SNIPPET_BYTES);
  return cut ? `${snippet}\n(the rest is not shown; view shows it)` : snippet;
}

/** @throws MemoryRefusal  there is no such file, or no such line in it */
export async function insertText(command: Command<"insert">, memories: Memories): Promise<string> {
  const path = parseMemoryPath(command.path);
  return orDoneBefore(memories, insertedReply(path.text), async () => {
    for (let attempt = 1; ; attempt++) {
      const noteId = memories.find(path);
      if (noteId === null) throw nothingThere(path.text);
      const { content: text, metadata } = await memories.read(noteId);
      const content = inserted(text, command.line, command.text);
      const ifRevision = metadata.revision;
      try {
        await memories.write({ kind: "update", noteId, content, ifRevision, onConflict: "merge" });
        return insertedReply(path.text);
      } catch (error) {
        if (!isOvertaken(error) || attempt === ATTEMPTS) throw error;
      }
    }
  });
}
