/**
 * `notesd purge`: a value or a whole note out of a repository, with its history. Without `apply` it only looks. With it
 * the daemon must be stopped: it takes the writer lock, finishes what a crash left, and is done when nothing here holds
 * what was purged, or says what still does.
 *
 * @see spec: storage, section 6
 */
import { join } from "node:path";
import { ProcessError } from "../../domain/process-error.ts";
import type { Flags } from "../../doors/cli/host.ts";
import type { PurgeFile, PurgeFound, PurgeReport, PurgeWish } from "../../doors/cli/purge-report.ts";
import { carryOutPurge, type PurgeStep } from "../../store/purge/carry-out.ts";
import { purgeObstacles } from "../../store/purge/obstacles.ts";
import { dropPlan, PURGE_MAP } from "../../store/purge/plan-file.ts";
import { asRefusal, PlanVoid } from "../../store/purge/plan-now.ts";
import {
  isHeldByObjects,
  lookForPurge,
  type PreparedPurge,
  type PurgeLook,
  preparePurge,
} from "../../store/purge/purge.ts";
import { toldState } from "../../store/refs/repo-state.ts";
import { allRoots } from "../attributes.ts";
import { openStore } from "../open-store.ts";
import { proofKey } from "../read-proof-key.ts";
import { type Resolved, resolveSettings, type Surroundings } from "../resolve.ts";
import { takeLock } from "../take-lock.ts";
import { type FilesSought, filesWith } from "./purge-files.ts";
import { noteToPurge } from "./purge-note.ts";
import { foundBy, whatToolsCannot } from "./purge-report.ts";
import { NO_NOTE, purgeRules, renamedIds } from "./purge-rules.ts";
import { textsOf } from "./purge-texts.ts";

const LOCK_WAIT_MS = 10_000;
const OBJECTS_LEFT: PurgeFile = {
  path: ".git/objects",
  done: "left",
  why: "another Git brought an object with it meanwhile; end what it does there",
};
const MOST_ATTEMPTS = 3;
/** Ids that are made of ids: a reference to a memory that is named in another one's key. */
const MOST_ROUNDS = 5;

/**
 * @param onStep tests end the process there
 * @throws ProcessError ALREADY_RUNNING while a daemon serves it, USAGE nothing to purge, or a repository that can't be;
 *   NotesError REPO_BUSY, STORAGE, NOT_FOUND
 */
export async function purge(
  flags: Flags,
  around: Surroundings,
  wish: PurgeWish,
  onStep: (step: PurgeStep) => void = () => {},
): Promise<PurgeReport> {
  const resolved = await resolveSettings(flags, around);
  const gitdir = resolved.place.gitDir;
  if (!wish.apply) {
    const looked = await look(resolved, wish);
    const files = filesWith(resolved.place, looked, false);
    return report(resolved, looked, { dry_run: true, files, prepared: null });
  }
  const lock = await takeLock(resolved.place);
  try {
    await goOn(resolved, around.warn);
    await recoverFirst(resolved);
    refuseObstacles(gitdir);
    for (let attempt = 1; ; attempt++) {
      try {
        return await purgeOnce(resolved, wish, onStep);
      } catch (error) {
        // A person's Git commits while one looks: then one looks again.
        const again = error instanceof PlanVoid && !error.begun && attempt < MOST_ATTEMPTS;
        if (!again) throw asRefusal(error);
      }
    }
  } finally {
    lock.release();
  }
}

async function purgeOnce(
  resolved: Resolved,
  wish: PurgeWish,
  onStep: (step: PurgeStep) => void,
): Promise<PurgeReport> {
  const { gitDir: gitdir } = resolved.place;
  const looked = await look(resolved, wish);
  const key = await proofKey(join(gitdir, "notesd", "proof.key"));
  const prepared = looked.look.survey.tainted.size > 0 ? await prepare(gitdir, looked, key) : null;
  const kept = prepared === null ? [] : await carryOut(resolved, prepared, onStep);
  const left = filesWith(resolved.place, { ...looked, files: [] }, true);
  // An edit of a note that goes is that note's text still; of another file it only matters what it holds.
  const edited = wish.note === null ? [] : kept.filter((path) => !left.some((file) => file.path === path));
  const files: PurgeFile[] = [
    ...left,
    ...(isHeldByObjects(gitdir, looked.rules.rewriting) ? [OBJECTS_LEFT] : []),
    ...edited.map((path) => ({ path, done: "left" as const, why: "it was changed and not committed" })),
  ];
  return report(resolved, looked, { dry_run: false, files, prepared });
}

async function prepare(gitdir: string, { look, rules }: Looked, key: Uint8Array): Promise<PreparedPurge> {
  try {
    return await preparePurge(gitdir, look, rules.rewriting, key);
  } finally {
    look.objects.close();
  }
}

