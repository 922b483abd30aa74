/**
 * What the functions of `node:fs` do: which argument names a file, and whether the call changes anything on disk.
 * How they are tapped is `fs-tap.ts`.
 */
import { constants, type PathLike } from "node:fs";

/** One call on a watched path, or on a file opened through one. */
export interface FsCall {
  /** Name without `Sync`: `open`, `write`, `rename`, … `sync` and `datasync` are called `fsync` and `fdatasync`. */
  readonly op: string;
  /** Absolute. */
  readonly path: string;
  /** Where `rename`, `link` and `copyFile` put it. */
  readonly to: string | null;
  /** The disk is different afterwards, as far as a process that is killed can tell. */
  readonly mutates: boolean;
  /** Flags of `open`. */
  readonly flags: string | number;
}

const BY_PATH = [
  "open",
  "mkdir",
  "rmdir",
  "unlink",
  "rm",
  "readdir",
  "readFile",
  "writeFile",
  "appendFile",
  "stat",
  "lstat",
  "truncate",
  "chmod",
  "utimes",
  "rename",
  "link",
  "copyFile",
  "symlink",
] as const;
const BY_FD = ["close", "read", "write", "writev", "fsync", "fdatasync", "fstat", "ftruncate"] as const;

/** Of `node:fs` with the ending `Sync`. */
export const SYNC_CALLS: readonly string[] = [...BY_PATH, ...BY_FD];
/** Of `node:fs` with a callback. Those that Node builds from these (`readFile`, `writeFile`) are seen as their parts. */
export const CALLBACK_CALLS: readonly string[] = [
  ...BY_FD,
  "open",
  "mkdir",
  "rmdir",
  "unlink",
  "readdir",
  "stat",
  "lstat",
  "rename",
  "link",
];
export const PROMISE_CALLS: readonly string[] = BY_PATH;
/** Methods of `FileHandle`, and the names of the calls they are. */
export const HANDLE_CALLS: Readonly<Record<string, string>> = {
  close: "close",
  read: "read",
  write: "write",
  writeFile: "writeFile",
  appendFile: "appendFile",
  readFile: "readFile",
  sync: "fsync",
  datasync: "fdatasync",
  stat: "fstat",
  truncate: "ftruncate",
};

const MUTATING = new Set([
  "write",
  "writev",
  "writeFile",
  "appendFile",
  "truncate",
  "ftruncate",
  "mkdir",
  "rmdir",
  "unlink",
  "rm",
  "rename",
  "link",
  "copyFile",
  "symlink",
  "chmod",
  "utimes",
]);

/** Whether these flags of `open` make a file or empty one. */
export function opensToWrite(flags: string | number): boolean {
  if (typeof flags === "number") return (flags & (constants.O_CREAT | constants.O_TRUNC)) !== 0;
  return /[wa]/.test(flags);
}

export function mutates(op: string, flags: string | number): boolean {
  return op === "open" ? opensToWrite(flags) : MUTATING.has(op);
}

export function pathText(path: unknown): string | null {
  if (typeof path === "string") return path;
  if (path instanceof URL || Buffer.isBuffer(path)) return (path satisfies PathLike).toString();
  return null;
}

/** The place of the data among the arguments of a write; null: this is none. */
export function dataPlace(op: string, onHandle: boolean): number | null {
  if (op === "write") return onHandle ? 0 : 1;
  if (op === "writeFile" || op === "appendFile") return onHandle ? 0 : 1;
  return null;
}
