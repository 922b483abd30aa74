/**
 * Carries out a planned purge: refs, files and index move, everything that remembers the old history goes, and then its
 * objects. Each step may be repeated, so that a start or a second `notesd purge` goes on where a kill stopped.
 * Invariant: no object goes before every ref has moved.
 */
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { COMMITTER } from "../../domain/commit-message.ts";
import type { BlobId, CommitId, RepoPath } from "../../domain/note.ts";
import { systemClock } from "../../lib/clock.ts";
import { orAbsent, writeDurablySync } from "../../lib/durable-file.ts";
import { openBaseTable } from "../files/base-table.ts";
import { gitObjects } from "../objects/objects.ts";
import { gitLocks } from "../refs/git-lock.ts";
import { reflogLine } from "../refs/reflog.ts";
import { readHead, readRef } from "../refs/refs.ts";
import { withStorageErrors } from "../storage-error.ts";
import { type DropStep, dropObjects } from "./drop-objects.ts";
import { type MoveStep, moveRefs } from "./move-refs.ts";
import { dropPlan, type PurgePlan, readPlan } from "./plan-file.ts";
import { rememberPurged } from "./purged-list.ts";
import { STASH, stashIds } from "./refs-plan.ts";

/** Moments at which a kill is tried; some come several times. */
export type PurgeStep =
  | "planned"
  | MoveStep
  | "moved"
  | "remembered"
  | "based"
  | "forgotten"
  | DropStep
  | "dropped";

export interface CarriedOut {
  /** Objects that are gone. */
  readonly objects: number;
  /** Working files that a person changed since, and that stay as they are. */
  readonly kept: readonly string[];
}

/** Files of Git's that name commits of before, or hold what a person was about to commit. */
const PSEUDO_REFS = [
  "FETCH_HEAD",
  "ORIG_HEAD",
  "AUTO_MERGE",
  "REBASE_HEAD",
  "gitk.cache",
  "rr-cache",
  "lost-found",
];
const MESSAGES = ["COMMIT_EDITMSG", "MERGE_MSG", "SQUASH_MSG", "TAG_EDITMSG", "NOTES_EDITMSG"];
/** What we derive from history, and what is about one publication of it. */
const DERIVED = [
  ...["checkpoint", "heads", "seen.json", "shared", "aside", "prepared", "intents", "replaced", "vectors"],
  ...["diverged-remotes"],
];
const DERIVED_BEGINNINGS = /^(?:search|vectors|incoming-|repack-)/;

/**
 * Carry out the plan that stands; nothing where none does. The daemon lock must be held.
 *
 * @returns null: there was no plan
 * @throws PlanVoid before anything was changed by this call; NotesError REPO_BUSY, STORAGE: it can be called again
 */
export async function carryOutPurge(
  root: string,
  gitdir: string,
  lockWaitMs: number,
  onStep: (step: PurgeStep) => void = () => {},
): Promise<CarriedOut | null> {
  const found = readPlan(gitdir);
  if (found === null) return null;
  const { plan, ids } = found;
  const objects = gitObjects(gitdir);
  const locks = gitLocks({ gitdir, clock: systemClock, lockWaitMs });
  try {
    onStep("planned");
    const kept = await moveRefs({ root, gitdir, locks, objects, onStep }, plan, ids);
    onStep("moved");
    return await withStorageErrors("forgetting the old history", async () => {
      await rememberPurged(gitdir, ids);
      onStep("remembered");
      await levelBase(gitdir, plan);
      onStep("based");
      forget(root, gitdir, plan);
      onStep("forgotten");
      const dropped = await dropObjects(gitdir, objects, ids, onStep);
      onStep("dropped");
      dropPlan(gitdir);
      return { objects: dropped, kept };
    });
  } finally {
    locks.close();
    objects.close();
  }
}

/** What working files were last known to hold, by the new contents and paths. */
async function levelBase(gitdir: string, { blobs, paths, gone }: PurgePlan): Promise<void> {
  const table = openBaseTable(join(gitdir, "notesd"));
  const contents = new Map<string, string | null>(blobs);
  const renamed = new Map(paths);
  const dropped = new Set(gone.map(([path, blob]) => `${path}\0${blob}`));
  for (const path of [...table.paths()]) {
    const base = table.base(path);
    const to = renamed.get(path) ?? path;
    const now = base === null ? null : dropped.has(`${path}\0${base}`) ? null : contents.get(base);
    if (to === path && now === undefined) continue;
    table.setBase(path, null);
    table.setKnown(path, null);
    // As in the plan: contents and paths of this repository.
    table.setBase(to as RepoPath, (now === undefined ? base : now) as BlobId | null);
  }
  table.write();
  await table.flush();
}

function forget(root: string, gitdir: string, { stash, head, moves }: PurgePlan): void {
  const remove = (...path: string[]) => rmSync(join(...path), { recursive: true, force: true });
  for (const name of [...PSEUDO_REFS, ...MESSAGES]) remove(gitdir, name);
  // Where a commit is made, HEAD's log is expected.
  const hadLogs = existsSync(join(gitdir, "logs"));
  remove(gitdir, "logs");
  if (hadLogs) beginLogs(gitdir, moves, head);
  if (stash !== null) writeLog(gitdir, STASH, `${stash}${laterStash(gitdir, stash)}`);
  for (const name of readdirSync(gitdir)) if (/^sharedindex\./.test(name)) remove(gitdir, name);
  for (const name of DERIVED) remove(gitdir, "notesd", name);
  for (const name of orAbsent(() => readdirSync(join(gitdir, "notesd"))) ?? [])
    if (DERIVED_BEGINNINGS.test(name)) remove(gitdir, "notesd", name);
  remove(root, "notes_index.json");
}

/** A stash that a person made since the plan: only the log lists it. */
function laterStash(gitdir: string, log: string): string {
  const [last, now] = [stashIds(log).at(-1) ?? null, readRef(gitdir, STASH)];
  if (now === null || now === last) return "";
  // Both name stashes, which are commits.
  return reflogLine({
    from: last as CommitId | null,
    to: now,
    ...COMMITTER,
    atMs: Date.now(),
    message: "stash",
  });
}

/** One line each: where the branch and HEAD begin now. */
function beginLogs(gitdir: string, moves: PurgePlan["moves"], head: PurgePlan["head"]): void {
  const atMs = Date.now();
  const line = (to: string) =>
    // Branches and HEAD hold commits.
    reflogLine({ from: null, to: to as CommitId, ...COMMITTER, atMs, message: "purge" });
  for (const { name, to } of moves)
    if (to !== null && name.startsWith("refs/heads/")) writeLog(gitdir, name, line(to));
  const at = readHead(gitdir);
  const id =
    at.kind === "detached" ? (head?.to ?? null) : (moves.find(({ name }) => name === at.ref)?.to ?? null);
  if (id !== null) writeLog(gitdir, "HEAD", line(id));
}

function writeLog(gitdir: string, ref: string, text: string): void {
  const file = join(gitdir, "logs", ref);
  mkdirSync(dirname(file), { recursive: true });
  writeDurablySync(file, text);
}
