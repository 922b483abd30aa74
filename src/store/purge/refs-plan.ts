/**
 * What becomes of each ref of a repository: those that reach the old history are moved to the new one, copies of an
 * older state go. Only read here; moving is `move-refs.ts`.
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
import { tagTarget } from "./raw-object.ts";
import type { Rewrite } from "./rewrite.ts";
import type { ObjectKind, Rewriting } from "./rewriting.ts";
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
  /** Of one that goes: commits that no other ref reaches. */
  readonly onlyHere: number;
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
export const STASH = "refs/stash";

/** Whether a ref is another name of one. */
export const isSymbolic = (gitdir: string, name: string): boolean =>
  orAbsent(() => readFileSync(join(gitdir, name), "latin1"))?.startsWith("ref:") === true;

/** @throws NotesError STORAGE a ref is malformed @cost a walk through the commits that must go, where a ref does */
export function touchedRefs(
  gitdir: string,
  objects: Pick<GitObjects, "find">,
  { tainted }: Pick<Survey, "tainted">,
): TouchedRef[] {
  // What another name points to moves; only a remote's name goes with its target.
  const touched = listRefs(gitdir, "refs").filter(
    ({ name, id }) => tainted.has(id) && (COPIES.test(name) || !isSymbolic(gitdir, name)),
  );
  const head = readHead(gitdir);
  const detached = head.kind === "detached" && tainted.has(head.id) ? [{ name: "HEAD", id: head.id }] : [];
  const kept = [...detached, ...touched.filter(({ name }) => !COPIES.test(name))];
  const dropped = touched.filter(({ name }) => COPIES.test(name));
  const elsewhere = new Set<ObjectId>();
  if (dropped.length > 0) for (const { id } of kept) seeCommits(objects, tainted, id, elsewhere);
  return [
    ...kept.map(({ name, id }) => ({ ref: name, id, becomes: "rewritten" as const, onlyHere: 0 })),
    ...dropped.map(({ name, id }) => {
      const known = elsewhere.size;
      seeCommits(objects, tainted, id, elsewhere);
      return { ref: name, id, becomes: "dropped" as const, onlyHere: elsewhere.size - known };
    }),
  ];
}

/** Add the commits that must go and that an id reaches, each once. */
function seeCommits(
  objects: Pick<GitObjects, "find">,
  tainted: ReadonlyMap<ObjectId, ObjectKind>,
  from: ObjectId,
  seen: Set<ObjectId>,
): void {
  const waiting = [from];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    if (seen.has(id) || !tainted.has(id)) continue;
    const found = objects.find(id);
    if (found?.type === "tag") waiting.push(tagTarget(found.bytes).id);
    if (found?.type !== "commit") continue;
    seen.add(id);
    // It is one.
    waiting.push(...parseHeader(id as CommitId, found.bytes).parents);
  }
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
  touched: readonly TouchedRef[],
  rewrite: Rewrite,
  rewriting: Pick<Rewriting, "message">,
): Promise<RefsPlan> {
  const moves: RefMove[] = [];
  let head: RefsPlan["head"] = null;
  for (const { ref, id, becomes } of touched) {
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
