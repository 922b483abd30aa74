/**
 * Keeps the number of packs bounded: small ones are put together in process. Packs that anything is known about
 * (kept, promised, with a bitmap or a reverse index) are another's to look after and are left alone.
 * Invariant: an object is in a durable pack at every moment; old packs go only after the new one is there.
 */
import { existsSync, promises, readdirSync, statSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../lib/clock.ts";
import { errnoOf, orAbsent } from "../../lib/durable-file.ts";
import { withStorageErrors } from "../storage-error.ts";
import type { StoreParts } from "../store-parts.ts";
import { mergePacks, type PackFile } from "./merge-packs.ts";
import { writePack } from "./pack-writer.ts";

/** Packs after which small ones are merged while writes go on, and when it is quiet. */
const MOST_BUSY = 250;
const MOST_QUIET = 40;
/** The largest packs, which a merge leaves alone: what is large was merged before. */
const LEFT_ALONE = 20;
const MERGED_BYTES = 64 << 20;
const QUIET_MS = 5_000;
const AGAIN = "the old ones stand; tried again after later writes";
/** Publications between two looks at the folder while writes go on. */
const LOOK_EVERY = 50;

interface Upkeep {
  /** A pack was written. */
  wrote(): void;
  /** Wait for a merge that is under way, and begin no other. */
  stop(): Promise<void>;
}

/** Look after the packs of a repository in the background. */
export function openUpkeep(gitdir: string, clock: Clock, troubled: StoreParts["troubled"]): Upkeep {
  let sinceLook = 0;
  let lastMs = 0;
  let running: Promise<unknown> = Promise.resolve();
  let busy = false;
  let stopped = false;
  let cancel: (() => void) | null = null;

  function run(most: number): void {
    if (busy || stopped) return;
    busy = true;
    running = mergeSmallPacks(gitdir, most)
      .catch((error: unknown) => {
        // A person's gc may take away what is just being read: nothing is lost, and later there is less to do.
        if (errnoOf(error) !== "ENOENT") troubled("small packs could not be put together", error, AGAIN);
      })
      .finally(() => {
        busy = false;
      });
  }

  function whenQuiet(): void {
    cancel = clock.after(Math.max(0, lastMs + QUIET_MS - clock.now()), () => {
      cancel = null;
      if (clock.now() - lastMs < QUIET_MS) whenQuiet();
      else run(MOST_QUIET);
    });
  }

  return {
    wrote() {
      lastMs = clock.now();
      if (cancel === null && !stopped) whenQuiet();
      if (++sinceLook < LOOK_EVERY) return;
      sinceLook = 0;
      run(MOST_BUSY);
    },
    async stop() {
      stopped = true;
      cancel?.();
      await running;
    },
  };
}

interface Small {
  /** Path without ending. */
  readonly path: string;
  readonly bytes: number;
}

/** Packs that have a pack and an idx and nothing else, smallest first; and how many packs there are in all. */
function smallPacks(gitdir: string): { readonly small: Small[]; readonly all: number } {
  const folder = join(gitdir, "objects", "pack");
  const endings = new Map<string, string[]>();
  for (const name of orAbsent(() => readdirSync(folder)) ?? []) {
    const [, stem, ending] = /^(pack-[0-9a-f]{40})\.([a-z]+)$/.exec(name) ?? [];
    if (stem !== undefined && ending !== undefined) endings.set(stem, [...(endings.get(stem) ?? []), ending]);
  }
  const small = [...endings].flatMap(([stem, list]) => {
    const path = join(folder, stem);
    const plain = list.length === 2 && list.includes("pack") && list.includes("idx");
    const stat = plain ? orAbsent(() => statSync(`${path}.pack`)) : null;
    return stat === null ? [] : [{ path, bytes: stat.size }];
  });
  const all = [...endings.values()].filter((list) => list.includes("pack")).length;
  return { small: small.sort((a, b) => a.bytes - b.bytes), all };
}

/**
 * Merge the smallest packs until few are left. Does nothing while there are at most `most`, or while a person's
 * gc is running.
 *
 * @returns how many packs were merged away
 * @throws NotesError STORAGE the disk refuses; no pack was removed that isn't in a new one
 */
export function mergeSmallPacks(gitdir: string, most: number): Promise<number> {
  return withStorageErrors("putting small packs together", () => mergeSmall(gitdir, most));
}

async function mergeSmall(gitdir: string, most: number): Promise<number> {
  const { small, all } = smallPacks(gitdir);
  if (all <= most || existsSync(join(gitdir, "gc.pid"))) return 0;
  const chosen = small
    .slice(0, Math.max(0, small.length - LEFT_ALONE))
    .filter((p) => p.bytes <= MERGED_BYTES);
  let merged = 0;
  for (let from = 0; from < chosen.length; ) {
    let bytes = 0;
    let to = from;
    for (; to < chosen.length && bytes + (chosen[to]?.bytes ?? 0) <= MERGED_BYTES; to++)
      bytes += chosen[to]?.bytes ?? 0;
    if (to - from > 1) merged += await mergeInto(gitdir, chosen.slice(from, to));
    from = Math.max(to, from + 1);
  }
  return merged;
}

async function mergeInto(gitdir: string, packs: readonly Small[]): Promise<number> {
  const files = await Promise.all(packs.map(readPack));
  const finished = await mergePacks(files);
  if (finished === null) return 0;
  const written = await writePack(gitdir, finished);
  for (const { path } of packs) {
    // The pack that came out may be one of those that went in: nothing to merge, nothing to remove.
    if (path.endsWith(`pack-${finished.name}`)) continue;
    // The idx goes first: a pack without idx is invisible to Git, an idx without pack is an error.
    for (const ending of ["idx", "pack"]) orAbsent(() => unlinkSync(`${path}.${ending}`));
  }
  written.release();
  return packs.length - 1;
}

async function readPack({ path }: Small): Promise<PackFile> {
  const [pack, idx] = await Promise.all([
    promises.readFile(`${path}.pack`),
    promises.readFile(`${path}.idx`),
  ]);
  return { pack, idx };
}
