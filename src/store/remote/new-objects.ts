/**
 * What a commit reaches that others don't have: for a push what must go along, after a fetch what must be here. Trees
 * are compared with the parents', so that the cost follows the changes and not the repository.
 */
import type { CommitId } from "../../domain/note.ts";
import { slicer } from "../../lib/slicer.ts";
import type { GitLog } from "../history/git-log.ts";
import type { ObjectId, ObjectType } from "../objects/object-id.ts";
import { isFolder, type TreeEntry, treeNode } from "../trees/tree-node.ts";

export interface ObjectSource {
  readonly log: Pick<GitLog, "header" | "commitsBetween">;
  readonly readTree: (id: ObjectId) => Uint8Array;
}

/**
 * Objects by id, each once, those of a commit's parents before its own.
 *
 * @param known commits whose objects the other side has, with all that they reach
 * @throws NotesError UNKNOWN_COMMIT a commit or tree that isn't here
 */
export async function* newObjects(
  { log, readTree }: ObjectSource,
  tip: CommitId,
  known: readonly CommitId[],
): AsyncGenerator<{ readonly type: ObjectType; readonly id: ObjectId }> {
  const turn = slicer();
  const seen = new Set<ObjectId>();
  const namesOf = (tree: ObjectId) =>
    new Map<string, TreeEntry>(
      treeNode(readTree(tree))
        .entries()
        .map((entry) => [entry.name, entry]),
    );
  for (const commit of await above(log, tip, known)) {
    const { tree, parents } = await log.header(commit);
    yield { type: "commit", id: commit };
    const before: ObjectId[] = [];
    for (const parent of parents) before.push((await log.header(parent)).tree);
    const folders: { readonly had: readonly ObjectId[]; readonly now: ObjectId }[] = [
      { had: before, now: tree },
    ];
    for (let pair = folders.pop(); pair !== undefined; pair = folders.pop()) {
      const pause = turn();
      if (pause !== null) await pause;
      const { had, now } = pair;
      if (had.includes(now) || seen.has(now)) continue;
      seen.add(now);
      yield { type: "tree", id: now };
      const old = had.map(namesOf);
      for (const [name, { mode, id }] of namesOf(now)) {
        const were = old.flatMap((names) => names.get(name) ?? []);
        // A submodule's commit is in another repository.
        if (mode === "160000" || seen.has(id) || were.some((entry) => entry.id === id)) continue;
        if (isFolder(mode)) {
          folders.push({
            had: were.filter((entry) => isFolder(entry.mode)).map((entry) => entry.id),
            now: id,
          });
          continue;
        }
        seen.add(id);
        yield { type: "blob", id };
      }
    }
  }
}

/** Commits that a tip reaches and none of the known ones, parents first. */
async function above(
  log: ObjectSource["log"],
  tip: CommitId,
  [first, ...others]: readonly CommitId[],
): Promise<readonly CommitId[]> {
  let commits = await log.commitsBetween(first ?? null, tip);
  for (const other of others) {
    if (commits.length === 0) break;
    const still = new Set(await log.commitsBetween(other, tip));
    commits = commits.filter((id) => still.has(id));
  }
  return commits;
}
