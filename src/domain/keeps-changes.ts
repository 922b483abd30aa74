/**
 * Whether a text already has what another version changed: then the two need no merge. A person who commits
 * with Git and saves on has both changed the same place, and yet nothing conflicts. Pure.
 */
import { diffArrays } from "diff";

const MAX_EDIT_LENGTH = 2_000;

interface Changes {
  readonly added: ReadonlySet<string>;
  readonly removed: ReadonlySet<string>;
}

/**
 * Whether `later` keeps every line that `change` added to `base`, and brings back none that it removed.
 *
 * @cost two line diffs; over 2,000 edits the answer is false
 */
export function keepsChanges(base: string, change: string, later: string): boolean {
  const [from, made, then] = [base, change, later].map((text) => text.split("\n"));
  const first = changes(from ?? [], made ?? []);
  const second = changes(made ?? [], then ?? []);
  if (first === null || second === null) return false;
  return !meet(first.added, second.removed) && !meet(first.removed, second.added);
}

function changes(from: readonly string[], to: readonly string[]): Changes | null {
  const parts = diffArrays([...from], [...to], { maxEditLength: MAX_EDIT_LENGTH });
  if (parts === undefined) return null;
  const added = new Set<string>();
  const removed = new Set<string>();
  for (const part of parts) {
    const into = part.added ? added : part.removed ? removed : null;
    for (const line of part.value) into?.add(line);
  }
  return { added, removed };
}

/** Whether two sets of lines share one; blank lines are nobody's. */
function meet(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  for (const line of a) if (line.trim() !== "" && b.has(line)) return true;
  return false;
}
