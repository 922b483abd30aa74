/**
 * What a chain will do to the working files, made ready outside the locks: the new bytes lie in files of ours
 * on the same device, so that placing them is a link.
 */

import type { BigIntStats } from "node:fs";
import { lstatSync, promises } from "node:fs";
import type { Chain } from "./build-chain.ts";
import { diskBlob, type Look } from "./disk-look.ts";
import { signatureOf } from "./file-signature.ts";
import type { IntentFile, Intents } from "./intents.ts";
import { withStorageErrors } from "./storage-error.ts";

/** One working file of a chain: its line in the intent, and what the Git index will say of it. */
export interface PreparedFile {
  readonly intent: IntentFile;
  /** What was seen at the path before. */
  readonly look: Look;
  /** The working file must be replaced or removed; else it holds `after` already. */
  readonly place: boolean;
  /** Of the file that will stand there, for the Git index; null when it will be gone. */
  readonly stat: BigIntStats | null;
}

/**
 * Write the prepared files of a chain. They are not synced: the intent stands until they are.
 *
 * @throws NotesError STORAGE nothing is left behind
 */
export async function prepareFiles(chain: Chain, intents: Intents): Promise<PreparedFile[]> {
  const wanted = [...chain.changed].flatMap(([path, change]) => {
    const look = chain.looks.get(path);
    return look === undefined ? [] : [{ path, look, ...change }];
  });
  const names: string[] = [];
  try {
    return await withStorageErrors("writing the working files", () =>
      Promise.all(
        wanted.map(async ({ path, look, before, after, bytes }) => {
          const place = diskBlob(look) !== after;
          const old = look.kind === "file" ? look.stat : null;
          let stat = after === null ? null : old;
          let prepared: IntentFile["prepared"] = null;
          if (place && bytes !== null) {
            const name = intents.newName();
            names.push(name);
            // The permissions that the person gave the old file, else Git's own for a new one.
            const mode = old === null ? 0o666 : Number(old.mode & 0o777n);
            await promises.writeFile(intents.prepared(name), bytes, { mode, flag: "wx" });
            stat = lstatSync(intents.prepared(name), { bigint: true });
            prepared = { name, ino: String(stat.ino), mtimeNs: String(stat.mtimeNs) };
          }
          const replaced = place && old !== null ? signatureOf(old) : null;
          const intent: IntentFile = { path, before, after, replaced, prepared, aside: intents.newName() };
          return { intent, look, place, stat };
        }),
      ),
    );
  } catch (error) {
    await Promise.all(names.map((name) => promises.rm(intents.prepared(name), { force: true })));
    throw error;
  }
}

/** Remove prepared files that will not be linked, or have been. */
export function dropPrepared(files: readonly PreparedFile[], intents: Intents): Promise<unknown> {
  return Promise.all(
    files.map(({ intent: { prepared } }) =>
      prepared === null ? null : promises.rm(intents.prepared(prepared.name), { force: true }),
    ),
  );
}
