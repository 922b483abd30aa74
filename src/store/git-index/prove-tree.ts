/**
 * The tree that Git would write of a folder, from the entries of the index alone and the trees of the folders in
 * it. Nothing is written: who compares the id with that of a tree that exists has its proof.
 */
import { hashObject, type ObjectId } from "../objects/object-id.ts";
import type { CacheTree } from "./cache-tree.ts";
import { entryAt, type IndexImage, nameOf, walk } from "./index-image.ts";

/** Entries and folders in one folder up to which it is tried: 2 ms. */
const MOST_IN_A_FOLDER = 1_000;
const SLASH = 0x2f;

export interface ProvenTree {
  readonly id: ObjectId;
  /** Entries below the folder. */
  readonly count: number;
  /** Those of the given ones that hold entries. */
  readonly folders: readonly CacheTree[];
}

/**
 * @param folder  in raw bytes as latin1; "" the root
 * @param folders nodes of the folders in it
 * @returns null when it can't be told: a folder in it has no valid node, an entry is in conflict or only intended,
 *   or there are too many
 */
export function treeOf(image: IndexImage, folder: string, folders: readonly CacheTree[]): ProvenTree | null {
  const prefix = Buffer.from(folder === "" ? "" : `${folder}/`, "latin1");
  const valid = new Map(folders.filter(({ count }) => count >= 0).map((one) => [one.name, one]));
  const parts: Buffer[] = [];
  const seen: CacheTree[] = [];
  let count = 0;
  for (let from: Buffer | null = prefix; from !== null; ) {
    const start: Buffer = from;
    from = null;
    for (const raw of walk(image, start)) {
      const name = nameOf(raw);
      if (!name.subarray(0, prefix.length).equals(prefix)) break;
      if (parts.length >= MOST_IN_A_FOLDER) return null;
      const slash = name.indexOf(SLASH, prefix.length);
      if (slash < 0) {
        const { mode, id, stage, intentToAdd } = entryAt(raw);
        if (stage > 0 || intentToAdd) return null;
        parts.push(line(mode, name.subarray(prefix.length), id));
        count++;
        continue;
      }
      const child = valid.get(name.toString("latin1", prefix.length, slash));
      if (child?.id === undefined || child.id === null) return null;
      parts.push(line(0o40000, name.subarray(prefix.length, slash), child.id));
      seen.push(child);
      count += child.count;
      // Whatever lies in the folder comes before its name with the byte after the slash.
      from = Buffer.concat([name.subarray(0, slash), Buffer.of(SLASH + 1)]);
      break;
    }
  }
  return { id: hashObject("tree", Buffer.concat(parts)), count, folders: seen };
}

const line = (mode: number, name: Buffer, id: ObjectId) =>
  Buffer.concat([Buffer.from(`${mode.toString(8)} `), name, Buffer.of(0), Buffer.from(id, "hex")]);
