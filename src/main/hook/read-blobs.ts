/** Blobs through one Git for many. Invariant: no more of them are in memory at once than one part holds. */
import type { HookGit } from "./hook-git.ts";

/** Of one part; a single larger blob is a part of its own. */
const PART_BYTES = 16 << 20;
const PART_BLOBS = 1_000;

/** Sizes by id, in bytes; an id that isn't there is not in it. */
export async function blobSizes(git: HookGit, ids: Iterable<string>): Promise<Map<string, number>> {
  const asked = [...new Set(ids)];
  if (asked.length === 0) return new Map();
  const format = "--batch-check=%(objectname) %(objecttype) %(objectsize)";
  const listed = await git.text(["cat-file", format], `${asked.join("\n")}\n`);
  return new Map(
    listed.split("\n").flatMap((line): [string, number][] => {
      const [id = "", type, size] = line.split(" ");
      return type === "blob" ? [[id, Number(size)]] : [];
    }),
  );
}

/**
 * Split what is to be read into parts that fit in memory.
 * @param idsOf the blobs of one of them
 */
export function inParts<T>(
  all: readonly T[],
  idsOf: (one: T) => readonly string[],
  sizes: ReadonlyMap<string, number>,
): T[][] {
  const parts: T[][] = [];
  let part: T[] = [];
  let bytes = 0;
  for (const one of all) {
    const more = idsOf(one).reduce((sum, id) => sum + (sizes.get(id) ?? 0), 0);
    if (part.length > 0 && (bytes + more > PART_BYTES || part.length >= PART_BLOBS)) {
      parts.push(part);
      part = [];
      bytes = 0;
    }
    part.push(one);
    bytes += more;
  }
  return part.length === 0 ? parts : [...parts, part];
}

/** Blobs by id. @throws Error when they are too much for one part */
export async function readBlobs(git: HookGit, ids: Iterable<string>): Promise<Map<string, Buffer>> {
  const asked = [...new Set(ids)];
  const found = new Map<string, Buffer>();
  if (asked.length === 0) return found;
  const out = await git.bytes(["cat-file", "--batch"], `${asked.join("\n")}\n`);
  for (let at = 0; at < out.length; ) {
    const end = out.indexOf(0x0a, at);
    const [id = "", , size = "0"] = out.toString("latin1", at, end).split(" ");
    const start = end + 1;
    found.set(id, out.subarray(start, start + Number(size)));
    at = start + Number(size) + 1;
  }
  return found;
}
