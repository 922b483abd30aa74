/** What stops one pack from being put together with others, told from what stops any work on this disk. */
import { errnoOf } from "../../lib/durable-file.ts";

/** A pack that can't be read, or whose bytes are not what its idx says; it is never copied, and never removed. */
export class DamagedPack extends Error {
  readonly pack: string;

  constructor(pack: string, why: string) {
    super(`pack-${pack} can't be put together with others: ${why}`);
    this.pack = pack;
  }
}

/** Of no single pack: it was removed meanwhile, or the machine has nothing left to give. */
const NOT_ITS_OWN = new Set(["ENOENT", "ENOSPC", "EMFILE", "ENFILE", "ENOMEM"]);

/**
 * Read something of a pack; nothing may be written in it.
 * @throws DamagedPack whatever arose; Node errors that no single pack is the reason of, ENOENT among them
 */
export function readingPack<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof DamagedPack || NOT_ITS_OWN.has(errnoOf(error) ?? "")) throw error;
    throw new DamagedPack(name, error instanceof Error ? error.message : String(error));
  }
}
