/**
 * How HEAD came to a commit, as its reflog tells: by a command of a person's Git that had files and Git index at hand,
 * by us, or by somebody who moved the branch alone. Only read here. Invariant: what the log does not tell is no step.
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { COMMITTER } from "../../domain/commit-message.ts";
import type { CommitId } from "../../domain/note.ts";
import { orAbsent } from "../../lib/durable-file.ts";

/**
 * `commit`: the commit was made of the Git index, so each path that it changed was staged.
 * `moved`: Git brought the files along, or a person chose to keep theirs (`git reset`).
 * `ours`: a publication, which keeps the base table itself. `alone`: files and Git index stayed behind.
 */
export type HeadStepKind = "commit" | "moved" | "ours" | "alone";

/** Steps of one kind in a row are one. */
export interface HeadStep {
  readonly kind: HeadStepKind;
  readonly from: CommitId | null;
  readonly to: CommitId;
}

/** How far the log was read: the log file, and the bytes up to the end of the line that led to where HEAD stood. */
export interface LogEnd {
  readonly ino: bigint;
  readonly size: number;
}

interface Line {
  readonly kind: HeadStepKind;
  readonly from: CommitId | null;
  readonly to: CommitId;
  readonly isCheckout: boolean;
  /** Where the line ends in the log, bytes. */
  readonly end: number;
}

const CHUNK_BYTES = 64 << 10;
/** So far back is looked, some 20,000 lines. */
const MOST_BYTES = 4 << 20;
const LINE = /^([0-9a-f]{40}) ([0-9a-f]{40}) ([^\t]*)(?:\t(.*))?$/;
const COMMIT = /^(?:commit(?: \([a-z-]+\))?|cherry-pick|revert|am): /;
const MOVED = /^(?:(?:merge|pull|rebase|checkout|reset|cherry-pick|revert|am)\b|initial pull)/;

/** @param who name and address of a reflog line @param message its text */
export function stepKind(who: string, message: string): HeadStepKind {
  if (who.includes(`<${COMMITTER.email}>`)) return "ours";
  // A reset that read HEAD before a publication of ours took that one back without meaning to: see `taken-back.ts`.
  if (message === "reset: moving to HEAD") return "alone";
  if (COMMIT.test(message)) return "commit";
  return MOVED.test(message) ? "moved" : "alone";
}

function parse(line: string, end: number): Line | null {
  const [, from = "", to, who = "", message = ""] = LINE.exec(line) ?? [];
  if (to === undefined) return null;
  return {
    kind: stepKind(who, message),
    // The pattern holds 40 hex digits each.
    from: /^0+$/.test(from) ? null : (from as CommitId),
    to: to as CommitId,
    isCheckout: message.startsWith("checkout:"),
    end,
  };
}

/**
 * The steps by which HEAD came to `tip`, oldest first.
 *
 * @param since a commit at which HEAD stood before them; null: not known
 * @param end where the log ended when it was read last; null: it wasn't
 * @returns no steps where the log doesn't reach back so far, or doesn't lead to `tip`; `end` to give next time
 * @cost one read of the log's end; its length follows what came after `since`
 */
export function headSteps(
  gitdir: string,
  tip: CommitId,
  since: CommitId | null,
  end: LogEnd | null,
): { readonly steps: readonly HeadStep[]; readonly end: LogEnd | null } {
  const fd = orAbsent(() => openSync(join(gitdir, "logs/HEAD"), "r"));
  if (fd === null) return { steps: [], end: null };
  try {
    const { ino, size } = fstatSync(fd, { bigint: true });
    const seen = end !== null && end.ino === ino && end.size <= Number(size) ? end.size : null;
    const { lines, from } = linesSince(fd, Number(size), since, seen);
    const chain = chainTo(tip, lines);
    const reached = chain.at(-1)?.end ?? from;
    return { steps: inRows(chain), end: reached === null ? null : { ino, size: reached } };
  } finally {
    closeSync(fd);
  }
}

/** Newest first, and where they begin; none where neither `since` nor what was seen is found. */
function linesSince(
  fd: number,
  size: number,
  since: CommitId | null,
  seen: number | null,
): { readonly lines: readonly Line[]; readonly from: number | null } {
  const floor = Math.max(seen ?? 0, size - MOST_BYTES);
  let start = size;
  let bytes = CHUNK_BYTES;
  while (start > floor) {
    // Read again from further back: nearly always once is enough.
    start = Math.max(floor, size - bytes);
    bytes *= 4;
    const lines = readLines(fd, start, size);
    // A checkout may lead to where the branch stood all the while, from files of another one.
    const known = lines.findIndex(({ to, isCheckout }) => to === since && (seen === null || !isCheckout));
    if (known >= 0) return { lines: lines.slice(0, known), from: lines[known]?.end ?? null };
    if (start === seen) return { lines, from: seen };
  }
  return { lines: [], from: seen };
}

/** Newest first. A line that is cut off at the start is left out. */
function readLines(fd: number, start: number, size: number): Line[] {
  const bytes = Buffer.alloc(size - start);
  const read = readSync(fd, bytes, 0, bytes.length, start);
  const lines: Line[] = [];
  let end = start;
  // As bytes, so that lengths are those of the log.
  for (const text of bytes.toString("latin1", 0, read).split("\n")) {
    end += text.length + 1;
    const line = parse(text, Math.min(end, size));
    if (line !== null) lines.push(line);
  }
  return lines.reverse();
}

/** Oldest first. A line that leads nowhere is a move that did not happen: Git writes it before it moves the ref. */
function chainTo(tip: CommitId, lines: readonly Line[]): Line[] {
  const chain: Line[] = [];
  let to: CommitId | null = tip;
  for (const line of lines) {
    if (line.to !== to) continue;
    chain.push(line);
    to = line.from;
  }
  return chain.reverse();
}

function inRows(lines: readonly Line[]): HeadStep[] {
  const steps: HeadStep[] = [];
  for (const { kind, from, to } of lines) {
    const last = steps.at(-1);
    if (last?.kind === kind) steps[steps.length - 1] = { ...last, to };
    else steps.push({ kind, from, to });
  }
  return steps;
}
