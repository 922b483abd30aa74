/**
 * A purge of one repository, in three parts: look (changes nothing), prepare (writes and proves the new history, and the
 * plan), carry out (`carry-out.ts`). What is to go, a `Rewriting` says.
 * Invariant: until the plan is durable the old history stands and nothing points to the new one.
 */
import { join } from "node:path";
import type { CommitId } from "../../domain/note.ts";
import { openBaseTable } from "../files/base-table.ts";
import { parseHeader } from "../history/commit-header.ts";
import type { ObjectId } from "../objects/object-id.ts";
import { type GitObjects, gitObjects } from "../objects/objects.ts";
import { listRefs, readHead, readRef } from "../refs/refs.ts";
import { everyObject } from "./every-object.ts";
import { newObjects } from "./new-objects.ts";
import { inOrder, type Place, type PlacedFile, type Places, placesOf } from "./places.ts";
import { type PurgePlan, writePlan } from "./plan-file.ts";
import {
  checkRefNames,
  isSymbolic,
  planRefs,
  type RefsPlan,
  stashIds,
  type TouchedRef,
  touchedRefs,
} from "./refs-plan.ts";
import { type Rewrite, rewriteObjects } from "./rewrite.ts";
import { indexFiles } from "./rewrite-index.ts";
import { freeName, type Rewriting, renamedPath } from "./rewriting.ts";
import { type Survey, surveyObjects } from "./survey.ts";
import { verifySameFiles, verifyWhole } from "./verify-new.ts";

export interface PurgeLook {
  /** Tree of HEAD; null: nothing is committed. */
  readonly root: ObjectId | null;
  readonly objects: GitObjects;
  readonly survey: Survey;
  /** Commits that must be made again, parents first. */
  readonly commits: readonly CommitId[];
  readonly places: readonly Place[];
  readonly refs: readonly TouchedRef[];
  /** Files of HEAD that hold it. */
  readonly files: readonly PlacedFile[];
  readonly placed: Places;
}

/** Look through a repository. @throws NotesError STORAGE a damaged object or ref @cost `surveyObjects` */
export function lookForPurge(gitdir: string, rewriting: Rewriting, objects = gitObjects(gitdir)): PurgeLook {
  const survey = surveyObjects(objects, everyObject(gitdir), rewriting);
  const placed = placesOf(objects, survey, rewriting);
  const commits = inOrder(objects, survey);
  const root = headTree(gitdir, objects);
  return {
    root,
    objects,
    survey,
    commits,
    placed,
    places: placed.of(commits),
    refs: touchedRefs(gitdir, objects, survey),
    files: root === null ? [] : placed.in(root),
  };
}

/**
 * Whether any object holds it: another Git may have brought one while a purge ran.
 * @cost reads every object once
 */
export function isHeldByObjects(gitdir: string, rewriting: Rewriting): boolean {
  const objects = gitObjects(gitdir);
  try {
    return surveyObjects(objects, everyObject(gitdir), rewriting).hits.size > 0;
  } finally {
    objects.close();
  }
}

/** Root tree of HEAD's commit; null: there is none. */
export function headTree(gitdir: string, objects: Pick<GitObjects, "read">): ObjectId | null {
  const head = readHead(gitdir);
  const commit = head.kind === "detached" ? head.id : readRef(gitdir, head.ref);
  return commit === null ? null : parseHeader(commit, objects.read("commit", commit)).tree;
}

export interface PreparedPurge {
  /** Old commit to new one. */
  readonly commits: ReadonlyMap<CommitId, CommitId>;
  readonly signatures: number;
  readonly lostProofs: number;
  /** Files of all branches that were compared and are the same. */
  readonly sameFiles: number;
  /** Let Git have the new packs; call it when the refs have moved. */
  release(): void;
}

/**
 * Make the new history durable, prove it, and write the plan. The daemon lock must be held.
 * @throws NotesError STORAGE, INVALID_PARAMS: nothing points to what was written
 */
