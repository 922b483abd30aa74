/**
 * Takes objects out of a repository for good: a pack that holds one is written again without it, a loose one is removed.
 * Everything else that the packs hold stays, reachable or not. Needs no native Git.
 * Invariant: an object that stays is in a durable pack at every moment, whoever is killed when.
 */
import { readdirSync, rmSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { fsyncFolder, orAbsent } from "../../lib/durable-file.ts";
import type { ObjectId } from "../objects/object-id.ts";
import type { GitObjects } from "../objects/objects.ts";
import { packFolder } from "../objects/pack-names.ts";
import { idxOfPack, looseIds, packedIds, packNames } from "./every-object.ts";
import { newObjects } from "./new-objects.ts";
import type { ObjectKind } from "./rewriting.ts";

/** Moments at which a kill is tried. */
export type DropStep = "repacked" | "unpacked";

/** What is made from objects and names them; Git makes them again. */
const DERIVED = ["info/commit-graph", "info/commit-graphs", "info/packs"];
/** What a killed Git left: a push in its quarantine, half a pack, half an object. */
const LEFT_BY_GIT = /^(?:tmp_objdir-.*|incoming-[A-Za-z0-9]{6})$/;
const LEFT_IN_PACKS = /^(?:tmp_|\.tmp-|\.notesd_)/;

/**
 * @param objects is renewed, so that it keeps nothing open that is gone
 * @returns how many went
 * @throws NotesError STORAGE an object that stays is damaged; its pack stays too then
 * @cost reads and writes every pack that holds one of them
 */
export async function dropObjects(
  gitdir: string,
  objects: GitObjects,
  ids: { has(id: ObjectId): boolean },
  onStep: (step: DropStep) => void = () => {},
): Promise<number> {
  const gone = new Set<ObjectId>();
  // First, since none of them may name what isn't there.
  clearDerived(gitdir);
  for (const name of packNames(gitdir)) {
    const idx = idxOfPack(gitdir, name);
    const here = [...packedIds(gitdir, idx)];
    const dropped = here.filter((id) => ids.has(id));
    if (dropped.length === 0) continue;
    const out = newObjects(gitdir);
    for (const id of here) {
      if (ids.has(id)) continue;
      const found = objects.find(id);
      // As Git has four kinds.
      if (found !== null) out.add(found.type as ObjectKind, found.bytes);
      await out.room();
    }
    await out.flush();
    onStep("repacked");
    for (const id of dropped) gone.add(id);
    await removePack(gitdir, name);
    onStep("unpacked");
    out.release();
    objects.renew();
  }
  for (const id of looseIds(gitdir)) {
    if (!ids.has(id)) continue;
    orAbsent(() => unlinkSync(join(gitdir, "objects", id.slice(0, 2), id.slice(2))));
    gone.add(id);
  }
  clearDerived(gitdir);
  clearLeftovers(gitdir);
  return gone.size;
}

/** The idx first: a pack without idx is invisible to Git, an idx without pack is an error. */
async function removePack(gitdir: string, name: string): Promise<void> {
  const folder = packFolder(gitdir);
  for (const file of readdirSync(folder)) if (file.startsWith("multi-pack-index")) rm(join(folder, file));
  const files = readdirSync(folder).filter((file) => file.startsWith(`pack-${name}.`));
  for (const file of files.filter((one) => one.endsWith(".idx"))) rm(join(folder, file));
  for (const file of files) rm(join(folder, file));
  await fsyncFolder(folder);
}

const rm = (path: string) => rmSync(path, { recursive: true, force: true });

function clearDerived(gitdir: string): void {
  for (const name of DERIVED) rm(join(gitdir, "objects", name));
}

function clearLeftovers(gitdir: string): void {
  const objects = join(gitdir, "objects");
  for (const name of orAbsent(() => readdirSync(packFolder(gitdir))) ?? [])
    if (LEFT_IN_PACKS.test(name)) rm(join(packFolder(gitdir), name));
  for (const name of orAbsent(() => readdirSync(objects)) ?? []) {
    if (LEFT_BY_GIT.test(name)) rm(join(objects, name));
    if (!/^[0-9a-f]{2}$/.test(name)) continue;
    for (const file of orAbsent(() => readdirSync(join(objects, name))) ?? [])
      if (file.startsWith("tmp_obj_")) rm(join(objects, name, file));
  }
}
