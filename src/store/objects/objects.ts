/**
 * Reads objects, loose and packed, each proved by its id: what this returns is what was committed, and
 * damage is an error, never a value. A missing object renews the list of packs and is tried once more, since
 * gc moves objects at any time. Writing is `pack-writer.ts`; just-written objects are remembered here.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { inflateSync } from "node:zlib";
import { NotesError } from "../../domain/errors.ts";
import { byteCache } from "../../lib/byte-cache.ts";
import { errnoOf, orAbsent } from "../../lib/durable-file.ts";
import { asStorageError } from "../storage-error.ts";
import { hashObject, type ObjectId, type ObjectType } from "./object-id.ts";
import { deltaBases, openPack, type PackReader, type RawObject } from "./pack-reader.ts";

export interface GitObjects {
  /** The object, or null when the repository has none of this id. @throws NotesError STORAGE damaged */
  find(id: ObjectId): RawObject | null;
  /**
   * Bytes of an object that must be there and of this type.
   * @throws NotesError UNKNOWN_COMMIT absent or of another type; STORAGE damaged
   */
  read(type: ObjectType, id: ObjectId): Buffer;
  has(id: ObjectId): boolean;
  /** Full ids that begin with these hex digits (≥ 4), sorted. */
  idsStarting(prefix: string): ObjectId[];
  /** Keep a just-written object, so that reading it costs nothing. Call when it is durable. */
  remember(type: ObjectType, id: ObjectId, bytes: Buffer): void;
  /** Look at the folder of packs again, so that none that is gone is kept open. */
  renew(): void;
  close(): void;
}

/** Bytes of object data held at most; an object's own overhead is counted as 200. */
interface ObjectCacheSettings {
  readonly writtenBytes?: number;
  readonly basesBytes?: number;
  /** An idx up to this size is held; default 1 MiB. */
  readonly idxHeldBytes?: number;
}

const HEX40 = /^[0-9a-f]{40}$/;

function readLoose(gitdir: string, id: ObjectId): RawObject | undefined {
  const file = orAbsent(() => readFileSync(join(gitdir, "objects", id.slice(0, 2), id.slice(2))));
  if (file === null) return undefined;
  const whole = inflateSync(file);
  const end = whole.indexOf(0);
  const [, type, size] = /^(blob|tree|commit|tag) (\d+)$/.exec(whole.toString("latin1", 0, end)) ?? [];
  const bytes = whole.subarray(end + 1);
  if (type === undefined || Number(size) !== bytes.length) throw new Error("its header is wrong");
  return { type, bytes };
}

/** A tag's id is made as any other's. @throws Error bytes of another id */
function prove(id: ObjectId, { type, bytes }: RawObject): void {
  if (hashObject(type as ObjectType, bytes) !== id) throw new Error("its bytes don't match its id");
}

/** A pack that can't be opened: others are looked into, and this is told when none has what is looked for. */
function unopened(path: string, error: unknown): PackReader {
  return {
    path,
    read() {
      throw error;
    },
    idsStarting: () => [],
    close() {},
  };
}

function openOr(open: (path: string) => PackReader, path: string, broken: Set<PackReader>): PackReader {
  try {
    return open(path);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") throw error;
    const pack = unopened(path, error);
    broken.add(pack);
    return pack;
  }
}

