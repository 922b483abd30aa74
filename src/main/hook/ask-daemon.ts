/** A question of a hook to the daemon of its repository. Invariant: the token goes to nobody who hasn't proved itself. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { proves, readDaemonFile } from "../../client/discover.ts";
import { plainHttp } from "../../client/plain-http.ts";
import type { GitPlace } from "../../lib/git-dir.ts";

/** A busy machine takes its time, and nobody there is known at once. */
const PROOF_WITHIN_MS = 10_000;

/**
 * @returns what it answered; null: no daemon is there
 * @throws Error it refused, or not within `withinMs`
 */
export async function askDaemon(
  place: GitPlace,
  path: string,
  body: object,
  withinMs: number,
): Promise<unknown> {
  const daemon = await readDaemonFile(place);
  if (daemon === null || !(await proves(daemon, Math.min(withinMs, PROOF_WITHIN_MS)))) return null;
  const token = await readFile(join(place.gitDir, "notesd", "token"), "utf8");
  const { status, text } = await plainHttp(new URL(path, daemon.url), {
    method: "POST",
    headers: { authorization: `Bearer ${token.trim()}`, "content-type": "application/json" },
    body: JSON.stringify(body),
    withinMs,
  });
  if (status !== 200) throw new Error(`${path}: ${status} ${text.slice(0, 500)}`);
  return JSON.parse(text);
}
