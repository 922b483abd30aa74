/**
 * The disk door before one notebook, from its start to its stop, and the first look at every file behind it.
 * Invariant: the look happens whether or not the files can be watched, and again until it succeeds.
 */
import { type DiskDeps, type DiskDoor, startDisk } from "../doors/disk.ts";
import type { OpenedNotebook } from "../notebook/open.ts";

const BEGIN_AGAIN_MS = 5_000;

/** Watch the files and look at all of them once, while reads are served; what fails is reported and tried again. */
export function watchDisk(
  opened: Pick<OpenedNotebook, "disk" | "setWatching">,
  deps: DiskDeps,
): Pick<DiskDoor, "close"> {
  let door: DiskDoor | null = null;
  let closed = false;
  let cancelAgain = () => {};
  let beginning = begin();

  async function begin(): Promise<void> {
    try {
      door ??= await startDisk(deps);
      opened.setWatching(door.status);
      if (!closed) await opened.disk.scanAll("start");
    } catch (error) {
      deps.failed(error);
      if (closed) return;
      cancelAgain = deps.clock.after(BEGIN_AGAIN_MS, () => {
        beginning = begin();
      });
    }
  }

  return {
    async close() {
      closed = true;
      cancelAgain();
      // First: whoever waits for the look is told, and the look under way ends.
      opened.disk.close();
      await beginning;
      await door?.close();
    },
  };
}
