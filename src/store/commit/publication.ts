/**
 * The moment of publication: everything is prepared and durable, the locks are held, and only checks and
 * renames are left. Synchronous from the first check to the last rename, but for a move of very many files: that gives
 * the loop its turns between two files, with the locks held as Git's own checkout holds them.
 * Invariants: the ref's rename is the commit point, before it nothing has happened, after it nothing is
 * reported as not committed; the Git index never lags an unlocked ref.
 */

import type { BigIntStats } from "node:fs";
import { join } from "node:path";
import { COMMITTER } from "../../domain/commit-message.ts";
import type { RepoPath } from "../../domain/note.ts";
import { slicer } from "../../lib/slicer.ts";
import type { PlainFolders } from "../files/disk-look.ts";
import { isVacant, lstatNow, signatureOf, signatureText } from "../files/file-signature.ts";
import { makeLink, removeFolder, removeLink } from "../files/links.ts";
import { placeFile } from "../files/place.ts";
import type { PreparedFile } from "../files/prepare-files.ts";
import type { HeldLocks } from "../refs/git-lock.ts";
import { appendReflog, reflogLine } from "../refs/reflog.ts";
import { readRef } from "../refs/refs.ts";
import type { Chain } from "./build-chain.ts";
import type { Intents } from "./intents.ts";

/** Names of the steps, in order; tests stop the program at each. */
export type Step =
  | "built"
  | "packed"
  | "intent"
  | "locked"
  | "checked"
  | "reflog"
  | "ref"
  | "file"
  | "files"
  | "index"
  | "released"
  | "durable"
  | "answered";

export interface Publication {
  readonly root: string;
  readonly gitdir: string;
  readonly ref: string;
  readonly chain: Chain;
  readonly files: readonly PreparedFile[];
  readonly intents: Intents;
  /** Only the branch's ref moves: HEAD is at another branch. */
  readonly elsewhere: boolean;
  /** The Git index changes; its lock carries the new one. */
  readonly index: boolean;
  readonly onStep: (step: Step) => void;
  /** The ref is ours, for whoever looks at it while many files are placed. */
  readonly refMoved: () => void;
  /** Where a link points. */
  readonly readBlob: (id: string) => Uint8Array;
}

export interface Published {
  /** The Git index is level with the ref. */
  readonly indexed: boolean;
  /** Paths whose file or link could not be placed, or all files when the Git index could not be renamed. */
  readonly pending: readonly RepoPath[];
  /** Paths where a person saved meanwhile: theirs stands. */
  readonly theirs: readonly RepoPath[];
  /** What went wrong after the commit point; null when nothing did. */
  readonly trouble: unknown;
}

/** From so many files on a publication is done in slices; fewer are placed in some tens of milliseconds. */
const MANY_FILES = 1000;

const turnsFor = (files: readonly PreparedFile[]) => (files.length < MANY_FILES ? () => null : slicer());

/** Whether a working file is still what was seen when the chain was built. @cost one lstat a file */
export async function filesAsSeen(root: string, files: readonly PreparedFile[]): Promise<boolean> {
  const turn = turnsFor(files);
  for (const { intent, look, later } of files) {
    if (later === true) continue;
    const now = lstatNow(`${root}/${intent.path}`);
    if (look.kind !== "file" ? !isVacant(now) : !isAsSeen(now, look.stat)) return false;
    const pause = turn();
    if (pause !== null) await pause;
  }
  return true;
}

const isAsSeen = (now: BigIntStats | null, seen: BigIntStats) =>
  now !== null && signatureText(signatureOf(now)) === signatureText(signatureOf(seen));

/**
 * Publish a checked chain under its locks.
 *
 * @param held index, HEAD and ref; the ref alone with HEAD while `elsewhere`
 * @throws what stopped it before the commit point; nothing but reflog lines was written then
 */