/** @returns working files that stay as a person changed them */
async function carryOut(
  { place }: Resolved,
  prepared: PreparedPurge,
  onStep: (step: PurgeStep) => void,
): Promise<readonly string[]> {
  try {
    const { kept = [] } = (await carryOutPurge(place.root, place.gitDir, LOCK_WAIT_MS, onStep)) ?? {};
    prepared.release();
    return kept;
  } catch (error) {
    // Nothing has moved yet, so nothing is owed. A plan that stands needs its packs, which a person's gc would take.
    if (error instanceof PlanVoid && !error.begun) {
      dropPlan(place.gitDir);
      prepared.release();
    }
    throw error;
  }
}

/** A purge that was cut short is finished; where a person went on meanwhile this one begins anew. */
async function goOn({ place }: Resolved, warn: (text: string) => void): Promise<void> {
  try {
    await carryOutPurge(place.root, place.gitDir, LOCK_WAIT_MS);
  } catch (error) {
    if (!(error instanceof PlanVoid)) throw error;
    if (error.begun && error.why === "missing") throw asRefusal(error);
    warn(`${error.message}: the purge that was cut short before is not complete; purge its value once more.`);
    dropPlan(place.gitDir);
  }
}

/**
 * Before anything is served: go on with a purge that a kill cut short. Where nothing of it had begun and a person went
 * on, it is given up: the old history stands, whole. The daemon lock must be held.
 * @returns what was done, for people
 * @throws NotesError REPO_BUSY a person went on at the old history after it had begun; STORAGE the new history isn't whole
 */
export async function finishPurge({ place }: Resolved): Promise<string> {
  try {
    const done = await carryOutPurge(place.root, place.gitDir, LOCK_WAIT_MS);
    return `a purge that was cut short is complete (${done?.objects ?? 0} objects are gone); purge the same value once more to see whether anything is left`;
  } catch (error) {
    if (!(error instanceof PlanVoid) || error.begun) throw asRefusal(error);
    dropPlan(place.gitDir);
    return `a purge that was cut short before it changed anything is given up (${error.message}): what it was to take away IS STILL HERE; purge the same value again`;
  }
}

/** Publications that a crash left are carried out, so that no intent names the old history. */
async function recoverFirst(resolved: Resolved): Promise<void> {
  const store = await openStore(resolved);
  try {
    if (store.recovery.owed.length > 0)
      throw new ProcessError("BUSY", "A write waits for a lock of another Git. Purge when that has ended.");
  } finally {
    await store.close();
  }
  const state = toldState(resolved.place.gitDir, `refs/heads/${resolved.settings.branch}`, Date.now());
  if (["ok", "unborn", "elsewhere", "diverged"].includes(state.state)) return;
  if (state.state === "unsupported") throw new ProcessError("USAGE", `${state.why} Nothing was changed.`);
  throw new ProcessError(
    "BUSY",
    `A ${state.state} is under way (${"path" in state ? state.path : ""}). End it, then purge; nothing was changed.`,
  );
}

function refuseObstacles(gitdir: string): void {
  const obstacles = purgeObstacles(gitdir);
  if (obstacles.length > 0)
    throw new ProcessError(
      "USAGE",
      `This repository can't be purged as it is:\n${obstacles.map((one) => `  ${one}`).join("\n")}`,
    );
}

interface Looked extends FilesSought {
  readonly look: PurgeLook;
  readonly found: PurgeFound;
}

/** Look until no id changes any more. */
async function look({ place, settings }: Resolved, wish: PurgeWish): Promise<Looked> {
  const roots = allRoots(settings.roots ?? []);
  const key = await proofKey(join(place.gitDir, "notesd", "proof.key"));
  const texts = await textsOf(place.gitDir, wish, key);
  const note = wish.note === null ? NO_NOTE : noteToPurge(place.gitDir, wish.note, roots);
  let renames = new Map<string, string>();
  for (let round = 0; ; round++) {
    const rules = purgeRules(texts, note, renames);
    const found = lookForPurge(place.gitDir, rules.rewriting);
    const more = renamedIds(found.places, rules.rewriting);
    const isKnown = [...more].every(([from, to]) => renames.get(from) === to);
    if (isKnown || round === MOST_ROUNDS)
      return { look: found, rules, files: found.files, found: foundBy(found, rules, roots) };
    found.objects.close();
    renames = new Map([...renames, ...more]);
  }
}

interface Done {
  readonly dry_run: boolean;
  readonly files: readonly PurgeFile[];
  readonly prepared: PreparedPurge | null;
}

async function report(
  { place, settings }: Resolved,
  { found, look: looked }: Looked,
  { dry_run, files, prepared }: Done,
): Promise<PurgeReport> {
  looked.objects.close();
  return {
    ...found,
    repo: place.root,
    dry_run,
    files,
    commits: Object.fromEntries(prepared?.commits ?? []),
    map_file: prepared === null ? null : join(place.gitDir, PURGE_MAP),
    signatures_dropped: prepared?.signatures ?? 0,
    proofs_lost: prepared?.lostProofs ?? 0,
    complete: !dry_run && files.every(({ done }) => done !== "left"),
    by_hand: await whatToolsCannot(place, settings.branch ?? "main"),
  };
}
