/**
 * What a person's Git is doing, read from its files: an operation on our branch refuses writes, HEAD elsewhere
 * sends them to the branch's ref alone. Synchronous: it is asked under Git's locks, and again before each write.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { orAbsent } from "../../lib/durable-file.ts";
import type { RepoState } from "../note-store.ts";
import { divergedState } from "../remote/diverged.ts";
import { foreignLock } from "./foreign-lock.ts";
import { readHead, readRef } from "./refs.ts";
import { unsupportedIndex, unsupportedNow } from "./unsupported.ts";

type Busy = Extract<RepoState, { readonly state: "merge" | "rebase" | "cherry-pick" | "revert" | "bisect" }>;

const firstLine = (gitdir: string, file: string) =>
  orAbsent(() => readFileSync(join(gitdir, file), "utf8"))?.split("\n", 1)[0] ?? null;

/** What stands in the Git directory: one reading of its names costs less than asking for each. */
type Standing = ReadonlySet<string>;

/** Operations that begin on a branch and leave HEAD detached or moving until they end. */
function operationOn(gitdir: string, ref: string, standing: Standing): Busy | null {
  for (const folder of ["rebase-merge", "rebase-apply"])
    if (standing.has(folder) && firstLine(gitdir, `${folder}/head-name`) === ref)
      return { state: "rebase", path: folder };
  // git rebase --update-refs moves these branches when it ends; every third line is a name.
  const updateRefs = "rebase-merge/update-refs";
  const others = standing.has("rebase-merge")
    ? orAbsent(() => readFileSync(join(gitdir, updateRefs), "utf8"))
    : null;
  if (others?.split("\n").includes(ref)) return { state: "rebase", path: updateRefs };
  const begun = standing.has("BISECT_LOG") ? firstLine(gitdir, "BISECT_START") : null;
  return begun !== null && (begun === ref || `refs/heads/${begun}` === ref)
    ? { state: "bisect", path: "BISECT_LOG" }
    : null;
}

/** Operations whose files don't say which branch: they are HEAD's. */
function operationAtHead(gitdir: string, standing: Standing): Busy | null {
  if (standing.has("MERGE_HEAD")) return { state: "merge", path: "MERGE_HEAD" };
  if (standing.has("CHERRY_PICK_HEAD")) return { state: "cherry-pick", path: "CHERRY_PICK_HEAD" };
  if (standing.has("REVERT_HEAD")) return { state: "revert", path: "REVERT_HEAD" };
  // git am keeps its patches here, without head-name.
  for (const folder of ["rebase-merge", "rebase-apply"])
    if (standing.has(folder)) return { state: "rebase", path: folder };
  if (!standing.has("sequencer")) return null;
  const reverting = firstLine(gitdir, "sequencer/todo")?.startsWith("revert") === true;
  return { state: reverting ? "revert" : "cherry-pick", path: "sequencer" };
}

/**
 * The state of the repository for who writes to `ref`.
 * @param ref full name of our branch
 * @throws NotesError STORAGE HEAD or the ref is malformed
 * @cost one reading of the names in the Git directory, of HEAD and of the ref
 * @see spec: storage, section 3, step 6 and "HEAD elsewhere"
 */
export function repoState(gitdir: string, ref: string): RepoState {
  const standing: Standing = new Set(readdirSync(gitdir));
  const unfit = unsupportedNow(gitdir, ref, standing);
  if (unfit !== null) return unfit;
  const ours = operationOn(gitdir, ref, standing);
  if (ours !== null) return ours;
  const head = readHead(gitdir);
  if (head.kind === "detached") return { state: "elsewhere", path: "HEAD", at: head.id };
  if (head.ref !== ref)
    return { state: "elsewhere", path: "HEAD", at: head.ref.replace(/^refs\/heads\//, "") };
  const atHead = operationAtHead(gitdir, standing);
  if (atHead !== null) return atHead;
  return readRef(gitdir, ref) === null ? { state: "unborn" } : { state: "ok" };
}

/**
 * The state as people are told it: also a lock that stands for long, and an index that can't be written here. Not for
 * who holds the locks already.
 * @param nowMs of the machine that writes the files' times
 * @throws NotesError STORAGE as `repoState`
 */
export function toldState(gitdir: string, ref: string, nowMs: number): RepoState {
  const state = repoState(gitdir, ref);
  if (state.state !== "ok" && state.state !== "unborn") return state;
  return unsupportedIndex(gitdir) ?? foreignLock(gitdir, ref, nowMs) ?? divergedState(gitdir) ?? state;
}
