/** Whether a held index can go to another head without all of history being read again. Looks, and changes nothing. */
import type { CommitEvents } from "../domain/event.ts";
import type { CommitId } from "../domain/note.ts";
import { HistoryLog } from "./history-log.ts";
import type { Parts } from "./parts.ts";

type Parents = ReadonlyMap<CommitId, readonly CommitId[]>;

/** See `NoteIndex.canExtend`. @cost where requests were let go of: a walk over what comes on top, or all commits when the branch was put back */
export function canExtend(parts: Parts, commits: readonly CommitEvents[], to?: CommitId): boolean {
  const { graph, head } = parts;
  const given = new Map<CommitId, readonly CommitId[]>();
  const isHeld = commits.every(({ commit: { id, parents } }) => {
    given.set(id, parents);
    return head < 0 || parents.every((parent) => given.has(parent) || graph.numberOf(parent) !== undefined);
  });
  return isHeld && (to === undefined || graph.requests.first === 0 || remembers(parts, given, to));
}

/** Whether no request was let go of that the new head would remember. In doubt not. */
function remembers(parts: Parts, given: Parents, to: CommitId): boolean {
  const { graph, log } = parts;
  const base = baseOf(parts, given, to);
  if (base < 0) return false;
  const isAppended = log.placeOf(base) === log.length - 1;
  const reached = isAppended ? log : new HistoryLog(graph, log.requests.most);
  if (!isAppended) {
    reached.append(base);
    if (!endsWithHeld(parts, reached)) return false;
  }
  return bringsOnlyHeld(parts, given, to, reached);
}

/** The number of the first commit on the first-parent chain that is held; -1: none. */
function baseOf(parts: Parts, given: Parents, to: CommitId): number {
  for (let id: CommitId | undefined = to; id !== undefined; id = parentsOf(parts, given, id)[0]) {
    const number = parts.graph.numberOf(id);
    if (number !== undefined) return number;
  }
  return -1;
}

/** Of a commit before this one nobody knows whether it carried out a request. */
const firstKnown = ({ graph: { requests } }: Parts) => requests.commitOf(requests.first);

/** Whether a history ends with as many requests as are remembered, none of them let go of. */
function endsWithHeld(parts: Parts, log: HistoryLog): boolean {
  let count = 0;
  for (let place = log.length - 1; place >= 0 && count < log.requests.most; place--) {
    const commit = log.at(place);
    if (commit < firstKnown(parts)) return false;
    if (parts.graph.requests.numberOf(commit) >= 0) count++;
  }
  return true;
}

/** Whether what comes on top of a history that is held brought nothing that was let go of. */
function bringsOnlyHeld(parts: Parts, given: Parents, to: CommitId, reached: HistoryLog): boolean {
  const open = [to];
  const met = new Set(open);
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    const number = parts.graph.numberOf(id);
    if (number !== undefined && reached.placeOf(number) >= 0) continue;
    if (number !== undefined && number < firstKnown(parts)) return false;
    for (const parent of parentsOf(parts, given, id)) {
      if (met.has(parent)) continue;
      met.add(parent);
      open.push(parent);
    }
  }
  return true;
}

function parentsOf({ graph }: Parts, given: Parents, id: CommitId): readonly CommitId[] {
  const number = graph.numberOf(id);
  if (number === undefined) return given.get(id) ?? [];
  return graph.at(number).parents.map((parent) => graph.commits.idOf(parent));
}
