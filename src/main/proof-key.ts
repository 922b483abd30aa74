/**
 * `proof.key`, which proves the commits of a team's daemons: taking over another daemon's. There is one
 * key: what an earlier one proved is only text from then on, so it is not replaced in passing.
 *
 * @see spec: storage, section 2
 */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { ProcessError } from "../domain/process-error.ts";
import { orAbsent, writeDurably, writeDurablySync } from "../lib/durable-file.ts";
import type { GitPlace } from "../lib/git-dir.ts";
import { openRepositoryLog } from "../store/history/repository-log.ts";
import { shallowCommits } from "../store/history/shallow.ts";
import { readRef } from "../store/refs/refs.ts";
import { readConfig } from "./config-file.ts";
import { PROOF_KEY, proofKeyText } from "./read-proof-key.ts";
import { takeLock } from "./take-lock.ts";

/** Keys that were replaced, `TIME KEY` a line: so that one can be set again. */
const EARLIER = "proof.key.earlier";

/**
 * Take a key over; the one before stays in a file beside it. The next start reads history anew.
 *
 * @param given   64 hex digits, blanks around
 * @param replace also where history has commits that the present key proves
 * @returns false: it is the present key
 * @throws ProcessError USAGE no key, or the present one proves history; ALREADY_RUNNING
 * @cost   without `replace` a look at every commit, until one is proved
 */
export async function setProofKey(
  place: GitPlace,
  given: string,
  replace: boolean,
  nowMs: number,
): Promise<boolean> {
  const wanted = given.trim().toLowerCase();
  if (!PROOF_KEY.test(wanted)) {
    throw new ProcessError(
      "USAGE",
      "A proof key has 64 hex digits, as notesd config get proof_key prints it where it comes from.",
    );
  }
  const folder = join(place.gitDir, "notesd");
  const file = join(folder, "proof.key");
  const lock = await takeLock(place);
  try {
    const before = await proofKeyText(file);
    if (before === wanted) return false;
    if (!replace && (await provesHistory(place, Buffer.from(before, "hex")))) {
      throw new ProcessError(
        "USAGE",
        `The present key proves commits of ${place.root}. With another one they are only text: who wrote those notes, their trust and the requests they answered are forgotten, here and wherever that key is not. Rather set this key at the other daemon; or say --replace.`,
      );
    }
    const earlier = orAbsent(() => readFileSync(join(folder, EARLIER), "utf8")) ?? "";
    const line = `${new Date(nowMs).toISOString()} ${before}\n`;
    await writeDurably(join(folder, EARLIER), earlier + line, { mode: 0o600 });
    await writeDurably(file, `${wanted}\n`, { mode: 0o600 });
    return true;
  } finally {
    lock.release();
  }
}

/** Whether a commit of the branch is proved by a key. */
async function provesHistory(place: GitPlace, key: Uint8Array): Promise<boolean> {
  const { gitDir: gitdir } = place;
  const { branch } = await readConfig(place);
  const tip = branch === undefined ? null : readRef(gitdir, `refs/heads/${branch}`);
  if (tip === null) return false;
  const shallow = shallowCommits(gitdir);
  const { log } = openRepositoryLog({ gitdir, roots: [], proofKey: key, shallow });
  // The newest are the likeliest.
  for (const id of (await log.commitsBetween(null, tip)).reverse())
    if ((await log.info(id)).proved !== null) return true;
  return false;
}

/** What was folded under another key, copied here by whatever means, believed other commits: it is read anew. */
export function dropAfterOtherKey(stateDir: string, key: Uint8Array): void {
  const copy = join(stateDir, "checkpoint.key");
  const now = createHash("sha256").update("notesd checkpoint\0").update(key).digest("hex");
  if (orAbsent(() => readFileSync(copy, "utf8")) === now) return;
  orAbsent(() => unlinkSync(join(stateDir, "checkpoint")));
  mkdirSync(stateDir, { recursive: true });
  writeDurablySync(copy, now, { mode: 0o600 });
}
