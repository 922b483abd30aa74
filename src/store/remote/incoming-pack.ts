/**
 * A pack that comes over the wire: written to a folder of its own as it comes, indexed there by native Git where there
 * is one, and looked into there. It becomes one of the repository's, durably, only when the caller says so; what a kill
 * leaves of it is removed at the next start.
 */
import { execFile } from "node:child_process";
import { promises as fs } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import git from "isomorphic-git";
import { errnoOf } from "../../lib/durable-file.ts";
import { gitEnvironment } from "../../lib/git-environment.ts";
import type { ObjectId } from "../objects/object-id.ts";
import { type GitObjects, gitObjects } from "../objects/objects.ts";
import { newPackName, packFile, packFolder } from "../objects/pack-names.ts";
import { placePack, type WrittenPack } from "../objects/pack-writer.ts";
import { everyObject } from "../purge/every-object.ts";
import { withStorageErrors } from "../storage-error.ts";
import { RemoteFailure } from "./remote.ts";

export interface IncomingPack {
  /** What it holds; null: no objects. */
  readonly objects: GitObjects | null;
  /** Names of all that it holds. */
  ids(): Iterable<ObjectId>;
  /** Make it one of the repository's. Release it when a ref holds what is in it. @throws NotesError STORAGE */
  place(): Promise<WrittenPack | null>;
  /** Call it in any case: what wasn't placed goes. */
  discard(): Promise<void>;
}

/** Above it a pack can't be read here. */
export const MOST_PACK_BYTES = 2 ** 31 - 1;
const NO_OBJECTS = 0;
const HEADER_BYTES = 12;
/** Header and the hash at its end. */
const LEAST_BYTES = 32;

/**
 * Take in a pack.
 *
 * @param data a whole pack without bases outside of it, in pieces
 * @throws RemoteFailure broken: damaged, or too large; what `data` throws; NotesError STORAGE
 */
export async function receivePack(
  gitdir: string,
  data: AsyncIterable<Uint8Array>,
  env: Readonly<Record<string, string | undefined>>,
): Promise<IncomingPack> {
  const folder = await withStorageErrors("receiving a pack", () =>
    fs.mkdtemp(join(gitdir, "notesd", "incoming-")),
  );
  const discard = () => fs.rm(folder, { recursive: true, force: true });
  try {
    const name = newPackName("packed");
    const file = packFile(folder, name, "pack");
    await fs.mkdir(packFolder(folder), { recursive: true });
    if ((await countOf(file, data)) === NO_OBJECTS)
      return { objects: null, ids: () => [], place: async () => null, discard };
    await index(folder, name, env);
    const objects = gitObjects(folder);
    return {
      objects,
      ids: () => everyObject(folder),
      place() {
        objects.close();
        return placePack(gitdir, name, file.slice(0, -".pack".length));
      },
      async discard() {
        objects.close();
        await discard();
      },
    };
  } catch (error) {
    await discard();
    throw error;
  }
}

/** Write what comes. @returns how many objects its header says */
async function countOf(file: string, data: AsyncIterable<Uint8Array>): Promise<number> {
  const out = await fs.open(file, "wx+");
  try {
    let size = 0;
    for await (const part of data) {
      size += part.length;
      if (size > MOST_PACK_BYTES)
        throw new RemoteFailure("broken", "the remote sends more than 2 GiB at once");
      await withStorageErrors("receiving a pack", () => out.writeFile(part));
    }
    const { buffer: head } = await out.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0);
    if (size < LEAST_BYTES || head.toString("latin1", 0, 4) !== "PACK")
      throw new RemoteFailure("broken", "the remote's answer holds no pack, or only the beginning of one");
    return head.readUInt32BE(8);
  } finally {
    await out.close();
  }
}

async function index(
  folder: string,
  name: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const file = packFile(folder, name, "pack");
  try {
    const idx = packFile(folder, name, "idx");
    await promisify(execFile)("git", ["index-pack", "--index-version=2", "-o", idx, file], {
      cwd: folder,
      env: { ...gitEnvironment(env), GIT_DIR: folder },
    });
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw damaged(error);
    try {
      const filepath = file.slice(folder.length + 1);
      await git.indexPack({ fs: { promises: fs }, dir: folder, gitdir: folder, filepath });
    } catch (inProcess) {
      throw damaged(inProcess);
    }
  }
}

const damaged = (error: unknown) => new RemoteFailure("broken", "the remote sent a damaged pack", error);
