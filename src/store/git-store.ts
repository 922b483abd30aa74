/**
 * The store on a Git repository: opens the parts, lets one commit at a time through, and turns published
 * chains into events. The protocol itself is `commit-group.ts`, recovery `recovery.ts`.
 * Invariant: whoever opens it holds the daemon lock, so there is one writer.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { CommitId } from "../domain/note.ts";
import { systemClock } from "../lib/clock.ts";
import { readGitConfig } from "../lib/git-config.ts";
import type { Advance, AdvanceOutcome } from "./advance.ts";
import { answerOf, followFiles, tellTrouble } from "./commit/answer.ts";
import { type AdvanceRefusal, buildAdvance, emptyChain } from "./commit/build-advance.ts";
import { checkDrafts } from "./commit/commit-build.ts";
import {
  type CommittedGroup,
  commitGroup,
  type PublishedGroup,
  publishBuilt,
} from "./commit/commit-group.ts";
import { openIntents } from "./commit/intents.ts";
import { openSettling } from "./commit/settle.ts";
import { openConflicts } from "./conflicts.ts";
import { openBaseTable } from "./files/base-table.ts";
import { openBringForward } from "./files/bring-forward.ts";
import { openFollowHead } from "./files/follow-head.ts";
import { openWorkTree } from "./files/work-tree.ts";
import { openIndexCache } from "./git-index/index-cache.ts";
import { openIndexLag } from "./git-index/index-lag.ts";
import { openStaged } from "./git-index/staged.ts";
import type { GitStoreOptions } from "./git-store-options.ts";
import { wholeHistory } from "./history/history-thread.ts";
import { readAhead } from "./history/read-ahead.ts";
import { openRepositoryLog } from "./history/repository-log.ts";
import { shallowCommits } from "./history/shallow.ts";
import type { Draft, NoteStore, Publication } from "./note-store.ts";
import { gitObjects } from "./objects/objects.ts";
import { resolveCommit } from "./objects/resolve-commit.ts";
import { openUpkeep } from "./objects/upkeep.ts";
import { type Alone, oneAtATime } from "./one-at-a-time.ts";
import { finishPush } from "./push/finish-push.ts";
import { type RecoveryReport, recover } from "./recovery/recovery.ts";
import { openBranchTip } from "./refs/branch-tip.ts";
import { watchForeignActivity } from "./refs/foreign-activity.ts";
import { gitLocks } from "./refs/git-lock.ts";
import { reviewRef, writeLocalRef } from "./refs/local-refs.ts";
import { paceBesideGit } from "./refs/pace-beside-git.ts";
import { openRefSync } from "./refs/ref-sync.ts";
import { readRef } from "./refs/refs.ts";
import { repoState, toldState } from "./refs/repo-state.ts";
import { takenBack } from "./refs/taken-back.ts";
import { openRemotes, type Remotes } from "./remote/open-remote.ts";
import { withStorageErrors } from "./storage-error.ts";
import type { StoreParts } from "./store-parts.ts";
import { diffEntries, entryInTree } from "./trees/entry-diff.ts";
import { noteFilter } from "./trees/note-filter.ts";
import { treeChain } from "./trees/trees.ts";

export type { GitStoreOptions } from "./git-store-options.ts";

export interface GitStore extends NoteStore {
  /** What was done at opening. */
  readonly recovery: RecoveryReport;
  readonly remotes: (around: Parameters<typeof openRemotes>[1]) => Remotes;
}

/**
 * Open a repository that passed preflight, recovering first.
 *
 * @throws NotesError STORAGE the branch is malformed or its tip unreadable
 */
export function openGitStore(options: GitStoreOptions): Promise<GitStore> {
  return withStorageErrors("opening the store", () => open(options));
}

