/** `notesd allow FINGERPRINT`: in whose name, and that a running daemon looks at once at what it holds back. */
import { join } from "node:path";
import type { GitPlace } from "../lib/git-dir.ts";
import { allowedSecrets } from "../notebook/secrets/allowed.ts";
import { askDaemon } from "./hook/ask-daemon.ts";
import { personOf } from "./person.ts";
import type { Surroundings } from "./resolve.ts";

const TOLD_WITHIN_MS = 5_000;

/** @returns false: it was allowed already */
export async function allowSecret(
  place: GitPlace,
  fingerprint: string,
  { env, warn }: Surroundings,
): Promise<boolean> {
  const { name, email } = await personOf(place, env);
  const added = allowedSecrets(join(place.gitDir, "notesd"), Date.now).add(fingerprint, `${name} <${email}>`);
  try {
    await askDaemon(place, "/hooks/moved", {}, TOLD_WITHIN_MS);
  } catch {
    // Trigger: the daemon is busy or ends. Why: it is allowed by the file alone. Outcome: held edits wait for its next look.
    warn("The daemon could not be told; it takes up what it held at its next look at the files.");
  }
  return added;
}
