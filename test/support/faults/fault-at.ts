/** Refuses one call of many, counted from the tap's beginning. */
import type { FsCall } from "./fs-calls.ts";
import { diskError, type Fault, type FsHook } from "./fs-tap.ts";

export interface Refusal {
  readonly nth: number;
  /** `ENOSPC`, `EIO`, `EMFILE`, … */
  readonly code: string;
  readonly done: Fault["done"];
}

export interface Counting extends FsHook {
  /** The calls so far. */
  readonly calls: readonly FsCall[];
}

/** Count calls, and refuse one of them. */
export function faultAt(refusal: Refusal | null): Counting {
  const calls: FsCall[] = [];
  return {
    calls,
    before(call) {
      calls.push(call);
      if (refusal === null || calls.length !== refusal.nth) return null;
      return { error: diskError(refusal.code, call), done: refusal.done };
    },
  };
}

const OPENS = new Set(["open", "readdir", "readFile", "writeFile", "appendFile"]);
const WRITES = new Set(["write", "writev", "writeFile", "appendFile"]);
const TAKES_SPACE = new Set([...WRITES, "mkdir", "link", "rename", "copyFile", "fsync", "fdatasync"]);

/** How the disk may refuse a call: before it is done, in the middle of it, or after it was done after all. */
export function refusalsOf(call: FsCall, nth: number): Refusal[] {
  const refusals: Refusal[] = [{ nth, code: "EIO", done: "nothing" }];
  if (OPENS.has(call.op)) refusals.push({ nth, code: "EMFILE", done: "nothing" });
  if (TAKES_SPACE.has(call.op) || (call.op === "open" && call.mutates))
    refusals.push({ nth, code: "ENOSPC", done: WRITES.has(call.op) ? "half" : "nothing" });
  if (call.mutates && call.op !== "open") refusals.push({ nth, code: "EIO", done: "all" });
  return refusals;
}
