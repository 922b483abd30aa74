/**
 * The Git index put level again after a person's Git wrote one that it had read before a publication of ours:
 * `git merge` and `git stash` read the index first and take its lock later. Their index then holds our notes as
 * they were, and the person's next commit would take the new ones out again. Invariant: only an entry that
 * holds just what one of our last publications replaced, while branch and file hold what that one wrote, is touched;
 * whatever else differs is what a person staged. The price: a note that a person takes out of the index (`git rm
 * --cached`) within a minute of its write looks just like that, and is put back; later it stays out.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { NotesError } from "../../domain/errors.ts";
import type { BlobId, CommitId, RepoPath } from "../../domain/note.ts";
import { fsyncFolder } from "../../lib/durable-file.ts";
import type { Chain } from "../commit/build-chain.ts";
import { diskBlob, isExecutable } from "../files/disk-look.ts";
import { readRef } from "../refs/refs.ts";
import type { StoreParts } from "../store-parts.ts";
import { type GitIndex, type IndexEdit, indexMode, indexSignature } from "./git-index.ts";

/** A Git command reads the index and writes it back within this time. */
const WINDOW_MS = 60_000;

interface Recent {
  /** What the publications of the window replaced there. */
  readonly replaced: Map<BlobId | null, number>;
  after: BlobId | null;
}

export interface IndexLag {
  /** A chain was published with HEAD at our branch. @param signature the index file as it was left */
  published(chain: Chain, signature: string): void;
  /** The paths that lag. Waits for nothing, not for a commit of ours either. */
  look(): Promise<readonly RepoPath[]>;
  /**
   * Put level what lags. Waits for no lock.
   * @returns the paths that lag still, because another Git command holds the index
   * @cost a stat while the index is our own
   */
  level(): Promise<readonly RepoPath[]>;
}

/** Watch over the entries of the publications of this process. */
export function openIndexLag(parts: StoreParts): IndexLag {
  const { gitdir, ref, clock, log, workTree, locks } = parts;
  const recent = new Map<RepoPath, Recent>();
  let levelAt = "";

  function forgetOld(): void {
    const oldestMs = clock.now() - WINDOW_MS;
    for (const [path, { replaced }] of recent) {
      for (const [blob, atMs] of replaced) if (atMs < oldestMs) replaced.delete(blob);
      if (replaced.size === 0) recent.delete(path);
    }
  }

  async function lagging(index: GitIndex, tip: CommitId): Promise<IndexEdit[]> {
    const edits: IndexEdit[] = [];
    for (const [path, { replaced, after }] of recent) {
      const entries = index.at(path);
      // Entries of note files are blobs.
      const entry = (entries[0]?.id ?? null) as BlobId | null;
      if (entry === after || !replaced.has(entry) || entries.some((one) => one.stage !== 0)) continue;
      const look = workTree.look(path);
      if (diskBlob(look) !== after || (await log.blobAt(tip, path)) !== after) continue;
      const stat = look.kind === "file" ? look.stat : null;
      const executable = parts.fileModes && isExecutable(look);
      edits.push({ path, expected: entry, blob: after, stat, executable });
    }
    return edits;
  }

  async function look(): Promise<readonly RepoPath[]> {
    forgetOld();
    const tip = readRef(gitdir, ref);
    if (recent.size === 0 || tip === null || parts.state().state !== "ok") return [];
    if (indexSignature(gitdir) === levelAt) return [];
    const { index, signature } = parts.index.read();
    const edits = await lagging(index, tip);
    if (edits.length === 0) levelAt = signature;
    return edits.map(({ path }) => path);
  }

  async function write(tip: CommitId): Promise<readonly RepoPath[]> {
    const held = await locks.acquire([await locks.prepare("index", "", indexMode(gitdir))], { waitMs: 0 });
    let left: readonly RepoPath[];
    try {
      const { index } = parts.index.read();
      const edited = index.edit(await lagging(index, tip));
      left = edited.left;
      held.replace("index", edited.bytes);
      held.publish("index");
      parts.index.wrote(edited.index);
      parts.foreign.settle();
    } finally {
      held.release();
    }
    // What a power cut took back would lag for ever: the next process doesn't know of it.
    await fsyncFolder(gitdir);
    return left;
  }

  return {
    published({ changed }, signature) {
      const nowMs = clock.now();
      for (const [path, { before, after }] of changed) {
        const known = recent.get(path) ?? { replaced: new Map(), after };
        known.after = after;
        known.replaced.delete(after);
        known.replaced.set(before, nowMs);
        recent.set(path, known);
      }
      levelAt = signature;
    },
    look,
    async level() {
      const paths = await look();
      const tip = readRef(gitdir, ref);
      if (paths.length === 0 || tip === null || existsSync(join(gitdir, "index.lock"))) return paths;
      try {
        return await write(tip);
      } catch (error) {
        // Trigger: a Git command was quicker at the lock. Why: it is not waited for. Outcome: looked at again when it ends.
        if (error instanceof NotesError && error.code === "REPO_BUSY") return paths;
        throw error;
      }
    },
  };
}
