/**
 * The shared indexes of a repository: `sharedindex.<id>` beside `index`, as Git keeps them. One is written beside
 * the commits, never in their way, and is durable before an index names it. Ours are hard links of files in
 * `<gitdir>/notesd/shared/`: only those are ever removed by us, and only when no index of ours has named them
 * for longer than a Git command holds one in mind. A person's are left to Git's own expiry.
 */
import { existsSync, promises, readdirSync, readFileSync, statSync, unlinkSync, utimesSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../lib/clock.ts";
import { fsyncFolder, isSameFile, orAbsent } from "../../lib/durable-file.ts";
import { parseIndex, refuse } from "./index-bytes.ts";
import { type EntryRun, type IndexImage, runLength } from "./index-image.ts";
import { standOn, wholeIndex } from "./whole-index.ts";

/** Below that every program can read it; what a whole one costs a group there: docs/engine.md, "The Git index". */
const FEWEST_ENTRIES = 8_192;
/** A group costs more with every change since the shared index, a new one costs the entries: the root balances them. */
const CHANGES_PER_ROOT = 6;
/** Git writes a new one at 20 % (`splitIndex.maxPercentChange`). */
const MOST_CHANGED = 0.2;
const PAUSE_MS = 15_000;
/** A Git command that read the index before may still write one that names the old shared index. */
const KEEP_MS = 5 * 60_000;
/** Git removes those that nobody touched for two weeks (`splitIndex.sharedIndexExpire`). */
const FRESHEN_MS = 3_600_000;

export interface SharedIndexes {
  /** @throws NotesError STORAGE missing or damaged */
  open(name: string): EntryRun;
  /** The image on the newest shared index, when one was made since it was read. */
  onNewest(image: IndexImage): IndexImage;
  /** This image was just published: keep its shared index fresh, and begin a new one when it is time. */
  follow(image: IndexImage): void;
  /** Wait for what was begun. */
  settled(): Promise<void>;
}

const sharedPath = (gitdir: string, name: string) => join(gitdir, `sharedindex.${name}`);
const ownFolder = (gitdir: string) => join(gitdir, "notesd", "shared");

/** @throws NotesError STORAGE missing or damaged */
export function readShared(gitdir: string, name: string): EntryRun {
  const bytes = orAbsent(() => readFileSync(sharedPath(gitdir, name)));
  const broken = (why: string) =>
    refuse(`stands on sharedindex.${name}, which ${why}. Move index away; git read-tree HEAD makes it anew`);
  if (bytes === null) throw broken("is missing");
  const parsed = parseIndex(bytes);
  if (parsed.link !== null) throw broken("is split itself");
  if (bytes.toString("hex", bytes.length - 20) !== name) throw broken("holds something else");
  return { bytes, starts: parsed.starts, version: parsed.version };
}

/**
 * A shared index is wanted, or a newer one.
 * @param isAfterPause nobody tried a while ago
 * @param hasFailed the last attempt did: on a full disk each would write a whole one for nothing
 */
function isDue(
  { run, shared, changes }: IndexImage,
  fewest: number,
  isAfterPause: boolean,
  hasFailed: boolean,
): boolean {
  if (shared === null) return runLength(run) >= fewest && isAfterPause;
  if (changes.length > runLength(run) * MOST_CHANGED) return isAfterPause || !hasFailed;
  return changes.length > CHANGES_PER_ROOT * Math.sqrt(runLength(run)) && isAfterPause;
}

interface Made {
  readonly name: string;
  readonly run: EntryRun;
}

export interface SharedIndexSettings {
  readonly gitdir: string;
  readonly clock: Clock;
  /** Entries from which on an index is split. */
  readonly fewestEntries?: number | undefined;
  /** Told of a shared index that could not be written; the index then stays as it was. */
  readonly troubled: (error: unknown) => void;
}

/** Open the shared indexes of a repository. Nothing is read or written yet. */
export function openSharedIndexes(settings: SharedIndexSettings): SharedIndexes {
  const { gitdir, clock, troubled, fewestEntries = FEWEST_ENTRIES } = settings;
  let held: Made | null = null;
  /** The last one that we wrote; no index has named it while it is `fresh`. */
  let newest: Made | null = null;
  let isFresh = false;
  let writing: Promise<void> | null = null;
  let startedMs = Number.NEGATIVE_INFINITY;
  let hasFailed = false;
  let freshened = { name: "", atMs: 0 };

  function freshen(name: string): void {
    const nowMs = clock.now();
    if (freshened.name === name && nowMs - freshened.atMs < FRESHEN_MS) return;
    for (const one of new Set([name, freshened.name]))
      if (one !== "") orAbsent(() => utimesSync(sharedPath(gitdir, one), nowMs / 1000, nowMs / 1000));
    freshened = { name, atMs: nowMs };
  }

  async function write(image: IndexImage): Promise<void> {
    // Also a turn of the loop: who publishes holds the locks.
    await promises.mkdir(ownFolder(gitdir), { recursive: true });
    const { bytes, image: whole } = wholeIndex(image, false);
    const name = bytes.toString("hex", bytes.length - 20);
    await writeShared(gitdir, name, bytes);
    newest = { name, run: whole.run };
    isFresh = true;
    removeOld(gitdir, clock.now() - KEEP_MS, [name, image.shared]);
  }

  return {
    open(name) {
      if (newest?.name === name) return newest.run;
      if (held?.name !== name) held = { name, run: readShared(gitdir, name) };
      return held.run;
    },
    onNewest(image) {
      // One that a person's Git made stays; an index that it wrote whole comes back to ours.
      if (newest === null || image.shared === newest.name || !(isFresh || image.shared === null))
        return image;
      if (!isFresh && !existsSync(sharedPath(gitdir, newest.name))) return image;
      return standOn(image, newest.name, newest.run);
    },
    follow(image) {
      if (image.shared !== null) freshen(image.shared);
      if (image.shared === newest?.name) isFresh = false;
      const nowMs = clock.now();
      if (writing !== null || isFresh) return;
      if (!isDue(image, fewestEntries, nowMs - startedMs >= PAUSE_MS, hasFailed)) return;
      startedMs = nowMs;
      hasFailed = false;
      writing = write(image)
        .catch((error: unknown) => {
          hasFailed = true;
          troubled(error);
        })
        .finally(() => {
          writing = null;
        });
    },
    async settled() {
      await writing;
    },
  };
}

async function writeShared(gitdir: string, name: string, bytes: Buffer): Promise<void> {
  const own = join(ownFolder(gitdir), name);
  if (existsSync(sharedPath(gitdir, name)) && !isSameFile(own, sharedPath(gitdir, name))) {
    // A person's Git has made the very same: it stays theirs.
    await promises.rm(own, { force: true });
    await syncFile(sharedPath(gitdir, name));
    readShared(gitdir, name);
    return;
  }
  const mode = (orAbsent(() => statSync(join(gitdir, "index")))?.mode ?? 0o644) & 0o777;
  await promises.rm(own, { force: true });
  const handle = await promises.open(own, "wx", mode);
  try {
    for (let at = 0; at < bytes.length; ) at += (await handle.write(bytes, at)).bytesWritten;
    await handle.datasync();
  } finally {
    await handle.close();
  }
  const bridge = `${own}.take`;
  await promises.rm(bridge, { force: true });
  await promises.link(own, bridge);
  await promises.rename(bridge, sharedPath(gitdir, name));
  await fsyncFolder(gitdir);
}

/** The file's bytes outlive a power cut when this returns. */
async function syncFile(file: string): Promise<void> {
  const handle = await promises.open(file, "r");
  try {
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

/** @param keep names that an index holds, or may hold next */
function removeOld(gitdir: string, beforeMs: number, keep: readonly (string | null)[]): void {
  const folder = ownFolder(gitdir);
  for (const name of orAbsent(() => readdirSync(folder)) ?? []) {
    if (keep.includes(name)) continue;
    const stat = orAbsent(() => statSync(join(folder, name)));
    if (stat === null || stat.mtimeMs > beforeMs) continue;
    const own = join(folder, name);
    // A person's Git that wrote the same entries has renamed its own over ours.
    if (isSameFile(own, sharedPath(gitdir, name))) orAbsent(() => unlinkSync(sharedPath(gitdir, name)));
    orAbsent(() => unlinkSync(own));
  }
}

/** Remove every shared index of ours. Only when `index` is whole again, and under its lock. */
export function removeSharedIndexes(gitdir: string): void {
  removeOld(gitdir, Number.POSITIVE_INFINITY, []);
}
