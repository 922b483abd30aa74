/**
 * Ranges of one file that doesn't change, read through a few small windows. A large one is kept open; small ones
 * are many and are opened for each read.
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";

const WINDOW_BYTES = 32 << 10;
/** Commits, trees and blobs lie apart in a pack of Git's, and a history reads them by turns. */
const WINDOWS = 8;
/** A pack over this keeps its file open; smaller ones are many and are opened for each read. */
const KEEP_OPEN_BYTES = 1 << 20;

interface Window {
  /** What it holds, from `at` on. */
  bytes: Buffer;
  at: number;
  /** Whether the file ends with it. */
  isLast: boolean;
  room: Buffer;
}

const newWindow = (): Window => ({ bytes: Buffer.alloc(0), at: 0, isLast: false, room: Buffer.alloc(0) });

interface FileRanges {
  /** Up to `length` bytes from `at`; fewer only at the end of the file. */
  range(at: number, length: number): Buffer;
  close(): void;
}

/** Reads ranges of one file through a few small windows. What `range` returns holds until the next call. */
export function fileRanges(file: string): FileRanges {
  let kept: { readonly fd: number; readonly size: number } | null = null;
  /** The last used first. */
  let windows = [newWindow()];

  const fill = (window: Window, fd: number, size: number, wanted: number, length: number) => {
    // Some before it too: who walks history reads a pack backwards.
    const at = length >= WINDOW_BYTES ? wanted : Math.max(0, wanted - ((WINDOW_BYTES - length) >>> 1));
    const needed = Math.max(0, Math.min(Math.max(length, WINDOW_BYTES), size - at));
    if (window.room.length < needed || window.room.length > needed + WINDOW_BYTES)
      window.room = Buffer.allocUnsafe(needed);
    let done = 0;
    for (;;) {
      const got = readSync(fd, window.room, done, needed - done, at + done);
      done += got;
      if (got === 0 || done === needed) break;
    }
    window.bytes = window.room.subarray(0, done);
    window.at = at;
    window.isLast = done < needed || at + done === size;
  };
  /** The window to be filled: a new one, or the one that was used least recently; now the first. */
  const reused = (most: number): Window => {
    const window = (windows.length < most ? null : windows.pop()) ?? newWindow();
    windows.unshift(window);
    return window;
  };
  const load = (wanted: number, length: number): Window => {
    if (kept !== null) {
      const window = reused(WINDOWS);
      fill(window, kept.fd, kept.size, wanted, length);
      return window;
    }
    const fd = openSync(file, "r");
    try {
      const { size } = fstatSync(fd);
      const window = reused(1);
      fill(window, fd, size, wanted, length);
      if (size > KEEP_OPEN_BYTES) kept = { fd, size };
      return window;
    } finally {
      if (kept === null) closeSync(fd);
    }
  };
  const windowOf = (at: number, length: number): Window => {
    for (let place = 0; place < windows.length; place++) {
      const window = windows[place];
      if (window === undefined || at < window.at) continue;
      const end = window.at + window.bytes.length;
      if (at + length > end && !(window.isLast && at < end)) continue;
      if (place > 0) {
        windows.copyWithin(1, 0, place);
        windows[0] = window;
      }
      return window;
    }
    return load(at, length);
  };
  return {
    range(at, length) {
      const { bytes, at: start } = windowOf(at, length);
      return bytes.subarray(at - start, at - start + length);
    },
    close() {
      if (kept !== null) closeSync(kept.fd);
      kept = null;
      windows = [newWindow()];
    },
  };
}
