/** The store of a repository, opened with its settings; recovery happens here. The daemon lock must be held. */
import { join } from "node:path";
import { ProcessError } from "../domain/process-error.ts";
import type { Warn } from "../lib/bus.ts";
import { type GitStore, openGitStore } from "../store/git-store.ts";
import { allRoots } from "./attributes.ts";
import { proofKey } from "./read-proof-key.ts";
import type { Resolved } from "./resolve.ts";

/** @throws ProcessError USAGE what init should have made is missing; NotesError STORAGE */
export async function openStore(
  { place, settings }: Resolved,
  around: { readonly warn?: Warn; readonly env?: Readonly<Record<string, string | undefined>> } = {},
): Promise<GitStore> {
  if (settings.branch === undefined) {
    throw new ProcessError("USAGE", `${place.root} has no branch set. Run notesd init there again.`);
  }
  const { limits, durability } = settings;
  return openGitStore({
    root: place.root,
    gitdir: place.gitDir,
    branch: settings.branch,
    roots: allRoots(settings.roots ?? []),
    proofKey: await proofKey(join(place.gitDir, "notesd", "proof.key")),
    ...(limits?.lock_wait_ms === undefined ? {} : { lockWaitMs: limits.lock_wait_ms }),
    ...(limits?.note_bytes === undefined ? {} : { maxNoteBytes: limits.note_bytes }),
    ...(durability === undefined ? {} : { durability }),
    ...around,
  });
}
