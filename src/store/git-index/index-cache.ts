/** The Git index in memory for as long as its file is the one that was read or written last. */

import type { IndexCache } from "../store-parts.ts";
import { type GitIndex, gitIndex, indexSignature, readIndex } from "./git-index.ts";

interface Known {
  readonly signature: string;
  /** Taken apart when it is asked for, not under the locks in which it was written. */
  readonly open: () => GitIndex;
}

/** Open an empty cache of one repository's index. */
export function openIndexCache(gitdir: string): IndexCache {
  let known: Known | null = null;
  const keep = (signature: string, open: () => GitIndex) => {
    let opened: GitIndex | null = null;
    known = {
      signature,
      open: () => {
        opened ??= open();
        return opened;
      },
    };
    return known;
  };
  return {
    read() {
      const signature = indexSignature(gitdir);
      if (known?.signature === signature) return { index: known.open(), signature };
      const read = readIndex(gitdir);
      keep(read.signature, () => read.index);
      return read;
    },
    wrote(bytes) {
      keep(indexSignature(gitdir), () => gitIndex(bytes, true));
    },
  };
}
