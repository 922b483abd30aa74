/** Every object that a repository holds, reachable or not: in packs of every kind, and loose. Names only; reading is `objects.ts`. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { orAbsent } from "../../lib/durable-file.ts";
import type { ObjectId } from "../objects/object-id.ts";
import { packFile, packFolder } from "../objects/pack-names.ts";
import { type ReadIdx, readIdx } from "../objects/read-idx.ts";

/** Packs of which whole offsets can be sorted. */
const MOST_SORTED = 2 ** 22;
const MOST_BYTES = 2 ** 31;

/** Names of packs with an idx, 40 hex digits. */
export function packNames(gitdir: string): string[] {
  const names = orAbsent(() => readdirSync(packFolder(gitdir))) ?? [];
  return names.flatMap((file) => /^pack-([0-9a-f]{40})\.idx$/.exec(file)?.[1] ?? []);
}

/** @throws Error damaged */
export function idxOfPack(gitdir: string, name: string): ReadIdx {
  return readIdx(name, readFileSync(packFile(gitdir, name, "idx")));
}

/** Ids of a pack, neighbours one after the other where that can be told. @throws Node errors: it is gone */
export function packedIds(gitdir: string, idx: ReadIdx): Iterable<ObjectId> {
  const { size } = statSync(packFile(gitdir, idx.name, "pack"));
  return idsOf(idx, idx.count < MOST_SORTED && size < MOST_BYTES);
}

function* idsOf(idx: ReadIdx, sorted: boolean): Generator<ObjectId> {
  if (sorted) for (const place of idx.byOffset()) yield idx.id(place);
  else for (let place = 0; place < idx.count; place++) yield idx.id(place);
}

/** Ids of loose objects. @cost 256 listings */
export function* looseIds(gitdir: string): Generator<ObjectId> {
  for (let byte = 0; byte < 256; byte++) {
    const prefix = byte.toString(16).padStart(2, "0");
    for (const name of orAbsent(() => readdirSync(join(gitdir, "objects", prefix))) ?? [])
      if (/^[0-9a-f]{38}$/.test(name)) yield prefix + name;
  }
}

/** Each once. A pack that is put together with others meanwhile may be passed over. @cost 100 bytes an object */
export function* everyObject(gitdir: string): Generator<ObjectId> {
  const seen = new Set<ObjectId>();
  function* fresh(ids: Iterable<ObjectId>) {
    for (const id of ids) {
      if (seen.has(id)) continue;
      seen.add(id);
      yield id;
    }
  }
  for (const name of packNames(gitdir)) {
    const ids = orAbsent(() => packedIds(gitdir, idxOfPack(gitdir, name)));
    if (ids !== null) yield* fresh(ids);
  }
  yield* fresh(looseIds(gitdir));
}
