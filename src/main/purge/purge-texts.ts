/** The texts that a purge is to take away, checked: too short a one would take half of every note with it. */
import { ProcessError } from "../../domain/process-error.ts";
import type { PurgeWish } from "../../doors/cli/purge-report.ts";

const LEAST_BYTES = 6;

/**
 * @returns without the line end that a shell adds
 * @throws ProcessError USAGE nothing was named, or a text that is too short
 */
export async function textsOf(_gitdir: string, { values, note }: PurgeWish): Promise<string[]> {
  const texts = values.map((value) => value.replace(/\r?\n$/, ""));
  for (const text of texts) {
    if (Buffer.byteLength(text.trim()) < LEAST_BYTES)
      throw new ProcessError(
        "USAGE",
        `The value has fewer than ${LEAST_BYTES} bytes, and would be found in many words. Give all of it, with what stands before it in the file.`,
      );
  }
  if (texts.length === 0 && note === null)
    throw new ProcessError("USAGE", "Nothing to purge was given. See notesd purge --help.");
  return texts;
}