export async function publish(publication: Publication, held: HeldLocks): Promise<Published> {
  const { gitdir, ref, chain, elsewhere, onStep } = publication;
  held.check();
  const lines = reflogOf(chain);
  appendReflog(gitdir, ref, lines);
  if (!elsewhere) appendReflog(gitdir, "HEAD", lines);
  onStep("reflog");
  movePoint(publication, held);
  const pending: RepoPath[] = [];
  const theirs: RepoPath[] = [];
  let trouble: unknown = null;
  const failed = (error: unknown) => {
    trouble ??= error;
  };
  let indexed = false;
  try {
    onStep("ref");
    if (publication.files.length >= MANY_FILES) publication.refMoved();
    if (!elsewhere) {
      eachLink(publication, removeLink, pending, failed);
      await placeAll(publication, pending, theirs, failed);
      eachLink(publication, makeLink, pending, failed);
    }
    onStep("files");
    if (publication.index) held.publish("index");
    indexed = true;
    onStep("index");
  } catch (error) {
    failed(error);
  }
  return {
    indexed,
    pending: indexed ? pending : publication.files.map((f) => f.intent.path),
    theirs,
    trouble,
  };
}

/** Rename the ref. An error leaves open whether it happened: the ref itself says. */
function movePoint({ gitdir, ref, chain }: Publication, held: HeldLocks): void {
  try {
    held.publish(ref);
  } catch (error) {
    if (readRef(gitdir, ref) !== chain.tip) throw error;
  }
}

async function placeAll(
  { root, chain, files, intents, onStep }: Publication,
  pending: RepoPath[],
  theirs: RepoPath[],
  failed: (error: unknown) => void,
): Promise<void> {
  const turn = turnsFor(files);
  let plain: PlainFolders = new Set();
  for (const { intent, place, later } of files) {
    if (intent.left === true) theirs.push(intent.path);
    if (!place) continue;
    const { path, replaced, prepared } = intent;
    if (later === true) {
      pending.push(path);
      continue;
    }
    onStep("file");
    const pause = turn();
    if (pause !== null) {
      await pause;
      plain = new Set();
    }
    try {
      const placement = {
        path,
        replaced,
        prepared: prepared === null ? null : intents.prepared(prepared.name),
        aside: intents.aside(intent.aside),
      };
      // A folder that the same move emptied: one at the top stays for its watcher's sake.
      if (chain.move !== undefined && intent.before === null) removeFolder(join(root, path));
      const placed = placeFile(root, placement, plain);
      if (placed === "theirs") theirs.push(path);
      if (placed === "blocked") pending.push(path);
    } catch (error) {
      pending.push(path);
      failed(error);
    }
  }
}

/**
 * Links that the branch no longer has go, those it has come; what a person put in the way stays. One that the disk
 * refuses is owed: the index has it, so a person's `git commit -a` would delete it.
 */
function eachLink(
  { root, chain, readBlob }: Publication,
  step: typeof removeLink,
  pending: RepoPath[],
  failed: (error: unknown) => void,
): void {
  for (const change of chain.links ?? []) {
    try {
      step(root, change, readBlob);
    } catch (error) {
      pending.push(change.path);
      failed(error);
    }
  }
}

function reflogOf(chain: Chain): string {
  const { base, tip, move } = chain;
  if (move !== undefined && tip !== null) return reflogLine({ from: base, to: tip, ...COMMITTER, ...move });
  let from = chain.base;
  const lines = chain.commits.map(({ id, draft, parents, raw }) => {
    const text = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).toString("utf8");
    const subject = text.slice(text.indexOf("\n\n") + 2).split("\n", 1)[0] ?? "";
    const kind = from === null ? " (initial)" : parents.length > 1 ? " (merge)" : "";
    const line = reflogLine({
      from,
      to: id,
      ...COMMITTER,
      atMs: draft.atMs,
      message: `commit${kind}: ${subject}`,
    });
    from = id;
    return line;
  });
  return lines.join("");
}
