/**
 * What follows a publication in the store: base follows the files, trouble is told, and the chain becomes the answer.
 * The commits stand: nothing here can call them failed.
 */
import { parseOwnCommit } from "../../domain/commit-proof.ts";
import type { CommitEvents } from "../../domain/event.ts";
import type { RepoPath } from "../../domain/note.ts";
import { toEvents } from "../history/git-log.ts";
import type { DraftOutcome, Publication } from "../note-store.ts";
import type { StoreParts } from "../store-parts.ts";
import type { BuiltCommit } from "./build-chain.ts";
import type { CommittedGroup, PublishedGroup } from "./commit-group.ts";

/** Base follows every file that now holds the new tip's bytes; the others stay a person's edits on the old. */
export function followFiles(parts: StoreParts, { files, pending, theirs, intent }: PublishedGroup): void {
  if (intent === null) return;
  const behind = new Set<RepoPath>([...pending, ...theirs]);
  for (const { intent: file } of files) {
    if (!behind.has(file.path) && parts.notes.file(file.path)) parts.workTree.holds(file.path, file.after);
  }
  try {
    parts.table.write();
  } catch (error) {
    // The intent, which is kept until the journal is synced, says what was placed.
    parts.troubled("the table of working files could not be written", error, "written with the next change");
  }
}

export function tellTrouble({ troubled }: StoreParts, { trouble }: PublishedGroup): void {
  if (trouble !== null)
    troubled("a commit stands, but not all of it is in place", trouble, "done in the background");
}

export async function answerOf(
  parts: StoreParts,
  { chain, published }: CommittedGroup,
): Promise<Publication> {
  const pending = new Set(published?.pending);
  const outcomes: DraftOutcome[] = [];
  for (const result of chain.results) {
    if (result.kind !== "built") {
      outcomes.push(result);
      continue;
    }
    const own = result.draft.files.map((f) => f.path).filter((path) => pending.has(path));
    outcomes.push({ kind: "committed", events: await eventsOf(parts, result), pending: own });
  }
  return { base: chain.base, tip: chain.tip, outcomes };
}

async function eventsOf(
  parts: StoreParts,
  { id, raw, parents, changes }: BuiltCommit,
): Promise<CommitEvents> {
  // A merge may have taken paths as they stood on another parent: that is a walk.
  if (parents.length > 1) return parts.log.eventsOf(id);
  const commit = parseOwnCommit(id, raw);
  const told = changes.filter(({ path }) => parts.notes.file(path));
  return { commit, events: toEvents(commit, told, new Map()) };
}
