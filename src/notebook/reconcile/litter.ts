/**
 * Files that lie among notes and are none: what editors leave while they save, and the copies that file
 * synchronisers make when they give up. By name alone, and only for files the branch doesn't hold. Names
 * that a person might choose (`x.bak.md`, `#1.md`) are notes: what is no note is not kept by anybody.
 */
import { nameOf } from "../../lib/slash-path.ts";

/** `.#x.md` (Emacs), `._x.md` (macOS on foreign disks), `~$x.md` (office suites), `.~x.md`: gone in a moment. */
const LITTER = /^(?:\.[#_~]|~\$)/;

/** `x (conflicted copy).md`, `x (Pat's conflicted copy 2026-11-30).md`, `x.sync-conflict-20261130-….md`. */
const CONFLICTED = /\((?:[^()]*\s)?(?:case )?conflict(?:ed copy)?\b[^()]*\)|\.sync-conflict-/i;

/** Whether a new file is left by an editor, never a note. */
export function isLitter(path: string): boolean {
  return LITTER.test(nameOf(path));
}

/** Whether a new file is a synchroniser's copy of a conflict: reported to people, never committed by us. */
export function isConflictedCopy(path: string): boolean {
  return CONFLICTED.test(nameOf(path));
}
