/**
 * Puts one group's pack into the repository durably: `.keep` first, then pack, then idx, then the folder.
 * The `.keep` stands until the ref is durable; without it a `git repack -ad` in between deletes objects
 * that nothing reaches yet. What is in the pack is `pack-bytes.ts`.
 */
import {
  existsSync,
  promises as fs,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import {
  errnoOf,
  fsyncFolder,
  inFolder,
  orAbsent,
  writeDurablySync,
  writeSynced,
} from "../../lib/durable-file.ts";
import { withStorageErrors } from "../storage-error.ts";
import type { FinishedPack } from "./pack-bytes.ts";
import { packFile, packFolder, unfinishedPackFile } from "./pack-names.ts";

export interface WrittenPack {
  /** 40 hex digits. */
  readonly name: string;
  /** Let Git repack it: call when the ref is durable. May be called twice. */
  release(): void;
}

/** What our `.keep` files say; a person's own .keep never does. */
export const KEEP_TEXT = "notesd: until the branch is durable\n";
const READ_ONLY = { mode: 0o444, over: true };
const PACK_NAME = /^pack-([0-9a-f]{40})\.keep$/;

/** Names of the packs whose `.keep` is ours, standing from a crash or held now. */
export function keptPacks(gitdir: string): string[] {
  const folder = packFolder(gitdir);
  return (orAbsent(() => readdirSync(folder)) ?? []).flatMap((file) => {
    const name = PACK_NAME.exec(file)?.[1];
    return name !== undefined && isOurs(orAbsent(() => readFileSync(join(folder, file), "utf8")))
      ? [name]
      : [];
  });
}

/** Remove our `.keep` of a pack; another's stays. For recovery, after the ref was verified. */
export function releasePack(gitdir: string, name: string): void {
  const keep = packFile(gitdir, name, "keep");
  if (isOurs(orAbsent(() => readFileSync(keep, "utf8")))) orAbsent(() => unlinkSync(keep));
}

/** Every `.keep` of a new pack is a link of this: a file that stands costs less than one made and removed for each group. */
const standingKeep = (gitdir: string) => join(gitdir, "notesd", "keep");

/** Whole at once: a kill never leaves an empty one, which could be a person's. */
function keepPack(gitdir: string, name: string): void {
  const standing = standingKeep(gitdir);
  const keep = packFile(gitdir, name, "keep");
  try {
    linkSync(standing, keep);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") {
      inFolder(dirname(standing), () => writeDurablySync(standing, KEEP_TEXT));
      linkSync(standing, keep);
      return;
    }
    // The packs are on another device, or a clone holds as many links as a file can have.
    const temporary = unfinishedPackFile(gitdir, name, "keep");
    writeFileSync(temporary, KEEP_TEXT);
    renameSync(temporary, keep);
  }
}

/** Some are not synced: a power cut may leave the beginning of one. An empty one may be a person's, and stays. */
function isOurs(text: string | null): boolean {
  return text !== null && text !== "" && KEEP_TEXT.startsWith(text);
}

/** Wait for all, also when one fails: nothing may still be writing when the failure is cleaned up. */
async function all(work: readonly Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(work)) if (result.status === "rejected") throw result.reason;
}

/**
 * Write a pack so that its objects outlive a power cut when this returns. It stays for ever: as soon as it can be seen, a
 * person's Git that needs one of its objects relies on it and writes none of its own. What nothing points to is for
 * their gc to prune.
 * @throws NotesError STORAGE the disk refuses; nothing that could be seen is taken away
 * @cost two file syncs side by side, two folder syncs at most
 * @see spec: storage, section 3, step 3
 */
export function writePack(gitdir: string, { name, pack, idx }: FinishedPack): Promise<WrittenPack> {
  return putPack(gitdir, name, (temporary) =>
    all([writeSynced(temporary("pack"), pack, READ_ONLY), writeSynced(temporary("idx"), idx, READ_ONLY)]),
  );
}

/**
 * Move a pack and its idx that are files already into place; as `writePack`.
 * @param from  files without `.pack` and `.idx`, which are gone then
 */
export function placePack(gitdir: string, name: string, from: string): Promise<WrittenPack> {
  return putPack(gitdir, name, (temporary) =>
    all(["pack", "idx"].map((ending) => moveSynced(`${from}.${ending}`, temporary(ending)))),
  );
}

async function moveSynced(from: string, to: string): Promise<void> {
  await fs.chmod(from, READ_ONLY.mode);
  try {
    await fs.rename(from, to);
  } catch (error) {
    // The packs are on another device.
    if (errnoOf(error) !== "EXDEV") throw error;
    await fs.copyFile(from, to);
  }
  const file = await fs.open(to, "r");
  try {
    await file.datasync();
  } finally {
    await file.close();
  }
}

async function putPack(
  gitdir: string,
  name: string,
  prepare: (temporary: (ending: string) => string) => Promise<void>,
): Promise<WrittenPack> {
  const folder = packFolder(gitdir);
  const path = (ending: string) => packFile(gitdir, name, ending);
  const temporary = (ending: string) => unfinishedPackFile(gitdir, name, ending);
  let renamed = false;
  return withStorageErrors("writing the pack", async () => {
    try {
      if (!existsSync(folder)) mkdirSync(folder, { recursive: true });
      await prepare(temporary);
      keepPack(gitdir, name);
      renameSync(temporary("pack"), path("pack"));
      renamed = true;
      renameSync(temporary("idx"), path("idx"));
      await fsyncFolder(folder);
    } catch (error) {
      for (const ending of ["pack", "idx", "keep"]) orAbsent(() => unlinkSync(temporary(ending)));
      // A pack without its idx is seen by nobody.
      if (renamed && !existsSync(path("idx"))) orAbsent(() => unlinkSync(path("pack")));
      releasePack(gitdir, name);
      throw error;
    }
    return { name, release: () => void orAbsent(() => unlinkSync(path("keep"))) };
  });
}
