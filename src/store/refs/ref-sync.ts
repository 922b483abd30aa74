/**
 * Makes the branch's ref outlive a power cut: its folder is synced, and those above it up to `refs` when they may be
 * new (`team/notes`, whose folder Git removes with `pack-refs` and our lock makes again).
 * Invariant: nothing that recovery needs is dropped (intents, `.keep`) before `owed` has returned.
 */
import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import { errnoOf, fsyncFolder, orAbsent } from "../../lib/durable-file.ts";

export interface RefSync {
  /**
   * Sync the ref as it stands.
   * @throws Node errors; `owed` syncs it again then
   * @cost one stat and one folder sync; those above too the first time, and when one of them was made anew
   */
  sync(): Promise<void>;
  /** Wait for the last sync, and sync again when it failed. @throws Node errors @cost nothing when it went well */
  owed(): Promise<void>;
}

/** @param ref full name, e.g. `refs/heads/main` */
export function openRefSync(gitdir: string, ref: string): RefSync {
  /** The ref's first, then each above it up to `refs`. */
  const folders: string[] = [];
  for (let name = dirname(ref); name !== "."; name = dirname(name)) folders.push(join(gitdir, name));
  /** Folders whose name is durable in the one above: which they were then. */
  const durable = new Map<string, string>();
  let last: Promise<void> = Promise.resolve();

  async function run(): Promise<void> {
    let below: { readonly folder: string; readonly which: string | null } | null = null;
    for (const folder of folders) {
      if (below !== null && below.which !== null && durable.get(below.folder) === below.which) return;
      const which = identity(folder);
      // One that is gone has nothing of ours: Git packed the ref, durably, and removed it.
      if (which !== null) await syncIfThere(folder);
      if (below !== null && below.which !== null) durable.set(below.folder, below.which);
      below = { folder, which };
    }
  }

  function sync(): Promise<void> {
    last = run();
    // Whoever doesn't wait finds it in `owed`.
    last.catch(() => {});
    return last;
  }

  return {
    sync,
    async owed() {
      const waited = last;
      try {
        await waited;
      } catch {
        // Trigger: the disk refused. Outcome: once more, and that is thrown. Others may have done so meanwhile.
        await (last === waited ? sync() : last);
      }
    },
  };
}

/** A folder that is made anew has another, even where its inode is used again. */
function identity(folder: string): string | null {
  const stat = orAbsent(() => statSync(folder, { bigint: true }));
  return stat === null ? null : `${stat.ino}:${stat.birthtimeNs}`;
}

async function syncIfThere(folder: string): Promise<void> {
  try {
    await fsyncFolder(folder);
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error;
  }
}
