/** The catalogue: every action there is, one line each. A method that isn't here doesn't exist at any door. */
import type { AnyAction, Registry } from "./action.ts";
import { agentToken } from "./agent-token.ts";
import { daemonStatus } from "./daemon-status.ts";
import { daemonVerify } from "./daemon-verify.ts";
import { feedbackDelete } from "./memory/feedback-delete.ts";
import { feedbackList } from "./memory/feedback-list.ts";
import { feedbackSave } from "./memory/feedback-save.ts";
import { notesRecall } from "./memory/notes-recall.ts";
import { notesSave } from "./memory/notes-save.ts";
import { memoryRun } from "./memory-tool/memory-run.ts";
import { notesAppend } from "./notes-append.ts";
import { notesBlame } from "./notes-blame.ts";
import { notesChanges } from "./notes-changes.ts";
import { notesCommit } from "./notes-commit.ts";
import { notesConflicts } from "./notes-conflicts.ts";
import { notesCreate } from "./notes-create.ts";
import { notesDelete } from "./notes-delete.ts";
import { notesDiff } from "./notes-diff.ts";
import { notesEdit } from "./notes-edit.ts";
import { notesHistory } from "./notes-history.ts";
import { notesList } from "./notes-list.ts";
import { notesRead } from "./notes-read.ts";
import { notesRestore } from "./notes-restore.ts";
import { notesReview } from "./notes-review.ts";
import { notesRun } from "./notes-run.ts";
import { notesSearch } from "./notes-search.ts";
import { notesSubscribe } from "./notes-subscribe.ts";
import { notesSummary } from "./notes-summary.ts";
import { notesUnsubscribe } from "./notes-unsubscribe.ts";
import { notesUpdate } from "./notes-update.ts";
import { rpcDiscover } from "./rpc-discover.ts";
import { sessionSet } from "./session-set.ts";
import { syncRun } from "./sync-run.ts";
import { syncStatus } from "./sync-status.ts";

export const ACTIONS = [
  notesCreate,
  notesRead,
  notesUpdate,
  notesAppend,
  notesEdit,
  notesDelete,
  notesList,
  notesSearch,
  notesSummary,
  notesSave,
  notesRecall,
  notesHistory,
  notesDiff,
  notesBlame,
  notesRestore,
  notesReview,
  notesChanges,
  notesConflicts,
  notesCommit,
  notesRun,
  notesSubscribe,
  notesUnsubscribe,
  feedbackSave,
  feedbackList,
  feedbackDelete,
  memoryRun,
  sessionSet,
  agentToken,
  syncRun,
  syncStatus,
  daemonStatus,
  daemonVerify,
  rpcDiscover,
] as const;

export const registry: Registry = new Map(
  ACTIONS.map((action): [string, AnyAction] => [action.name, action]),
);
