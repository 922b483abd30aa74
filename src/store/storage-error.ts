/** Turns what the file system refuses into STORAGE, the one answer for a disk that can't take or give bytes. */
import { NotesError } from "../domain/errors.ts";
import { errnoOf } from "../lib/durable-file.ts";

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full; free some space and send the request again",
  EDQUOT: "the disk quota is used up; free some space and send the request again",
  EROFS: "the file system is read-only; remount it writable",
  EACCES: "permission was denied; give the daemon's user access to the repository",
  EPERM: "the operation was not permitted; check owner and attributes of the file",
  EIO: "the disk reported an input/output error; check the disk",
  EMFILE: "too many files are open; raise the limit of open files",
  ENFILE: "the system has too many files open; raise its limit",
  EFBIG: "the file would be larger than the file system allows",
};

/**
 * The error to throw on: STORAGE for what the disk refused, anything else as it is.
 * @param doing what failed, completing "… failed", e.g. "writing the pack"
 */
export function asStorageError(error: unknown, doing: string): unknown {
  const code = errnoOf(error);
  const reason = code === null ? undefined : REASONS[code];
  if (code === null || reason === undefined) return error;
  return new NotesError("STORAGE", `${doing} failed: ${reason}`, { errno: code }, error);
}

/** Run `work` and throw STORAGE in place of what the disk refused. */
export async function withStorageErrors<T>(doing: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw asStorageError(error, doing);
  }
}
