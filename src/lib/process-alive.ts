/** Whether a process of this machine still runs, told apart from a later one that got its number. */
import { readFileSync } from "node:fs";
import { errnoOf } from "./durable-file.ts";

/**
 * Watch a process that runs now.
 *
 * @returns whether it still runs; null: it can't be seen from here (another namespace, or gone already)
 * @cost a call: a signal that does nothing, and on Linux a small read
 */
export function watchProcess(pid: number): (() => boolean) | null {
  if (!Number.isSafeInteger(pid) || pid < 2 || !exists(pid)) return null;
  const began = beginning(pid);
  return () => exists(pid) && beginning(pid) === began;
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
