/**
 * The moment of a purge: every ref, a detached HEAD, the working files and the Git index, from the old history to the
 * new one, all under Git's own locks. Safe to repeat after a kill: what has moved already is left.
 */
import { readFileSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { NotesError } from "../../domain/errors.ts";
import { orAbsent } from "../../lib/durable-file.ts";
import { indexMode } from "../git-index/git-index.ts";
import type { ObjectId } from "../objects/object-id.ts";
import type { GitObjects } from "../objects/objects.ts";
import { type GitLocks, prepareAll } from "../refs/git-lock.ts";
import { readHead, readRef } from "../refs/refs.ts";
import type { PurgePlan } from "./plan-file.ts";
import type { RefMove } from "./refs-plan.ts";
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

/** Something moved since the plan was made. `begun`: some refs had moved before, so a kill is being made good. */
export class MovedMeanwhile extends Error {
  override readonly name = "MovedMeanwhile";
  readonly begun: boolean;

  constructor(ref: string, begun: boolean) {
    super(`${ref} was moved meanwhile`);
    this.begun = begun;
  }
}

/**
 * @returns working files that a person changed since, and that stay
 * @throws MovedMeanwhile nothing was changed by this call; NotesError REPO_BUSY a lock is held; STORAGE
 */
export async function moveRefs(
  { root, gitdir, locks, objects, onStep }: Moving,
  plan: PurgePlan,
): Promise<string[]> {
  const { moves, head, files } = plan;
  const prepared = await prepareAll(locks, [
    ["index", "", indexMode(gitdir)],
    ["HEAD", head === null ? "" : `${head.to}\n`],
    ...moves.map(({ name, to }): [string, string] => [name, to === null ? "" : `${to}\n`]),
    ["packed-refs", ""],
  ]);
  // A purge that was killed here left its locks; the daemon lock says that it is gone.
  const held = await locks.acquire(prepared, { takeOver: true });
  try {
    checkNothingMoved(gitdir, plan);
    onStep("locked");
    const packed = withoutRefs(gitdir, new Set(moves.map(({ name }) => name)));
    // Loose wins over packed, so no ref is ever back at its old value in between.
    for (const { name, to } of moves) {
      if (to === null) continue;
      held.publish(name);
      onStep("ref");
    }
    if (packed !== null) {
      held.replace("packed-refs", packed);
      held.publish("packed-refs");
      onStep("packed");
    }
    for (const { name, to } of moves) if (to === null) orAbsent(() => unlinkSync(join(gitdir, name)));
    if (head !== null) held.publish("HEAD");
    const kept = replaceFiles(root, files, (id) => objects.read("blob", id));
    onStep("files");
    const index = rewrittenIndex(gitdir, {
      blobs: new Map(plan.blobs),
      paths: new Map(plan.paths),
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

function checkNothingMoved(gitdir: string, { moves, head }: PurgePlan): void {
  const now = (name: string): ObjectId | null => readRef(gitdir, name);
  const at = moves.map((move) => ({ move, id: now(move.name) }));
  const begun = at.some(({ move, id }) => id === move.to && move.to !== move.from);
  const astray = at.find(({ move, id }) => id !== move.from && id !== move.to);
  if (astray !== undefined) throw new MovedMeanwhile(astray.move.name, begun);
  if (head === null) return;
  const current = readHead(gitdir);
  if (current.kind !== "detached" || (current.id !== head.from && current.id !== head.to))
    throw new MovedMeanwhile("HEAD", begun);
}

/** packed-refs without these and their peeled lines; null: it holds none of them. */
function withoutRefs(gitdir: string, names: ReadonlySet<RefMove["name"]>): Buffer | null {
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

/** @throws NotesError REPO_BUSY for a person: nothing was changed, or how to go on */
export function asRefusal(error: unknown): unknown {
  if (!(error instanceof MovedMeanwhile)) return error;
  const advice = error.begun
    ? "The purge before was cut short and is not complete: run notesd purge again with the same value"
    : "Nothing was changed; purge again";
  return new NotesError("REPO_BUSY", `${error.message}. ${advice}.`, { state: "moved" }, error);
}
