/**
 * People's loose objects, when they are old and plenty, into one pack. Each is proved by its id first; one that is damaged
 * or grows meanwhile stays where it is. Synchronous: it runs in a thread of its own.
 */
import { readdirSync, readFileSync, statSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { inflateSync } from "node:zlib";
import { orAbsent } from "../../lib/durable-file.ts";
import { hashObject, type ObjectId, type ObjectType } from "./object-id.ts";
import { packBuilder } from "./pack-bytes.ts";
import { unfinishedPackFile } from "./pack-names.ts";
import { replacePacks } from "./replace-packs.ts";
import { writeUnfinished } from "./write-merged.ts";

/** A person's own work in progress is younger; Git packs 6,700 loose objects by itself. */
const OLD_MS = 3_600_000;
const PLENTY = 1_000;
/** Of one pack; the rest follows the next time. */
const MOST_BYTES = 64 << 20;

interface Loose {
  readonly id: ObjectId;
  readonly path: string;
}

/**
 * Pack loose objects that are older than an hour, when there are a thousand of them.
 * @returns how many loose files were removed
 * @cost 256 listings; a stat for each loose object; reading and compressing those that are packed
 */
export function gatherLoose(gitdir: string, nowMs: number): number {
  const old = looseObjects(gitdir).filter(({ path }) => {
    const stat = orAbsent(() => statSync(path));
    return stat !== null && nowMs - stat.mtimeMs >= OLD_MS;
  });
  if (old.length < PLENTY) return 0;
  const pack = packBuilder();
  const packed: Loose[] = [];
  let bytes = 0;
  for (const one of old) {
    if (bytes > MOST_BYTES) break;
    const found = readSound(one);
    if (found === null) continue;
    pack.add(found.type, one.id, found.bytes);
    packed.push(one);
    bytes += found.bytes.length;
  }
  if (packed.length === 0) return 0;
  const finished = pack.finish();
  for (const ending of ["pack", "idx"] as const)
    writeUnfinished(unfinishedPackFile(gitdir, finished.name, ending), finished[ending]);
  replacePacks(gitdir, finished.name, []);
  for (const { path } of packed) orAbsent(() => unlinkSync(path));
  return packed.length;
}

function looseObjects(gitdir: string): Loose[] {
  const found: Loose[] = [];
  for (let byte = 0; byte < 256; byte++) {
    const prefix = byte.toString(16).padStart(2, "0");
    const folder = join(gitdir, "objects", prefix);
    for (const name of orAbsent(() => readdirSync(folder)) ?? []) {
      if (/^[0-9a-f]{38}$/.test(name)) found.push({ id: prefix + name, path: join(folder, name) });
    }
  }
  return found;
}

/** A tag can't be told apart from damage here, and stays loose: there are few. */
function readSound({ id, path }: Loose): { readonly type: ObjectType; readonly bytes: Buffer } | null {
  try {
    const whole = inflateSync(readFileSync(path), { maxOutputLength: MOST_BYTES });
    const end = whole.indexOf(0);
    const [, type, size] = /^(blob|tree|commit) (\d+)$/.exec(whole.toString("latin1", 0, end)) ?? [];
    if (type !== "blob" && type !== "tree" && type !== "commit") return null;
    const bytes = whole.subarray(end + 1);
    return Number(size) === bytes.length && hashObject(type, bytes) === id ? { type, bytes } : null;
  } catch {
    // Damaged, gone or too large: it is left for whoever reads it to be told.
    return null;
  }
}