export async function preparePurge(
  gitdir: string,
  look: PurgeLook,
  rewriting: Rewriting,
  proofKey: Uint8Array,
): Promise<PreparedPurge> {
  const { objects, survey } = look;
  checkRefNames(gitdir, rewriting);
  const out = newObjects(gitdir);
  try {
    const rewrite = rewriteObjects({ objects, survey, rewriting, proofKey, out });
    const refs = await planRefs(gitdir, look.refs, rewrite, rewriting);
    const { blobs, paths, gone, staged } = heldFiles(gitdir, look, rewrite, rewriting);
    const files = look.files.map(({ path, mode, blob, cut }) => {
      const to = cut ? null : rewrite.blob(blob);
      return { path, mode, blob, to: to === null ? null : { path: paths.get(path) ?? path, blob: to } };
    });
    await out.flush();
    verifyWhole(objects, survey, [...refsAfter(gitdir, refs), ...stashIds(refs.stash), ...staged]);
    const sameFiles = compareBranches(look, refs);
    const plan: PurgePlan = {
      format: 1,
      moves: [...refs.moves],
      head: refs.head,
      stash: refs.stash,
      blobs: [...blobs],
      paths: [...paths],
      gone,
      files,
    };
    const { commits, signatures, lostProofs } = rewrite;
    await writePlan(gitdir, plan, survey.tainted, commits);
    return { commits, signatures, lostProofs, sameFiles, release: out.release };
  } catch (error) {
    out.release();
    throw error;
  }
}

/** What the Git index and the table of working files hold, and what becomes of it. */
function heldFiles(gitdir: string, look: PurgeLook, rewrite: Rewrite, rewriting: Rewriting) {
  const { tainted } = look.survey;
  const blobs = new Map<ObjectId, ObjectId | null>();
  const gone: [string, ObjectId][] = [];
  const staged: ObjectId[] = [];
  const see = (path: string, blob: ObjectId): ObjectId | null => {
    if (!tainted.has(blob)) {
      if (rewriting.cutting?.owns(path, blob) && look.files.some((file) => file.cut && file.path === path))
        gone.push([path, blob]);
      return null;
    }
    const now = rewrite.blob(blob);
    blobs.set(blob, now);
    return now;
  };
  const index = indexFiles(gitdir);
  for (const { path, blob } of index) {
    const now = see(path, blob);
    if (now !== null) staged.push(now);
  }
  const table = openBaseTable(join(gitdir, "notesd"));
  const known = [...table.paths()];
  for (const path of known) {
    const base = table.base(path);
    if (base !== null) see(path, base);
  }
  const paths = pathsAfter(look, rewrite, rewriting, [...index.map(({ path }) => path), ...known]);
  return { blobs, paths, gone, staged };
}

/** Paths that change, of HEAD as its new tree has them; those that no commit holds yet get what is free. */
function pathsAfter(
  { root, files }: PurgeLook,
  rewrite: Rewrite,
  rewriting: Rewriting,
  held: readonly string[],
) {
  const paths = new Map<string, string>();
  const seen = new Set<string>();
  const isNamed = (path: string) => renamedPath(rewriting, path) !== path;
  const taken = new Set<string>(held.filter((path) => !isNamed(path)));
  if (root !== null && (held.some(isNamed) || files.some(({ path }) => isNamed(path))))
    for (const [from, to] of rewrite.paths(root)) {
      seen.add(from);
      taken.add(to);
      if (from !== to) paths.set(from, to);
    }
  for (const path of held) {
    if (seen.has(path) || !isNamed(path)) continue;
    seen.add(path);
    const to = freeName(renamedPath(rewriting, path), taken);
    taken.add(to);
    paths.set(path, to);
  }
  return paths;
}

/** What every ref will hold, and a detached HEAD. */
function* refsAfter(gitdir: string, { moves, head }: RefsPlan): Generator<ObjectId> {
  const moved = new Map(moves.map(({ name, to }) => [name, to]));
  for (const { name, id } of listRefs(gitdir, "refs")) {
    const to = moved.get(name);
    moved.delete(name);
    if (to !== null && !isSymbolic(gitdir, name)) yield to ?? id;
  }
  for (const to of moved.values()) if (to !== null) yield to;
  if (head !== null) yield head.to;
}

function compareBranches({ objects, placed }: PurgeLook, { moves, head }: RefsPlan): number {
  // Branches and HEAD hold commits.
  const treeOf = (id: ObjectId) => parseHeader(id as CommitId, objects.read("commit", id)).tree;
  let same = 0;
  for (const { from, to } of [
    ...moves.filter(({ name }) => name.startsWith("refs/heads/")),
    ...(head ? [head] : []),
  ]) {
    if (from === null || to === null) continue;
    const before = treeOf(from);
    const affected = new Set(placed.in(before).map(({ path }) => path));
    same += verifySameFiles(objects, before, treeOf(to), affected);
  }
  return same;
}