async function open(options: GitStoreOptions): Promise<GitStore> {
  const alone = oneAtATime();
  const config = await readGitConfig(join(options.gitdir, "config"));
  const parts = openParts(options, alone, (key) => config.get(key)?.at(-1));
  const recovery = await alone(() => recover(parts));
  const settling = openSettling(parts, alone);
  settling.owe(recovery.owed, "index");
  settling.owe(recovery.stuck, "files");
  settling.resume(recovery.placed);
  const upkeep = openUpkeep({ ...parts, replaced: () => parts.objects.renew() });
  const { gitdir, ref, objects, log, table, clock, foreign, workTree } = parts;
  const conflicts = openConflicts(gitdir, objects, parts.locks);
  const { besideGitMs = 1_000 } = options;
  const pace = paceBesideGit({ foreign, clock, besideGitMs });
  const staged = openStaged(parts);
  const indexLag = openIndexLag(parts);
  const head = openFollowHead(parts);
  const readTree = (id: string) => objects.read("tree", id);
  const ahead = readAhead();
  const whole = wholeHistory(log, parts.history, ahead);

  /** The commits stand: what fails here is told, and is no reason to call them failed. */
  function follow(chain: CommittedGroup["chain"], published: PublishedGroup): void {
    try {
      pace.published();
      head.published(chain.base, chain.tip);
      followFiles(parts, published);
      upkeep.wrote();
      staged.follow(chain, published);
      const { indexMoved } = published;
      if (indexMoved !== null) indexLag.published(chain, indexMoved.to);
    } catch (error) {
      parts.troubled("what follows a commit could not be done", error, "found by the next look at the files");
    }
    tellTrouble(parts, published);
  }

  /** One publication: what there is room for, what it makes, and what follows. */
  async function publishing<T>(
    make: () => Promise<CommittedGroup>,
    answer: (group: CommittedGroup) => Promise<T>,
  ): Promise<T> {
    await withStorageErrors("looking at the repository", pace.turn);
    return alone(async () => {
      await upkeep.room();
      await settling.repair();
      const group = await make();
      // The commit stands from here on: whatever fails, its intent is looked after.
      try {
        if (group.published !== null) follow(group.chain, group.published);
        const answered = await answer(group);
        parts.onStep("answered");
        return answered;
      } finally {
        if (group.published !== null) settling.add(group.published);
      }
    });
  }

  async function commit(drafts: readonly Draft[]): Promise<Publication> {
    checkDrafts(drafts);
    return publishing(
      () => commitGroup(parts, drafts, head.before),
      (group) => answerOf(parts, group),
    );
  }

  async function advance(wish: Advance): Promise<AdvanceOutcome> {
    let refused: AdvanceRefusal | null = null;
    return publishing(
      () =>
        publishBuilt(parts, async (ground) => {
          await head.before(ground.base);
          const built = await buildAdvance(parts, wish, ground);
          refused = "kind" in built ? built : null;
          return "kind" in built ? emptyChain(ground.base) : built;
        }),
      async ({ chain: { tip }, published }) =>
        refused ??
        (tip === null || published === null
          ? { kind: "lost", tip }
          : { kind: "moved", tip, pending: published.pending }),
    );
  }

  const treeOf = async (commit: CommitId) => (await log.header(commit)).tree;
  return {
    branch: options.branch,
    workTree,
    recovery,
    remotes: (around) => openRemotes(parts, around),
    tip: async () => parts.branch.now(),
    state: () => withStorageErrors("looking at the repository", () => toldState(gitdir, ref, Date.now())),
    commit,
    advance,
    readBlob: async (id) => ahead.take(id) ?? objects.read("blob", id),
    blobAt: log.blobAt,
    list: log.list,
    diff: log.diff,
    entries: async (from, to) =>
      diffEntries(readTree, from === null ? null : await treeOf(from), await treeOf(to)),
    entryAt: async (at, path) => entryInTree(readTree, await treeOf(at), path),
    history: (after, to) => (after === null ? whole(to) : log.history(after, to)),
    isShallow: parts.history.shallow.size > 0,
    commitInfo: log.info,
    resolveCommit: async (text) => resolveCommit(objects, text),
    commitAt: (atMs) => log.commitAt(readRef(gitdir, ref), atMs),
    isAncestor: log.isAncestor,
    mergeBases: log.mergeBases,
    pending: settling.pending,
    takenBack: async (since) => takenBack(gitdir, ref, since),
    followHead: head.take,
    levelIndex: () => alone(() => indexLag.level()),
    laggingIndex: indexLag.look,
    foreignGit: foreign.asked,
    roomBesideGit: pace.room,
    finishPush: (from, to) => alone(async () => void (await finishPush(parts, from, to, options.env ?? {}))),
    staged: staged.find,
    stagedTexts: staged.texts,
    keepConflict: (conflict, bytes) => alone(() => conflicts.keep(conflict, bytes)),
    forgetConflict: (conflict) => alone(() => conflicts.forget(conflict)),
    conflicts: async () => conflicts.list(),
    // Nearly no note has one: then nothing is waited for.
    dropConflicts: async (noteId) => {
      if (conflicts.has(noteId)) await alone(() => conflicts.drop(noteId));
    },
    reviewMark: async (name) => readRef(gitdir, reviewRef(name)),
    setReviewMark: (name, commit) => alone(() => writeLocalRef(parts, reviewRef(name), commit)),
    close: () =>
      alone(async () => {
        await upkeep.stop();
        await settling.finish();
        await parts.index.settled();
        await table.flush();
        parts.locks.close();
        objects.close();
      }),
  };
}

