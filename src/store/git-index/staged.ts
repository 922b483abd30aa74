/**
 * What a person has staged: paths whose Git index entry differs from the branch, remembered for as long as
 * neither moves, and across our own publications, which change both alike.
 */
import type { BlobId, CommitId, RepoPath } from "../../domain/note.ts";
import type { Chain } from "../commit/build-chain.ts";
import type { PublishedGroup } from "../commit/commit-group.ts";
import { readRef } from "../refs/refs.ts";
import type { StoreParts } from "../store-parts.ts";
import { stagedPaths } from "./git-index.ts";

interface Staged {
  /** Empty while HEAD is elsewhere. @cost nothing new: a stat; else one step for each entry and note */
  find(): Promise<ReadonlySet<RepoPath>>;
  /** What the Git index holds at those paths; of a file that is only meant to be added it holds nothing. */
  texts(): Promise<ReadonlySet<BlobId>>;
  /** Our own publication moved branch and Git index: what was staged before still is, and nothing else. */
  follow(chain: Chain, published: PublishedGroup): void;
}

/** Open the finder of one repository. Nothing is read yet. */
export function openStaged(parts: StoreParts): Staged {
  const { gitdir, ref, table, log, notes } = parts;
  let at = "";
  let staged: ReadonlySet<RepoPath> = new Set();
  const keyOf = (signature: string, tip: CommitId | null) => `${signature} ${tip}`;

  async function find(): Promise<Set<RepoPath>> {
    if (parts.state().state === "elsewhere") return new Set();
    const tip = readRef(gitdir, ref);
    const { index, signature } = parts.index.read();
    const key = keyOf(signature, tip);
    if (key !== at) {
      staged = await stagedPaths(index, tip === null ? [] : await log.list(tip), notes.file);
      at = key;
    }
    // An entry that is where base is was left behind by a move of the branch; nobody staged it.
    const isBehind = (path: RepoPath) => {
      const entries = index.at(path);
      return entries.every((e) => e.stage === 0) && (entries[0]?.id ?? null) === table.base(path);
    };
    return new Set([...staged].filter((path) => !isBehind(path)));
  }

  return {
    find,
    async texts() {
      const paths = await find();
      if (paths.size === 0) return new Set();
      const { index } = parts.index.read();
      const entries = [...paths].flatMap((path) => index.at(path)).filter((entry) => !entry.intentToAdd);
      // An entry at a note's path names a blob; the commit of a submodule there is no note's text, and equals none.
      return new Set(entries.map((entry) => entry.id as BlobId));
    },
    follow({ base, tip }, { indexMoved }) {
      if (indexMoved !== null && at === keyOf(indexMoved.from, base)) at = keyOf(indexMoved.to, tip);
    },
  };
}
