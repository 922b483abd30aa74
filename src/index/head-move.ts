/**
 * From one head to another: which files change, step by step along first parents where that is possible, else
 * as one difference. Plans only; `memory-index.ts` reads what is missing and carries it out.
 */
import type { RepoPath } from "../domain/note.ts";
import type { CommitGraph } from "./commit-graph.ts";
import type { Entry } from "./entry.ts";
import type { Folded } from "./fold.ts";
import type { HeadState } from "./head-state.ts";

export type HeadMove =
  /** The held head lies on the new one's first-parent chain: each commit after it, oldest first. */
  | { readonly kind: "steps"; readonly steps: readonly Folded[] }
  /** Anything else: paths whose entry differs. */
  | { readonly kind: "difference"; readonly left: ReadonlyMap<RepoPath, Entry | null> };

/** Plan a move. @param from  number of the held head; -1: none  @param folded  what this call folded */
export function planMove(
  graph: CommitGraph,
  head: HeadState,
  from: number,
  to: number,
  folded: ReadonlyMap<number, Folded>,
): HeadMove {
  const chain = graph.chain(from, to)?.reverse();
  const steps = chain?.flatMap((number) => folded.get(number) ?? []);
  if (chain && steps && steps.length === chain.length) return { kind: "steps", steps };
  const left = new Map<RepoPath, Entry | null>();
  for (let path = 1; path < graph.texts.paths.size; path++) {
    const number = graph.entryNumberAt(to, path);
    if (head.holds(path) ? head.entryOf(path) === number : number < 0) continue;
    const entry = number < 0 ? null : graph.entries.at(number);
    const held = head.holds(path) ? graph.entries.at(head.entryOf(path)) : null;
    // What was left had the brand.
    if (!sameEntry(held, entry)) left.set(graph.texts.paths.at(path) as RepoPath, entry);
  }
  return { kind: "difference", left };
}

/** Every entry that the move puts in place, also those that a later step replaces. */
export function* entriesOf(move: HeadMove): Generator<Entry> {
  const maps = move.kind === "steps" ? move.steps.map((step) => step.left) : [move.left];
  for (const left of maps) for (const entry of left.values()) if (entry) yield entry;
}

function sameEntry(a: Entry | null, b: Entry | null): boolean {
  if (a === null || b === null) return a === b;
  return (
    a.blob === b.blob &&
    a.id === b.id &&
    a.fallback === b.fallback &&
    a.first === b.first &&
    a.changed === b.changed &&
    a.trust === b.trust &&
    a.pin === b.pin
  );
}
