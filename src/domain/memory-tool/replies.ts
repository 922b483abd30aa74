/**
 * The sentences of the Anthropic memory tool (type `memory_20250818`), as its documentation gives them: models were
 * trained to read these, so a word changed here is a contract broken. What it leaves open is said in the same form.
 *
 * @see https://platform.claude.com/docs/en/agents-and-tools/tool-use/memory-tool
 */
import type { ListedItem } from "./memory-tree.ts";
import { MemoryRefusal } from "./refusal.ts";

/** A file of more lines can't be viewed: its numbers would not fit into their six columns. */
export const LINES_MAX = 999_999;

const UNITS = ["K", "M", "G", "T"] as const;

/** Bytes as a listing shows them: `0B`, `512B`, `1.5K`, `4.0K`, `1.2M`. */
export function humanSize(bytes: number): string {
  if (bytes < 1024) return `${bytes}B`;
  let value = bytes / 1024;
  let unit = 0;
  // 1023.96K would be shown as 1024.0K.
  while (Number(value.toFixed(1)) >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${value.toFixed(1)}${UNITS[unit]}`;
}

export const directoryHead = (path: string): string =>
  `Here're the files and directories up to 2 levels deep in ${path}, excluding hidden items and node_modules:`;

export const listedLine = ({ path, bytes }: ListedItem): string => `${humanSize(bytes)}\t${path}`;

export const fileHead = (path: string): string => `Here's the content of ${path} with line numbers:`;

export const created = (path: string): string => `File created successfully at: ${path}`;

const EDITED = "The memory file has been edited.";

/** @param snippet  numbered lines around the change; null: they are not known any more */
export const replacedReply = (snippet: string | null): string =>
  snippet === null
    ? EDITED
    : `${EDITED} Here is the snippet showing the change (with line numbers):\n${snippet}`;

export const insertedReply = (path: string): string => `The file ${path} has been edited.`;

export const deleted = (path: string): string => `Successfully deleted ${path}`;

export const renamed = (oldPath: string, newPath: string): string =>
  `Successfully renamed ${oldPath} to ${newPath}`;

/** Nothing to view; `view` alone says it without `Error:`. */
export const nothingToView = (path: string) =>
  new MemoryRefusal(`The path ${path} does not exist. Please provide a valid path.`);

/** Nothing to replace in. A directory counts as no file. */
export const nothingToReplaceIn = (path: string) =>
  new MemoryRefusal(`Error: The path ${path} does not exist. Please provide a valid path.`);

export const notThere = (path: string, oldStr: string) =>
  new MemoryRefusal(
    `No replacement was performed, old_str \`${oldStr}\` did not appear verbatim in ${path}.`,
  );

/** Nothing to insert into, delete or rename. */
export const nothingThere = (path: string) => new MemoryRefusal(`Error: The path ${path} does not exist`);

export const tooManyLines = (path: string) =>
  new MemoryRefusal(`File ${path} exceeds maximum line limit of 999,999 lines.`);

export const fileExists = (path: string) => new MemoryRefusal(`Error: File ${path} already exists`);

export const directoryExists = (path: string) =>
  new MemoryRefusal(`Error: File ${path} already exists as a directory; choose another name`);

export const destinationExists = (path: string) =>
  new MemoryRefusal(`Error: The destination ${path} already exists`);

/** @param above  the path of a file on the way */
export const notADirectory = (path: string, above: string) =>
  new MemoryRefusal(`Error: ${path} can't be made: ${above} is a file and not a directory`);

export const isDirectoryName = (path: string) =>
  new MemoryRefusal(`Error: Invalid path ${path}/: a file's path does not end in /`);

/** @param what  delete or rename */
export const rootStays = (what: "delete" | "rename") =>
  new MemoryRefusal(`Error: Cannot ${what} the /memories directory itself`);

export const intoItself = (oldPath: string, newPath: string) =>
  new MemoryRefusal(`Error: Cannot rename ${oldPath} to ${newPath}: a directory can't be moved into itself`);

export const reservedName = (path: string) =>
  new MemoryRefusal(
    `Error: Invalid path ${path}: names like mem_ and 20 letters stand for memories; choose another name`,
  );

/** @param file  the path of a file that would get too long a path */
export const tooLongBelow = (newPath: string, file: string) =>
  new MemoryRefusal(`Error: ${file} can't be moved below ${newPath}: its path would be too long`);
