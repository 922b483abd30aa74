/**
 * A file whose parts are read where they are wanted, each into memory of its own, so that none outlives its use
 * because of another. Blocks; errors are Node's own.
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { orAbsent } from "./durable-file.ts";

export interface FileBytes {
  /** As of opening. */
  readonly length: number;
  /** So many bytes from a place on, or as many as there are. */
  read(from: number, length: number): Buffer;
  close(): void;
}

/** @returns null when the file or a folder above it is absent */
export function openFileBytes(path: string): FileBytes | null {
  const fd = orAbsent(() => openSync(path, "r"));
  if (fd === null) return null;
  const length = fstatSync(fd).size;
  return {
    length,
    read(from, wanted) {
      const bytes = Buffer.allocUnsafeSlow(Math.max(0, Math.min(wanted, length - from)));
      let done = 0;
      while (done < bytes.length) {
        const read = readSync(fd, bytes, done, bytes.length - done, from + done);
        if (read === 0) break;
        done += read;
      }
      return bytes.subarray(0, done);
    },
    close: () => closeSync(fd),
  };
}
