/** What intents lie on disk, as another process sees them. */
import { join } from "node:path";
import { readIntentFiles, type StoredIntent } from "../../src/store/commit/intent-log.ts";

/** Those that are not closed, oldest first. */
export const intentsOnDisk = (gitdir: string): StoredIntent[] =>
  readIntentFiles(join(gitdir, "notesd/intents")).flatMap(({ open }) => open);

/** Whether each of them only waits until its files are durable. */
export const allPlaced = (gitdir: string): boolean => intentsOnDisk(gitdir).every(({ placed }) => placed);