function openParts(
  options: GitStoreOptions,
  alone: Alone,
  config: (key: string) => string | undefined,
): StoreParts {
  const { root, gitdir, branch, roots, proofKey, clock = systemClock } = options;
  const ref = `refs/heads/${branch}`;
  mkdirSync(join(gitdir, "notesd"), { recursive: true });
  const notes = noteFilter(roots);
  const objects = gitObjects(gitdir);
  const history = { gitdir, roots, proofKey, shallow: shallowCommits(gitdir) };
  const intents = openIntents(join(gitdir, "notesd"));
  const table = openBaseTable(join(gitdir, "notesd"));
  const foreign = watchForeignActivity(gitdir, ref, clock);
  const lockWaitMs = options.lockWaitMs ?? 5_000;
  const rules = {
    root,
    maxBytes: options.maxNoteBytes ?? 256 << 10,
    isPrepared: intents.isPrepared,
    nowMs: Date.now,
  };
  const parts: StoreParts = {
    root,
    gitdir,
    ref,
    branch: openBranchTip(gitdir, ref, table.paths),
    notes,
    proofKey,
    fileModes: config("core.filemode") !== "false",
    clock,
    durability: options.durability ?? "full",
    objects,
    trees: treeChain((id) => objects.read("tree", id)),
    history,
    log: openRepositoryLog(history, objects).log,
    locks: gitLocks({ gitdir, clock, lockWaitMs, onForeign: foreign.saw }),
    refSync: openRefSync(gitdir, ref),
    intents,
    table,
    workTree: openWorkTree({
      rules,
      roots,
      notes,
      table,
      bringForward: openBringForward(() => parts, alone),
      troubled: (error) =>
        parts.troubled("the scanning thread failed", error, "files are scanned without it"),
    }),
    foreign,
    index: openIndexCache({
      gitdir,
      clock,
      isSplit: config("notesd.splitindex") === "true",
      fewestEntries: options.splitIndexFrom,
      troubled: (error) => parts.troubled("a shared Git index could not be written", error, "tried again"),
    }),
    state: () => repoState(gitdir, ref),
    onStep: options.onStep ?? (() => {}),
    troubled: (what, error, outcome) =>
      options.warn?.(what, { why: error instanceof Error ? error.message : String(error), outcome }),
  };
  return parts;
}
