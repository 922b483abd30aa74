/** The Git index in memory for as long as its file is the one that was read or written last. */

import type { IndexCache } from "../store-parts.ts";
import { type GitIndex, indexSignature, readIndex } from "./git-index.ts";

/** Open an empty cache of one repository's index. */
export function openIndexCache(gitdir: string): IndexCache {
  let known: { readonly signature: string; readonly index: GitIndex } | null = null;
  return {
    read() {
      if (known === null || known.signature !== indexSignature(gitdir)) known = readIndex(gitdir);
      return known;
    },
    wrote(index) {
      known = { signature: indexSignature(gitdir), index };
      return known.signature;
    },
  };
}
