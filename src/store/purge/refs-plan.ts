/**
 * What becomes of each ref of a repository: those that reach the old history are moved to the new one, copies of an
 * older state go. Only read here; moving is `move-refs.ts`.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { NotesError } from "../../domain/errors.ts";
import { orAbsent } from "../../lib/durable-file.ts";
import type { ObjectId } from "../objects/object-id.ts";
import { listRefs, readHead } from "../refs/refs.ts";
import type { Rewrite } from "./rewrite.ts";
import type { Rewriting } from "./rewriting.ts";
import type { Survey } from "./survey.ts";

/** One ref; null: it is not there before, or not any more afterwards. */
export interface RefMove {
  readonly name: string;
  readonly from: ObjectId | null;
  readonly to: ObjectId | null;
}

/** A ref that reaches what must go. `rewritten`: it gets the new history; `dropped`: it goes. */
export interface TouchedRef {
  /** Full name, or HEAD while it is detached. */
  readonly ref: string;
  readonly id: ObjectId;
  readonly becomes: "rewritten" | "dropped";
}

export interface RefsPlan {
  readonly moves: readonly RefMove[];
  /** A detached HEAD. */
  readonly head: { readonly from: ObjectId; readonly to: ObjectId } | null;
  /** The log of `refs/stash`, which is all that holds older stashes; null: there is none. */
  readonly stash: string | null;
}

/**
 * Copies of what another repository has, or of what the branch was: the other one's are fetched again, and an older state
 * of ours is the very thing that a purge takes away. The list of resolved conflicts is none of these.
 */
const COPIES = /^refs\/(?:remotes|original|prefetch|notesd\/(?:backup|parked|remotes))\/(?!conflicts$)/;
const CONFLICT = /^(refs\/notesd\/conflicts\/[0-9a-f]{40})\/([0-9a-f]{40})$/;
const STASH = "refs/stash";

/** Whether a ref is another name of one. */
export const isSymbolic = (gitdir: string, name: string): boolean =>
  orAbsent(() => readFileSync(join(gitdir, name), "latin1"))?.startsWith("ref:") === true;

/** @throws NotesError STORAGE a ref is malformed */
export function touchedRefs(gitdir: string, { tainted }: Pick<Survey, "tainted">): TouchedRef[] {
  const touched = listRefs(gitdir, "refs")
    // What another name points to moves; only a remote's name goes with its target.
    .filter(({ name, id }) => tainted.has(id) && (COPIES.test(name) || !isSymbolic(gitdir, name)))
    .map(({ name, id }) => ({
      ref: name,
      id,
      becomes: COPIES.test(name) ? ("dropped" as const) : ("rewritten" as const),
    }));
  const head = readHead(gitdir);
  if (head.kind === "detached" && tainted.has(head.id))
    touched.unshift({ ref: "HEAD", id: head.id, becomes: "rewritten" });
  return touched;
}

/** @throws NotesError INVALID_PARAMS a ref's own name holds it */
export function checkRefNames(gitdir: string, rewriting: Pick<Rewriting, "name">): void {
  for (const { name } of listRefs(gitdir, "refs")) {
    const isNamed = name
      .split("/")
      .some(
        (part) =>
          rewriting.name(Buffer.from(part).toString("latin1")) !== Buffer.from(part).toString("latin1"),
      );
    if (!isNamed || CONFLICT.test(name)) continue;
    const kind = name.split("/")[1] ?? "refs";
    throw new NotesError(
      "INVALID_PARAMS",
      `The name of a ref below refs/${kind} holds it. Rename or delete that branch or tag, then purge again; nothing was changed.`,
    );
  }
}

/** Rewrite whatever a ref, a detached HEAD or a stash holds, and plan their moves. */
export async function planRefs(
  gitdir: string,
  survey: Pick<Survey, "tainted">,
  rewrite: Rewrite,
  rewriting: Pick<Rewriting, "message">,
): Promise<RefsPlan> {
  const moves: RefMove[] = [];
  let head: RefsPlan["head"] = null;
  for (const { ref, id, becomes } of touchedRefs(gitdir, survey)) {
    const to = becomes === "dropped" ? null : await rewrite.object(id);
    if (ref === "HEAD") {
      if (to !== null) head = { from: id, to };
      continue;
    }
    const [, folder, theirs] = CONFLICT.exec(ref) ?? [];
    const renamed = theirs === undefined ? null : rewrite.blob(theirs);
    if (folder === undefined || renamed === theirs) moves.push({ name: ref, from: id, to });
    else {
      moves.push({ name: ref, from: id, to: null });
      if (renamed !== null && to !== null) moves.push({ name: `${folder}/${renamed}`, from: null, to });
    }
  }
  return { moves, head, stash: await stashLog(gitdir, rewrite, rewriting) };
}

const LOG_LINE = /^([0-9a-f]{40}) ([0-9a-f]{40}) ([^\t\n]*)(?:\t(.*))?$/;

async function stashLog(
  gitdir: string,
  rewrite: Rewrite,
  rewriting: Pick<Rewriting, "message">,
): Promise<string | null> {
  const text = orAbsent(() => readFileSync(join(gitdir, "logs", STASH), "utf8"));
  if (text === null) return null;
  let before = "0".repeat(40);
  const lines: string[] = [];
  for (const line of text.split("\n")) {
    const [, , id, who = "", message = ""] = LOG_LINE.exec(line) ?? [];
    const to = id === undefined ? null : await rewrite.object(id);
    if (to === null) continue;
    lines.push(`${before} ${to} ${who}\t${rewriting.message(Buffer.from(message)).toString("utf8")}\n`);
    before = to;
  }
  return lines.join("");
}

/** Ids of the stashes that a log holds. */
export function stashIds(log: string | null): ObjectId[] {
  return (log ?? "").split("\n").flatMap((line) => LOG_LINE.exec(line)?.[2] ?? []);
}
