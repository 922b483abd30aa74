/** Whether a process of this machine still runs, told apart from a later one that got its number. */
import { readFileSync, readlinkSync } from "node:fs";
import { errnoOf } from "./durable-file.ts";

/**
 * Watch a process, which may be gone already.
 *
 * @param space `pidSpace()` where its number was read; null: not known
 * @returns whether it still runs; null: it can't be seen from here, or nobody knows whether it can
 * @cost a call: a signal that does nothing, and on Linux a small read
 */
export function watchProcess(pid: number, space: string | null = null): (() => boolean) | null {
  if (!Number.isSafeInteger(pid) || pid < 2) return null;
  const here = space !== null && space === pidSpace();
  // The same number there is another process here.
  if (space !== null && !here) return null;
  const began = exists(pid) ? beginning(pid) : "dead";
  if (began === "dead") return here ? () => false : null;
  return () => exists(pid) && beginning(pid) === began;
}

/**
 * Where the process numbers of this process count: of which running kernel, and of which namespace there.
 * @returns null: not known on this system
 */
export function pidSpace(): string | null {
  if (process.platform !== "linux") return process.platform === "darwin" ? "darwin" : null;
  try {
    // The first namespace has the same name in every kernel.
    const kernel = readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
    return `${kernel} ${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    // No /proc here.
    return null;
  }
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It runs, as another user.
    return errnoOf(error) === "EPERM";
  }
}

/** When it began, in the kernel's ticks, and "dead" once only its entry is left; "" where that can't be read. */
function beginning(pid: number): string {
  try {
    // The name may hold blanks and brackets, so what follows its last bracket counts.
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" || fields[0] === "X" ? "dead" : (fields[19] ?? "");
  } catch {
    // No /proc here, or it just ended: then it does not exist any more either.
    return "";
  }
}
