/**
 * What a chain will do to the working files, made ready outside the locks: the new bytes lie in files of ours
 * on the same device, so that placing them is a link.
 */

import { type BigIntStats, lstatSync, unlinkSync, writeFileSync } from "node:fs";
import type { RepoPath } from "../../domain/note.ts";
import { orAbsent } from "../../lib/durable-file.ts";
import { slicer } from "../../lib/slicer.ts";
import type { Chain, ChangedPath } from "../commit/build-chain.ts";
import type { IntentFile, Intents } from "../commit/intents.ts";
import { asStorageError } from "../storage-error.ts";
import { diskBlob, type Look } from "./disk-look.ts";
import { signatureOf } from "./file-signature.ts";

/** One working file of a chain: its line in the intent, and what the Git index will say of it. */
export interface PreparedFile {
  readonly intent: IntentFile;
  /** What was seen at the path before. */
  readonly look: Look;
  /** The working file must be replaced or removed; else it holds `after` already. */
  readonly place: boolean;
  /** Of the file that will stand there, for the Git index; null when it will be gone. */
  readonly stat: BigIntStats | null;
  /** Placed after the locks: a link stands there yet. */
  readonly later?: boolean;
}

/**
 * Write the prepared files of a chain. They are not synced: the intent stands until they are.
 *
 * @throws NotesError STORAGE nothing is left behind
 * @cost a small write a file, without the thread pool's detour, in slices
 */
export async function prepareFiles(chain: Chain, intents: Intents): Promise<PreparedFile[]> {
  const files: PreparedFile[] = [];
  const turn = slicer();
  try {
    for (const [path, change] of chain.changed) {
      const look = chain.looks.get(path);
      if (look !== undefined) files.push(prepareOne(path, change, look, intents));
      await turn();
    }
    return files;
  } catch (error) {
    dropPrepared(files, intents);
    throw asStorageError(error, "writing the working files");
  }
}

function prepareOne(path: RepoPath, change: ChangedPath, look: Look, intents: Intents): PreparedFile {
  const { before, after, remode = null } = change;
  if (change.left === true) {
    const intent = {
      ...{ path, before, after, replaced: null, prepared: null, aside: intents.newName() },
      left: true,
    };
    return { intent, look, place: false, stat: null };
  }
  const place = diskBlob(look) !== after || (remode !== null && look.kind === "file");
  const old = look.kind === "file" ? look.stat : null;
  const replaced = place && old !== null ? signatureOf(old) : null;
  const aside = intents.newName();
  if (change.later === true) {
    const intent = { path, before, after, replaced: null, prepared: null, aside };
    return { intent, look, place, stat: null, later: true };
  }
  const bytes = place ? change.bytes : null;
  if (!place || bytes === null) {
    const intent = { path, before, after, replaced, prepared: null, aside };
    return { intent, look, place, stat: after === null ? null : old };
  }
  const name = intents.newName();
  const file = intents.prepared(name);
  const mode = permissionsOf(old, remode);
  try {
    writeFileSync(file, bytes, { mode, flag: "wx" });
  } catch (error) {
    orAbsent(() => unlinkSync(file));
    throw error;
  }
  const stat = lstatSync(file, { bigint: true });
  const prepared = { name, ino: String(stat.ino), mtimeNs: String(stat.mtimeNs) };
  const moded = remode === null ? {} : { remode };
  return { intent: { path, before, after, replaced, prepared, aside, ...moded }, look, place, stat };
}

/** The permissions that the person gave the old file, else Git's own for a new one. */
export function permissionsOf(old: BigIntStats | null, remode: ChangedPath["remode"]): number {
  const mode = old === null ? 0o666 : Number(old.mode & 0o777n);
  if (remode === "executable") return mode | ((mode & 0o444) >> 2);
  return remode === "plain" ? mode & ~0o111 : mode;
}

/** Remove prepared files that will not be linked, or have been. */
export function dropPrepared(files: readonly PreparedFile[], intents: Intents): void {
  dropPreparedOf(
    files.map((f) => f.intent),
    intents,
  );
}

/** The same for the files of an intent as it was read back. */
export function dropPreparedOf(files: readonly IntentFile[], intents: Intents): void {
  for (const { prepared } of files) {
    if (prepared !== null) orAbsent(() => unlinkSync(intents.prepared(prepared.name)));
  }
}
