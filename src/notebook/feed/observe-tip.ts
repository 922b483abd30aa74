/**
 * At start: bring the record of heads level with the branch. Commits of ours after the last recorded head were
 * announced before the process died, so each becomes a place of its own again; the rest is one move by others.
 */
import { NotesError } from "../../domain/errors.ts";
import type { CommitInfo } from "../../domain/event.ts";
import type { CommitId } from "../../domain/note.ts";
import type { NoteStore } from "../../store/note-store.ts";
import type { Heads } from "./heads.ts";

/** First parents looked at to tell ours from others'; a longer way is one move by others. */
const MAX_CHAIN_COMMITS = 200_000;

/**
 * @param tip the branch's tip, which the index has folded
 * @param known whether a commit has a place in the log already
 * @cost nothing when the record is level; else one commit object for each commit since
 */
export async function observeTip(
  heads: Heads,
  store: Pick<NoteStore, "commitInfo" | "isAncestor">,
  tip: CommitId | null,
  known: (commit: CommitId) => Promise<boolean>,
): Promise<void> {
  if (tip === null || !heads.known) {
    if (heads.known && heads.head === tip) return;
    return heads.restart(tip);
  }
  const last = heads.head;
  if (last === tip) return;
  const held = last === null || (await exists(store, last));
  if (!held) return heads.restart(tip);

  const chain = await firstParents(store, last, tip);
  const first = chain?.[0];
  if (!chain || !first || (await known(first.id))) {
    const back = last !== null && !(await store.isAncestor(last, tip));
    await heads.other(tip, "live", { back, again: await known(tip) });
    return;
  }
  const ownFrom = chain.findIndex((commit) => !isOwnLink(commit));
  const ownUntil = chain.findLastIndex((commit) => !isOwnLink(commit));
  const prefixEnd = ownFrom < 0 ? chain.at(-1) : chain[ownFrom - 1];
  if (prefixEnd) heads.own(prefixEnd.id);
  const othersEnd = chain[ownUntil];
  if (othersEnd) await heads.other(othersEnd.id, "live");
  if (othersEnd && othersEnd.id !== tip) heads.own(tip);
  await heads.flush();
}

const isOwnLink = (commit: CommitInfo) => commit.proved !== null && commit.parents.length <= 1;

async function exists(store: Pick<NoteStore, "commitInfo">, commit: CommitId): Promise<boolean> {
  try {
    await store.commitInfo(commit);
    return true;
  } catch (error) {
    if (error instanceof NotesError && error.code === "UNKNOWN_COMMIT") return false;
    throw error;
  }
}

/** From `from` (left out) to `to` along first parents, oldest first; null when `from` is not met. */
async function firstParents(
  store: Pick<NoteStore, "commitInfo">,
  from: CommitId | null,
  to: CommitId,
): Promise<CommitInfo[] | null> {
  const found: CommitInfo[] = [];
  for (let at: CommitId | null = to; at !== from; ) {
    if (at === null || found.length >= MAX_CHAIN_COMMITS) return null;
    const commit: CommitInfo = await store.commitInfo(at);
    found.push(commit);
    at = commit.parents[0] ?? null;
  }
  return found.reverse();
}
