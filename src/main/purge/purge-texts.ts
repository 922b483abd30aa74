/** The texts that a purge is to take away, checked: too short a one would take half of every note with it. */
import { NotesError } from "../../domain/errors.ts";
import { ProcessError } from "../../domain/process-error.ts";
import { mayHoldSecret, secretsNamed } from "../../domain/secrets/secrets.ts";
import type { PurgeWish } from "../../doors/cli/purge-report.ts";
import { gitObjects } from "../../store/objects/objects.ts";
import { everyObject } from "../../store/purge/every-object.ts";

const LEAST_BYTES = 6;

/**
 * @param key 32 bytes of `proof.key`, under which fingerprints are
 * @returns without the line end that a shell adds
 * @throws ProcessError USAGE nothing was named, or a text that is too short; NotesError NOT_FOUND no object holds what has
 *   the fingerprint
 */
export async function textsOf(
  gitdir: string,
  { values, fingerprints, note }: PurgeWish,
  key: Uint8Array,
): Promise<string[]> {
  const given = values.map((value) => value.replace(/\r?\n$/, ""));
  if (given.length + fingerprints.length === 0 && note === null)
    throw new ProcessError("USAGE", "Nothing to purge was given. See notesd purge --help.");
  const texts = fingerprints.length === 0 ? given : [...given, ...(await named(gitdir, fingerprints, key))];
  for (const text of texts) {
    if (Buffer.byteLength(text.trim()) < LEAST_BYTES)
      throw new ProcessError(
        "USAGE",
        `The value has fewer than ${LEAST_BYTES} bytes, and would be found in many words. Give all of it, with what stands before it in the file.`,
      );
  }
  return texts;
}

/** @cost reads every object once; 40 ms for each MB of texts that may hold a secret */
async function named(gitdir: string, fingerprints: readonly string[], key: Uint8Array): Promise<string[]> {
  const objects = gitObjects(gitdir);
  const found = new Set<string>();
  try {
    for (const id of everyObject(gitdir)) {
      const object = objects.find(id);
      if (object === null || object.type === "tree") continue;
      const text = object.bytes.toString("utf8");
      if (!mayHoldSecret(text)) continue;
      for (const value of await secretsNamed(text, key, new Set(fingerprints))) found.add(value);
    }
  } finally {
    objects.close();
  }
  if (found.size === 0)
    throw new NotesError(
      "NOT_FOUND",
      "No object here holds a secret with that fingerprint. One that was refused never came in; give a value itself on standard input.",
    );
  return [...found];
}
