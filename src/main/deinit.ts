/**
 * `notesd deinit`: a note repository becomes a plain one again. Notes, history, settings, the key and the identities
 * stay, so that `init` goes on where this left off; what `init` put into Git's own files goes, and so do the hooks, the
 * launcher and the owner's token.
 * Invariant: nothing accepted is left half done, and no file that a person sees is touched.
 */
import { rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { DeinitReport, Flags } from "../doors/cli/host.ts";
import { systemClock } from "../lib/clock.ts";
import { readGitConfig, setGitConfig } from "../lib/git-config.ts";
import { unsplitIndex } from "../store/git-index/unsplit.ts";
import { ATTRIBUTES_FILE, isAttributeLine } from "./attributes.ts";
import { GIT_ALIASES } from "./git-aliases.ts";
import { removeLines } from "./git-dir-lines.ts";
import { earlierHooks, hooksFolder } from "./hooks.ts";
import { GIT_CONFIG, INDEX_EXCLUDED } from "./init.ts";
import { mergeDriverKeys } from "./merge-driver.ts";
import { recover } from "./recover.ts";
import { resolvePlace, type Surroundings } from "./resolve.ts";
import { takeLock } from "./take-lock.ts";

const LOCK_WAIT_MS = 5_000;

/** @throws NotesError REPO_BUSY while another Git holds the index; ProcessError ALREADY_RUNNING while a daemon serves it, USAGE no note repository */
export async function deinit(flags: Flags, around: Surroundings): Promise<DeinitReport> {
  await recover(flags, around);
  const place = await resolvePlace(flags, around);
  const lock = await takeLock(place);
  try {
    await unsplitIndex(place.gitDir, systemClock, LOCK_WAIT_MS);
    await removeLines(place, ATTRIBUTES_FILE, isAttributeLine);
    const index_file_stays = (await stat(join(place.root, "notes_index.json")).catch(() => null)) !== null;
    if (!index_file_stays) await removeLines(place, "info/exclude", (line) => line === INDEX_EXCLUDED);
    const config = join(place.gitDir, "config");
    const values = await readGitConfig(config);
    // A value that someone changed since is theirs.
    const ours = Object.entries({ ...GIT_CONFIG, ...GIT_ALIASES })
      .filter(([key, value]) => values.get(key.toLowerCase())?.at(-1) === value)
      .map(([key]) => key);
    await setGitConfig(config, {
      ...Object.fromEntries([...ours, ...(await mergeDriverKeys(place))].map((key) => [key, null])),
      ...(await earlierHooks(place)),
      ...(values.get("notesd.splitindex")?.at(-1) === "true" ? { "notesd.splitIndex": null } : {}),
      "notesd.marked": null,
    });
    // Last, and again after a crash in between only by hand: without the mark this is no note repository any more.
    const state_folder = join(place.gitDir, "notesd");
    for (const path of [hooksFolder(place), join(state_folder, "bin"), join(state_folder, "token")])
      await rm(path, { recursive: true, force: true });
    return { repo: place.root, unset: ours, state_folder, index_file_stays };
  } finally {
    lock.release();
  }
}
