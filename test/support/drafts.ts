/** Drafts for store tests: one file, sensible defaults, a clock that moves on by a second a draft. */
import { createHash } from "node:crypto";
import type { CommitMessage } from "../../src/domain/commit-message.ts";
import type { BlobId, RepoPath } from "../../src/domain/note.ts";
import type { Draft, DraftOutcome } from "../../src/store/note-store.ts";

export const at = (path: string) => path as RepoPath;

/** The blob id of a text. */
export function blobOf(text: string | Uint8Array): BlobId {
  const bytes = Buffer.from(text);
  return createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex") as BlobId;
}

export function message(over: Partial<CommitMessage> = {}): CommitMessage {
  return {
    action: "create",
    label: "general",
    title: "A note",
    reason: null,
    changes: null,
    noteIds: ["note_20261130_101500_k3vq7a"],
    noteType: "general",
    source: "api",
    agent: "planner",
    agentId: 1057,
    session: null,
    requestKey: null,
    requestHash: null,
    ...over,
  };
}

let clockS = 1_796_033_700;

/** A draft that takes one path from one text to another; null is absence. */
export function draft(
  path: string,
  text: string | Uint8Array | null,
  before: string | Uint8Array | null = null,
  over: Partial<Draft> = {},
): Draft {
  clockS += 1;
  return {
    author: { name: "planner", email: "planner@agents.notesd.invalid" },
    atMs: clockS * 1000,
    message: message(),
    origin: "door",
    files: [
      {
        path: at(path),
        expected: before === null ? null : blobOf(before),
        bytes: text === null ? null : Buffer.from(text),
      },
    ],
    ...over,
  };
}

/** The committed outcome, or a failure that shows what it was instead. */
export function committed(outcome: DraftOutcome | undefined) {
  if (outcome?.kind !== "committed") throw new Error(`not committed: ${JSON.stringify(outcome)}`);
  return outcome;
}
