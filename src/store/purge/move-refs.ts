/**
 * The moment of a purge: every ref, a detached HEAD, the working files and the Git index, from the old history to the
 * new one, all under Git's own locks. Safe to repeat after a kill: what has moved already is left.
 */
import { existsSync, readFileSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { orAbsent } from "../../lib/durable-file.ts";
import { indexMode } from "../git-index/git-index.ts";
import type { GitObjects } from "../objects/objects.ts";
import { type GitLocks, prepareAll } from "../refs/git-lock.ts";
import type { PurgePlan } from "./plan-file.ts";
import { type Gone, PlanVoid, planNow, proveNow } from "./plan-now.ts";
import { replaceFiles } from "./replace-files.ts";
import { rewrittenIndex } from "./rewrite-index.ts";

/** Moments at which a kill is tried. */
export type MoveStep = "locked" | "ref" | "packed" | "files" | "index";

interface Moving {
  readonly root: string;
  readonly gitdir: string;
  readonly locks: GitLocks;
  readonly objects: GitObjects;
  readonly onStep: (step: MoveStep) => void;
}

/**
 * @param gone objects that go when this is done
 * @returns working files that a person changed since, and that stay
 * @throws PlanVoid nothing was changed by this call; NotesError REPO_BUSY a lock is held; STORAGE
 * @cost reads every object that the refs will reach, before anything is locked
 */
export async function moveRefs(
  { root, gitdir, locks, objects, onStep }: Moving,
  plan: PurgePlan,
  gone: Gone,
): Promise<string[]> {
  const { moves, files } = plan;
  const proved = planNow(gitdir, objects, plan);
  proveNow(objects, plan, gone, proved);
  const prepared = await prepareAll(locks, [
    ["index", "", indexMode(gitdir)],
    ["HEAD", proved.head === null ? "" : `${proved.head}\n`],
    ...moves.map(({ name, to }): [string, string] => [name, to === null ? "" : `${to}\n`]),
    ["packed-refs", ""],
  ]);
  // A purge that was killed here left its locks; the daemon lock says that it is gone.
  const held = await locks.acquire(prepared, { takeOver: true });
  try {
    if (planNow(gitdir, objects, plan).state !== proved.state)
      throw new PlanVoid("moved", "A ref was moved meanwhile", proved.begun);
    onStep("locked");
    // Loose wins over packed, so no ref is ever back at its old value in between.
    for (const name of proved.owed) {
      held.publish(name);
      onStep("ref");
    }
    const dropped = moves.filter(({ to }) => to === null).map(({ name }) => name);
    const isLoose = ({ name }: { readonly name: string }) => existsSync(join(gitdir, name));
    // One that a person packed since holds its value there alone.
    const packed = withoutRefs(
      gitdir,
      new Set([...dropped, ...moves.filter(isLoose).map(({ name }) => name)]),
    );
    if (packed !== null) {
      held.replace("packed-refs", packed);
      held.publish("packed-refs");
      onStep("packed");
    }
    for (const name of dropped) orAbsent(() => unlinkSync(join(gitdir, name)));
    if (proved.head !== null) held.publish("HEAD");
    const kept = replaceFiles(root, files, (id) => objects.read("blob", id));
    onStep("files");
    const index = rewrittenIndex(gitdir, {
      blobs: new Map(plan.blobs),
      paths: new Map(plan.paths),
      gone: new Set(plan.gone.map(([path, blob]) => `${path}\0${blob}`)),
    });
    if (index !== null) {
      held.replace("index", index);
      held.publish("index");
      onStep("index");
    }
    return kept;
  } finally {
    held.release();
  }
}

/** packed-refs without these and their peeled lines; null: it holds none of them. */
function withoutRefs(gitdir: string, names: ReadonlySet<string>): Buffer | null {
  const text = orAbsent(() => readFileSync(join(gitdir, "packed-refs"), "latin1"));
  if (text === null) return null;
  const kept: string[] = [];
  let dropping = false;
  for (const line of text.split("\n")) {
    if (line.startsWith("^")) {
      if (!dropping) kept.push(line);
      continue;
    }
    dropping = !line.startsWith("#") && names.has(Buffer.from(line.slice(41), "latin1").toString("utf8"));
    if (!dropping) kept.push(line);
  }
  const rest = kept.join("\n");
  return rest === text ? null : Buffer.from(rest, "latin1");
}
