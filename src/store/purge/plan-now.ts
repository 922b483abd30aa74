/**
 * What stands of a plan at this moment: which refs it still owes, which have moved or were moved on since, and a proof
 * that the history which refs will then hold is whole. Reads only.
 * Invariant: no ref is moved, and no object goes, unless all that refs will reach is here and outlives the purge.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { NotesError } from "../../domain/errors.ts";
import type { CommitId } from "../../domain/note.ts";
import { orAbsent } from "../../lib/durable-file.ts";
import { parseHeader } from "../history/commit-header.ts";
import type { ObjectId } from "../objects/object-id.ts";
import type { GitObjects } from "../objects/objects.ts";
import { listRefs, readHead } from "../refs/refs.ts";
import type { PurgePlan } from "./plan-file.ts";
import { isSymbolic, stashIds } from "./refs-plan.ts";
import { flawIn } from "./verify-new.ts";

type Source = Pick<GitObjects, "find">;

/** Objects that a purge takes away. */
export interface Gone {
  has(id: ObjectId): boolean;
}

/**
 * A plan that can't be carried out: a person went on meanwhile (`moved`), or objects of the new history are not here
 * (`missing`). Nothing was changed by who throws it. `begun`: a ref holds the new history already; without it nothing is
 * owed, and the plan may be dropped.
 */
export class PlanVoid extends Error {
  override readonly name = "PlanVoid";
  readonly why: "moved" | "missing";
  readonly begun: boolean;

  constructor(why: PlanVoid["why"], message: string, begun: boolean) {
    super(message);
    this.why = why;
    this.begun = begun;
  }
}

interface PlanNow {
  /** A ref holds the new history, or what came after it. */
  readonly begun: boolean;
  /** Refs that still wait for their new value, in order. */
  readonly owed: readonly string[];
  /** What a detached HEAD is to hold; null: it stays. */
  readonly head: ObjectId | null;
  /** What every ref and HEAD will hold then. */
  readonly roots: readonly ObjectId[];
  /** The same text means the same refs. */
  readonly state: string;
}

/**
 * @throws PlanVoid `moved`: nothing has begun and a ref isn't where the plan found it
 * @cost where a ref is elsewhere, a walk through its commits
 */
export function planNow(gitdir: string, objects: Source, { moves, head }: PurgePlan): PlanNow {
  const refs = listRefs(gitdir, "refs");
  const ids = new Map<string, ObjectId>(refs.map(({ name, id }) => [name, id]));
  const at = moves.map((move) => ({ ...move, id: ids.get(move.name) ?? null }));
  const current = readHead(gitdir);
  const headId = current.kind === "detached" ? current.id : null;
  const headMoved = head !== null && headId !== null && hasMoved(objects, headId, head);
  const begun =
    headMoved || at.some(({ id, from, to }) => id !== null && hasMoved(objects, id, { from, to }));
  // Once it has begun, where a person took a ref since is theirs; `proveNow` sees whether it can stay there.
  const astray = at.find(({ id, from, to }) => id !== from && id !== to);
  if (!begun && astray !== undefined)
    throw new PlanVoid("moved", `${astray.name} was moved meanwhile`, false);
  if (!begun && head !== null && headId !== head.from)
    throw new PlanVoid("moved", "HEAD was moved meanwhile", false);
  const owed = at.filter(({ id, from, to }) => to !== null && id === from && from !== to);
  const headTo = head !== null && headId === head.from ? head.to : null;
  const after = new Map(ids);
  for (const { name, to } of owed) if (to !== null) after.set(name, to);
  for (const { name, to } of moves) if (to === null) after.delete(name);
  const roots = [...after].flatMap(([name, id]) => (isSymbolic(gitdir, name) ? [] : [id]));
  const last = headTo ?? headId;
  if (last !== null) roots.push(last);
  return {
    begun,
    owed: owed.map(({ name }) => name),
    head: headTo,
    roots,
    state: JSON.stringify([[...ids], current, orAbsent(() => readFileSync(join(gitdir, "HEAD"), "latin1"))]),
  };
}

/** Whether an id is the new one, or came after it. */
function hasMoved(
  objects: Source,
  id: ObjectId,
  { from, to }: { readonly from: ObjectId | null; readonly to: ObjectId | null },
): boolean {
  if (to === null || to === from) return false;
  if (id === to) return true;
  if (id === from || objects.find(to)?.type !== "commit") return false;
  const seen = new Set<ObjectId>([id]);
  const waiting = [id];
  for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
    if (one === to) return true;
    const found = objects.find(one);
    if (found?.type !== "commit") continue;
    // It is one.
    for (const parent of parseHeader(one as CommitId, found.bytes).parents) {
      if (seen.has(parent)) continue;
      seen.add(parent);
      waiting.push(parent);
    }
  }
  return false;
}

/**
 * Prove that all that refs, stashes, the Git index and working files will hold is here, and is none of what goes.
 * @throws PlanVoid NotesError STORAGE a damaged object
 * @cost reads each object once
 */
export function proveNow(objects: Source, plan: PurgePlan, gone: Gone, { begun, roots }: PlanNow): void {
  const given = [
    ...stashIds(plan.stash),
    ...plan.blobs.flatMap(([, to]) => to ?? []),
    ...plan.files.flatMap(({ to }) => to?.blob ?? []),
  ];
  const flaw = flawIn(objects, gone, [...roots, ...given]);
  if (flaw?.why === "missing")
    throw new PlanVoid("missing", `${flaw.id}, which the new history needs, is not here`, begun);
  if (flaw?.why === "purged")
    throw new PlanVoid("moved", `A ref holds ${flaw.id} of the old history again`, begun);
}

/** For a person: how to go on. Any other error as it is. */
export function asRefusal(error: unknown): unknown {
  if (!(error instanceof PlanVoid)) return error;
  const { message, why, begun } = error;
  if (why === "missing")
    return new NotesError(
      "STORAGE",
      begun
        ? `${message}. A purge was cut short after it had begun; nothing more was changed, and nothing was removed. Bring that object back from a copy of this repository, then start again`
        : `${message}. Nothing was changed; run git fsck, then purge again`,
      {},
      error,
    );
  const advice = begun
    ? "The purge before was cut short and is not complete: run notesd purge again with the same value"
    : "Nothing was changed; purge again";
  return new NotesError("REPO_BUSY", `${message}. ${advice}.`, { state: "moved" }, error);
}
