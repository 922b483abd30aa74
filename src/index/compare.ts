/** Two indexes that should say the same, compared bit by bit: for `daemon.verify`, while reads and writes go on. */

import { slicer } from "../lib/slicer.ts";
import { type Difference, differencesInSteps } from "./differences.ts";
import { digestInSteps } from "./digest.ts";
import type { NoteIndex } from "./note-index.ts";

export interface Compared {
  readonly digest: string;
  readonly otherDigest: string;
  readonly differences: readonly Difference[];
}

/** Digests and differences of two indexes, giving others their turns. @returns null: one of them moved meanwhile */
export async function compareInTurns(held: NoteIndex, other: NoteIndex): Promise<Compared | null> {
  const heads = [held.head, other.head];
  const turn = slicer();
  const steps = comparing(held, other);
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return step.value;
    const pause = turn();
    if (pause === null) continue;
    await pause;
    if (held.head !== heads[0] || other.head !== heads[1]) return null;
  }
}

function* comparing(held: NoteIndex, other: NoteIndex): Generator<void, Compared> {
  const own = { index: held, files: yield* held.filesInSteps() };
  const others = { index: other, files: yield* other.filesInSteps() };
  return {
    digest: yield* digestInSteps(own.files),
    otherDigest: yield* digestInSteps(others.files),
    differences: yield* differencesInSteps(own, others),
  };
}
