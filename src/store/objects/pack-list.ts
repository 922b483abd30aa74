/**
 * Which packs lie in a repository, and which of them upkeep may put together: those that nothing but an idx belongs
 * to. A pack that is kept, promised, mapped (.bitmap, multi-pack-index) or holds what gc wants to forget (.mtimes) is
 * somebody else's to look after. Reads names, sizes and the multi-pack-index, never a pack.
 * @see gitformat-pack(5)
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { orAbsent } from "../../lib/durable-file.ts";
import { isFreshPack, packFile, packFolder } from "./pack-names.ts";

export interface PackOnDisk {
  /** 40 hex digits. */
  readonly name: string;
  readonly bytes: number;
  /** Written by us, and not yet by a Git that looked for deltas. */
  readonly fresh: boolean;
}

export interface PackList {
  /** Smallest first. */
  readonly plain: readonly PackOnDisk[];
  /** Packs of every kind. */
  readonly all: number;
}

/** A reverse index says nothing that the idx doesn't. */
const PLAIN_ENDINGS = new Set(["pack", "idx", "rev"]);
const MIDX = /^multi-pack-index/;

/** @cost one listing, one stat for each plain pack */
export function listPacks(gitdir: string): PackList {
  const names = orAbsent(() => readdirSync(packFolder(gitdir))) ?? [];
  const endings = new Map<string, Set<string>>();
  for (const file of names) {
    const [, name, ending] = /^pack-([0-9a-f]{40})\.([a-z]+)$/.exec(file) ?? [];
    if (name === undefined || ending === undefined) continue;
    const known = endings.get(name);
    if (known === undefined) endings.set(name, new Set([ending]));
    else known.add(ending);
  }
  const all = names.filter((file) => /^pack-.*\.pack$/.test(file)).length;
  // In a partial clone what is missing is asked for: there a Git that knows how looks after the packs.
  if (names.some((file) => file.endsWith(".promisor"))) return { plain: [], all };
  const mapped = names.some((file) => MIDX.test(file)) ? mappedPacks(gitdir) : new Set<string>();
  const plain: PackOnDisk[] = [];
  for (const [name, has] of endings) {
    const isPlain =
      has.has("pack") && has.has("idx") && [...has].every((ending) => PLAIN_ENDINGS.has(ending));
    if (!isPlain || mapped === null || mapped.has(name)) continue;
    const stat = orAbsent(() => statSync(packFile(gitdir, name, "pack")));
    if (stat !== null) plain.push({ name, bytes: stat.size, fresh: isFreshPack(name) });
  }
  return { plain: plain.sort((a, b) => a.bytes - b.bytes), all };
}

/** Names that the multi-pack-index maps; null when it is a chain or unreadable, so that any pack may be in it. */
function mappedPacks(gitdir: string): Set<string> | null {
  const file = orAbsent(() => readFileSync(`${packFolder(gitdir)}/multi-pack-index`));
  if (file === null || file.length < 24 || file.toString("latin1", 0, 4) !== "MIDX") return null;
  const chunks = file[6] ?? 0;
  for (let chunk = 0; chunk < chunks && 12 + (chunk + 2) * 12 <= file.length; chunk++) {
    const at = 12 + chunk * 12;
    if (file.toString("latin1", at, at + 4) !== "PNAM") continue;
    const [from, to] = [at + 4, at + 16].map((place) => Number(file.readBigUInt64BE(place)));
    const text = file.toString("latin1", from, to);
    return new Set([...text.matchAll(/pack-([0-9a-f]{40})\.idx/g)].map((found) => found[1] ?? ""));
  }
  return null;
}

/**
 * Whether a `git gc` of this machine is running, by the file that it holds. One left by a dead process doesn't count;
 * one that can't be read does. Never throws.
 */
export function isGcRunning(gitdir: string): boolean {
  let text: string | null;
  try {
    text = orAbsent(() => readFileSync(`${gitdir}/gc.pid`, "latin1"));
  } catch {
    // Trigger: another user's file, or no descriptor is free. Why: it may be at work. Outcome: upkeep waits, and looks again.
    return true;
  }
  if (text === null) return false;
  const pid = Number.parseInt(text, 10);
  if (!(pid > 0)) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it lives, and is another user's.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
