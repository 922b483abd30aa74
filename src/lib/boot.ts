/** Which run of the machine this is: whoever finds another one knows that what was not synced before may be lost. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/**
 * The same text until the machine is started anew; null where the system doesn't say.
 * @cost one small read on Linux; a process on macOS
 */
export function bootOfMachine(): string | null {
  try {
    if (process.platform === "darwin") {
      return execFileSync("sysctl", ["-n", "kern.bootsessionuuid"], { encoding: "utf8" }).trim();
    }
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    // Trigger: another system, or a sandbox. Why: nothing else tells one run from another. Outcome: taken for the same run.
    return null;
  }
}
