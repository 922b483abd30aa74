/** A split index made whole again, as every program reads it. */
import type { Clock } from "../../lib/clock.ts";
import { fsyncFolder } from "../../lib/durable-file.ts";
import { gitLocks } from "../refs/git-lock.ts";
import { indexMode, readIndex } from "./git-index.ts";
import { readShared, removeSharedIndexes } from "./shared-index.ts";
import { wholeIndex } from "./whole-index.ts";

/**
 * Write the index in one piece and remove the shared indexes that we made. Does nothing to one that is whole.
 * @returns whether it was split
 * @throws NotesError REPO_BUSY another Git holds the index; STORAGE it can't be read or written: it is as it was
 */
export async function unsplitIndex(gitdir: string, clock: Clock, lockWaitMs: number): Promise<boolean> {
  const locks = gitLocks({ gitdir, clock, lockWaitMs });
  const held = await locks.acquire([await locks.prepare("index", "", indexMode(gitdir))]);
  try {
    const { image } = readIndex(gitdir, (name) => readShared(gitdir, name)).index;
    if (image.shared !== null) {
      held.replace("index", wholeIndex(image).bytes);
      held.publish("index");
      await fsyncFolder(gitdir);
    }
    removeSharedIndexes(gitdir);
    return image.shared !== null;
  } finally {
    held.release();
  }
}
