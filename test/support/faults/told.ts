/** What a caller is told when the disk refuses. */
import { join } from "node:path";
import { NotesError } from "../../../src/domain/errors.ts";
import { allPlaced } from "../intents-on-disk.ts";
import { until } from "../wait.ts";
import { untapped } from "./fs-tap.ts";

/** A refusal says what failed, why, and what to do; empty when this error does. */
export function whyNotTold(error: unknown): string[] {
  if (!(error instanceof NotesError))
    return [`not an error of ours: ${error instanceof Error ? error.stack : error}`];
  if (error.code !== "STORAGE") return [`told as ${error.code}: ${error.message}`];
  return /failed: |can't be /.test(error.message) ? [] : [`says no reason: ${error.message}`];
}

/** Wait until what follows an answer is done, or was refused. @throws Error  it takes too long */
export async function settled(root: string): Promise<void> {
  await until("every intent to be settled", () => untapped(() => allPlaced(join(root, ".git"))));
}
