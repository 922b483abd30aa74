/** The Git index in memory for as long as its file is the one that was read or written last. */
import { type GitIndex, gitIndex, indexSignature, readIndex } from "./git-index.ts";
import type { IndexCache } from "./store-parts.ts";

export function openIndexCache(gitdir: string): IndexCache {
  let known: { index: GitIndex; signature: string } | null = null;
  return {
    read() {
      if (known?.signature !== indexSignature(gitdir)) known = readIndex(gitdir);
      return known;
    },
    wrote(bytes) {
      known = { index: gitIndex(bytes, true), signature: indexSignature(gitdir) };
    },
  };
}
