/**
 * Commits of ours that a person's Git took off the branch without meaning to. `git reset --hard`, which `git stash`
 * runs too, reads HEAD first and moves the branch there at its end, whatever came in between. Its reflog
 * line says so: "moving to HEAD" from one commit to another. A reset that names a commit is an undo, and stands.
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import type { CommitId } from "../../domain/note.ts";
import { orAbsent } from "../../lib/durable-file.ts";

/** So far back a race is looked for; a line has about 150 bytes. */
const TAIL_BYTES = 64 << 10;
const LINE = /^([0-9a-f]{40}) ([0-9a-f]{40}) [^\t]*\t(.*)$/;

/**
 * @param since the tip as it was last known
 * @returns the tip that was taken back after that, the newest when there are several; null: none
 * @cost one read of the reflog's end
 */
export function takenBack(gitdir: string, ref: string, since: CommitId): CommitId | null {
  const lines = tailOf(join(gitdir, "logs", ref))
    .split("\n")
    .reverse();
  for (const line of lines) {
    const [, from = "", to = "", message = ""] = LINE.exec(line) ?? [];
    // The pattern holds 40 hex digits of the branch's commits.
    if (message === "reset: moving to HEAD" && from !== to) return from as CommitId;
    if (to === since) return null;
  }
  return null;
}

function tailOf(file: string): string {
  const fd = orAbsent(() => openSync(file, "r"));
  if (fd === null) return "";
  try {
    const { size } = fstatSync(fd);
    const bytes = Buffer.alloc(Math.min(size, TAIL_BYTES));
    const read = readSync(fd, bytes, 0, bytes.length, size - bytes.length);
    return bytes.toString("utf8", 0, read);
  } finally {
    closeSync(fd);
  }
}
