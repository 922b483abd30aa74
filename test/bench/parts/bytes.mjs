/** What a commit takes on disk: its pack and idx as written, alone and in a group, and after upkeep has been at it. */
import { git, gitWith, packCount } from "../seed/write.mjs";

/** Upkeep begins when it has been quiet for a while; it is done when the packs stay the same. */
export const QUIET_MS = 10_000;
/** An object's line in an idx of version 2. */
const IDX_BYTES = 28;

/** @typedef {{ alone: number, grouped: number, afterUpkeep: number, packsAfterQuiet: number }} BytesACommit */

/**
 * @param {ReturnType<typeof import("../child.mjs").forkChild>} store  alone on its repository
 * @param {string} dir
 * @returns {Promise<BytesACommit>}
 */
export async function measureBytes(store, dir) {
  const before = git(dir, "rev-parse", "HEAD").trim();
  const grouped = await store.tell("bytes", { writers: 64, groups: 8 });
  const alone = await store.tell("bytes", { writers: 1, groups: 128 });
  await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
  const commits = Number(git(dir, "rev-list", "--count", `${before}..HEAD`));
  return { alone, grouped, afterUpkeep: objectBytes(dir, before) / commits, packsAfterQuiet: packCount(dir) };
}

/** What the objects of new commits take now, wherever they lie. */
function objectBytes(dir, since) {
  const ids = git(dir, "rev-list", "--objects", "--no-object-names", `${since}..HEAD`);
  const sizes = gitWith(dir, ids, "cat-file", "--batch-check=%(objectsize:disk)").trim().split("\n");
  return sizes.reduce((sum, size) => sum + Number(size) + IDX_BYTES, 0);
}
