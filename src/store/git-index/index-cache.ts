/** The Git index in memory for as long as its file is the one that was read or written last. */

import type { IndexCache } from "../store-parts.ts";
import { type GitIndex, indexSignature, over, readIndex } from "./git-index.ts";
import { openSharedIndexes, type SharedIndexSettings } from "./shared-index.ts";

interface IndexCacheSettings extends SharedIndexSettings {
  /** `notesd.splitIndex`: a large index stands on a shared one. Without it a split index is refused. */
  readonly isSplit: boolean;
}

/** Open an empty cache of one repository's index. */
export function openIndexCache(settings: IndexCacheSettings): IndexCache {
  const { gitdir } = settings;
  const shared = settings.isSplit ? openSharedIndexes(settings) : null;
  let known: { readonly signature: string; readonly index: GitIndex } | null = null;
  return {
    read() {
      if (known === null || known.signature !== indexSignature(gitdir))
        known = readIndex(gitdir, shared?.open);
      const { index, signature } = known;
      const image = shared?.onNewest(index.image) ?? index.image;
      if (image !== index.image) known = { signature, index: over(image) };
      return known;
    },
    wrote(index) {
      known = { signature: indexSignature(gitdir), index };
      shared?.follow(index.image);
      return known.signature;
    },
    async settled() {
      await shared?.settled();
    },
  };
}
