/**
 * The pieces of work that upkeep does in a thread of its own, each a function from a plain task to a plain result:
 * putting packs together, and putting a pack that Git wrote in the place of others. When they are done is `upkeep.ts`.
 */
import { chmodSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { errnoOf } from "../../lib/durable-file.ts";
import { chooseToMerge, chooseToRepack, type Effort } from "./choose-packs.ts";
import { DamagedPack } from "./damaged-pack.ts";
import { gatherLoose } from "./gather-loose.ts";
import { mergePacks } from "./merge-packs.ts";
import { listPacks } from "./pack-list.ts";
import { newPackName, unfinishedPackFile } from "./pack-names.ts";
import { holdsAll, type ReplaceStep, replacePacks } from "./replace-packs.ts";
import { syncFile } from "./write-merged.ts";

export type UpkeepTask =
  | {
      readonly kind: "merge";
      readonly gitdir: string;
      readonly effort: Effort;
      /** Packs that must not be touched: a repack reads them, or they are damaged. */
      readonly leave: readonly string[];
      /** Look for loose objects too, as if it were this time (milliseconds since the epoch). */
      readonly looseAtMs: number | null;
    }
  | {
      readonly kind: "install";
      readonly gitdir: string;
      /** Holds one pack and its idx, by whatever names. */
      readonly folder: string;
      readonly old: readonly string[];
    };

export interface UpkeepResult {
  /** Packs and loose files that are gone, now that a new pack holds them. */
  readonly removed: number;
  /** Packs that are left, of every kind. */
  readonly packs: number;
  /** Packs that Git would look for deltas in, see `chooseToRepack`. */
  readonly repack: readonly string[];
  /** Packs found damaged and left alone. */
  readonly damaged: readonly { readonly pack: string; readonly why: string }[];
}

type OnStep = (step: ReplaceStep) => void;

/** @throws Node errors; what could be seen before is still there, or in a durable pack */
export function doUpkeep(task: UpkeepTask, onStep?: OnStep): UpkeepResult {
  return task.kind === "merge" ? merge(task, onStep) : install(task, onStep);
}

/** Merges in a row for one task: each takes up to 256 MiB. */
const MOST_MERGES = 16;

function merge(task: UpkeepTask & { kind: "merge" }, onStep?: OnStep): UpkeepResult {
  const { gitdir, effort } = task;
  const leave = new Set(task.leave);
  const damaged: { pack: string; why: string }[] = [];
  let removed = 0;
  for (let merges = 0; merges < MOST_MERGES; merges++) {
    const plain = listPacks(gitdir).plain.filter(({ name }) => !leave.has(name));
    const names = chooseToMerge(plain, effort).map(({ name }) => name);
    if (names.length === 0) break;
    try {
      const merged = mergePacks(gitdir, names);
      removed += replacePacks(gitdir, merged.name, names, onStep);
    } catch (error) {
      // A person's gc took one of them away while it was read: it is looked again.
      if (errnoOf(error) === "ENOENT") continue;
      if (!(error instanceof DamagedPack)) throw error;
      leave.add(error.pack);
      damaged.push({ pack: error.pack, why: error.message });
    }
  }
  if (task.looseAtMs !== null) removed += gatherLoose(gitdir, task.looseAtMs);
  return { removed, damaged, ...lookAgain(gitdir, leave) };
}

function lookAgain(gitdir: string, leave: ReadonlySet<string>): Pick<UpkeepResult, "packs" | "repack"> {
  const { plain, all } = listPacks(gitdir);
  const free = plain.filter(({ name }) => !leave.has(name));
  return { packs: all, repack: chooseToRepack(free).map(({ name }) => name) };
}

function install({ gitdir, folder, old }: UpkeepTask & { kind: "install" }, onStep?: OnStep): UpkeepResult {
  const files = readdirSync(folder);
  const name = newPackName("packed");
  const unfinished = (ending: string) => unfinishedPackFile(gitdir, name, ending);
  try {
    for (const ending of ["pack", "idx"]) {
      const found = files.filter((file) => file.endsWith(`.${ending}`));
      const [file] = found;
      if (file === undefined || found.length > 1)
        throw new Error(`git pack-objects wrote ${found.length} files .${ending} in place of one`);
      renameSync(join(folder, file), unfinished(ending));
      chmodSync(unfinished(ending), 0o444);
      syncFile(unfinished(ending));
    }
    if (!holdsAll(gitdir, name, old))
      throw new Error("git pack-objects left objects out; its pack is not used");
  } catch (error) {
    for (const ending of ["pack", "idx"]) rmSync(unfinished(ending), { force: true });
    throw error;
  }
  const removed = replacePacks(gitdir, name, old, onStep);
  return { removed, damaged: [], ...lookAgain(gitdir, new Set()) };
}