/** The objects of one repository. @cost nothing until the first read; then one listing of the pack folder */
export function gitObjects(gitdir: string, settings: ObjectCacheSettings = {}): GitObjects {
  const written = byteCache<ObjectId, RawObject>(settings.writtenBytes ?? 32 << 20);
  const bases = deltaBases(settings.basesBytes);
  const open = (path: string) => openPack(path, bases, settings.idxHeldBytes);
  const folder = join(gitdir, "objects", "pack");
  /** Most recently useful first. */
  let packs: PackReader[] = [];
  const broken = new Set<PackReader>();

  const renew = () => {
    // One that could not be opened is tried again.
    const before = new Map(packs.filter((pack) => !broken.has(pack)).map((pack) => [pack.path, pack]));
    broken.clear();
    const names = new Set(orAbsent(() => readdirSync(folder)) ?? []);
    const next: PackReader[] = [];
    for (const name of names) {
      // A repack's unfinished files are no packs yet.
      if (!name.startsWith("pack-") || !name.endsWith(".idx") || !names.has(name.replace(/idx$/, "pack")))
        continue;
      const path = join(folder, name.slice(0, -4));
      const known = before.get(path);
      before.delete(path);
      // Between the listing and now a repack may have removed it.
      const pack = known ?? orAbsent(() => openOr(open, path, broken));
      if (pack !== null) next.push(pack);
    }
    for (const gone of before.values()) gone.close();
    packs = next;
  };

  /** From the first pack with a good copy. @throws the first damage, when there is none in any */
  const inPacks = (id: ObjectId): RawObject | undefined => {
    const key = Buffer.from(id, "hex");
    let damage: unknown;
    for (let place = 0; place < packs.length; place++) {
      const pack = packs[place];
      if (pack === undefined) continue;
      try {
        const found = pack.read(key);
        if (found === undefined) continue;
        prove(id, found);
        if (place > 0) {
          packs.copyWithin(1, 0, place);
          packs[0] = pack;
        }
        return found;
      } catch (error) {
        // The pack was repacked away: after renewing, the object is found in the new one.
        if (errnoOf(error) !== "ENOENT") damage ??= error;
      }
    }
    if (damage !== undefined) throw damage;
    return undefined;
  };
  const loose = (id: ObjectId): RawObject | undefined => {
    const found = readLoose(gitdir, id);
    if (found !== undefined) prove(id, found);
    return found;
  };
  const places = [inPacks, loose];

  /** One look; undefined when it is nowhere. Damage in one place doesn't hide a good copy in another. */
  const look = (id: ObjectId): RawObject | undefined => {
    let damage: unknown;
    for (const from of places) {
      try {
        const found = from(id);
        if (found !== undefined) return found;
      } catch (error) {
        damage ??= error;
      }
    }
    if (damage === undefined) return undefined;
    const refused = asStorageError(damage, `reading object ${id}`);
    if (refused instanceof NotesError) throw refused;
    const why = damage instanceof Error ? damage.message : String(damage);
    const advice = "Run git fsck, and fetch the object from a clone or a backup";
    throw new NotesError("STORAGE", `Object ${id} is damaged: ${why}. ${advice}.`, { object: id }, damage);
  };

  const find = (id: ObjectId): RawObject | null => {
    if (!HEX40.test(id)) return null;
    try {
      const known = written.get(id) ?? look(id);
      if (known !== undefined) return known;
    } catch {
      // Trigger: damage. Why: a good copy may have come since. Outcome: looked again, and told then.
    }
    renew();
    return look(id) ?? null;
  };

  return {
    find,
    read(type, id) {
      const found = find(id);
      if (found?.type === type) return found.bytes;
      const what = found === null ? "is not in this repository" : `is a ${found.type}, not a ${type}`;
      throw new NotesError("UNKNOWN_COMMIT", `Object ${id} ${what}.`, { object: id });
    },
    has: (id) => find(id) !== null,
    idsStarting(prefix) {
      renew();
      const digits = prefix.toLowerCase();
      if (!/^[0-9a-f]{4,40}$/.test(digits)) return [];
      const names = orAbsent(() => readdirSync(join(gitdir, "objects", digits.slice(0, 2)))) ?? [];
      const loose = names.map((name) => digits.slice(0, 2) + name).filter((id) => HEX40.test(id));
      const all = [
        ...loose.filter((id) => id.startsWith(digits)),
        ...packs.flatMap((p) => p.idsStarting(digits)),
      ];
      return [...new Set(all)].sort();
    },
    remember: (type, id, bytes) => written.set(id, { type, bytes }, bytes.length + 200),
    renew,
    close() {
      for (const pack of packs) pack.close();
      packs = [];
      written.clear();
      bases.clear();
    },
  };
}
