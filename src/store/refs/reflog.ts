/**
 * Reflog lines in Git's own format, so that `git reflog`, `HEAD@{1}` and undo work for people.
 * Appended before the ref moves; not synced, as Git doesn't. Reading reflogs is left to Git.
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { dirname, join } from "node:path";
import type { CommitId } from "../../domain/note.ts";
import { inFolder, writeAllSync } from "../../lib/durable-file.ts";

interface ReflogEntry {
  /** Null: the ref did not exist. */
  readonly from: CommitId | null;
  readonly to: CommitId;
  readonly name: string;
  readonly email: string;
  /** Milliseconds since the epoch; whole seconds reach the log, as UTC. */
  readonly atMs: number;
  /** Of several lines only the first is kept. */
  readonly message: string;
}

const NO_COMMIT = "0".repeat(40);
const oneLine = (text: string) => (text.split(/[\r\n]/, 1)[0] ?? "").replace(/[\x00-\x1f\x7f]/g, " ");
const ident = (text: string) => oneLine(text).replace(/[<>]/g, "");

/** One line with its newline. */
export function reflogLine({ from, to, name, email, atMs, message }: ReflogEntry): string {
  const seconds = Math.floor(atMs / 1000);
  return `${from ?? NO_COMMIT} ${to} ${ident(name)} <${ident(email)}> ${seconds} +0000\t${oneLine(message)}\n`;
}

/**
 * Append lines to a ref's log, making the log when there is none.
 * A last line that a crash cut short is ended first, so that ours stay readable.
 * @param ref `HEAD` or a full name
 */
export function appendReflog(gitdir: string, ref: string, lines: string): void {
  const file = join(gitdir, "logs", ref);
  const fd = inFolder(dirname(file), () => openSync(file, "a+", 0o644));
  try {
    const { size } = fstatSync(fd);
    const last = Buffer.alloc(1);
    if (size > 0) readSync(fd, last, 0, 1, size - 1);
    writeAllSync(fd, size > 0 && last[0] !== 0x0a ? `\n${lines}` : lines);
  } finally {
    closeSync(fd);
  }
}
