/**
 * A pack that came over the wire becomes one of the repository's, durably: indexed beside it, by native Git where there
 * is one, and only then put in place. Nothing of it is seen before it is whole.
 */
import { execFile } from "node:child_process";
import { promises as fs, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import git from "isomorphic-git";
import { errnoOf } from "../../lib/durable-file.ts";
import { newPackName } from "../objects/pack-names.ts";
import { type WrittenPack, writePack } from "../objects/pack-writer.ts";
import { RemoteFailure } from "./remote.ts";
import { gitEnvironment } from "./run-git.ts";

/** Above it a pack can't be indexed here: one Buffer holds it. */
const MAX_PACK_BYTES = 2 ** 31 - 1;
const NO_OBJECTS = 0;

/**
 * @param pack a whole pack without bases outside of it
 * @returns null: it held no objects. Release it when a ref holds them
 * @throws RemoteFailure broken: damaged, or too large; NotesError STORAGE
 */
export async function takePack(
  gitdir: string,
  pack: Buffer,
  env: Readonly<Record<string, string | undefined>>,
): Promise<WrittenPack | null> {
  if (pack.length > MAX_PACK_BYTES)
    throw new RemoteFailure("broken", "the remote sends more than 2 GiB at once");
  if (pack.length < 32 || pack.toString("latin1", 0, 4) !== "PACK")
    throw new RemoteFailure("broken", "the remote's answer holds no pack, or only the beginning of one");
  if (pack.readUInt32BE(8) === NO_OBJECTS) return null;
  const folder = mkdtempSync(join(gitdir, "notesd", "incoming-"));
  try {
    writeFileSync(join(folder, "p.pack"), pack);
    await index(folder, env);
    const idx = readFileSync(join(folder, "p.idx"));
    return await writePack(gitdir, { name: newPackName("packed"), pack, idx, objects: pack.readUInt32BE(8) });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function index(folder: string, env: Readonly<Record<string, string | undefined>>): Promise<void> {
  const file = join(folder, "p.pack");
  try {
    await promisify(execFile)("git", ["index-pack", "--index-version=2", "-o", join(folder, "p.idx"), file], {
      cwd: folder,
      env: { ...gitEnvironment(env), GIT_DIR: folder },
    });
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw damaged(error);
    try {
      await git.indexPack({ fs: { promises: fs }, dir: folder, gitdir: folder, filepath: "p.pack" });
    } catch (inProcess) {
      throw damaged(inProcess);
    }
  }
}

const damaged = (error: unknown) => new RemoteFailure("broken", "the remote sent a damaged pack", error);
