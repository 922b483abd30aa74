/**
 * Whether a recorded history of many clients is one that a notebook may have: what each client asked and was told,
 * held against what Git says happened. Pure; in the manner of Jepsen's and Elle's checkers.
 *
 * What must hold for each note: its revisions are one chain; what was acknowledged is in it, once; what was refused is
 * not; what nobody knows of is in it at most once; a write that named a revision follows that very one, unless it asked
 * for a merge; and whoever asks after an answer sees no older state than that answer told of.
 */

/** What a client asked and what became of it. `invoked` and `answered` are places in one order of all of both. */
export interface Operation {
  /** Unique; a commit carries it. */
  readonly id: string;
  readonly note: string;
  readonly kind: "read" | "write";
  /** `if_revision`; null: none. */
  readonly ifRevision: string | null;
  /** `on_conflict: "merge"`. */
  readonly merges: boolean;
  readonly invoked: number;
  /** Infinite when it never was. */
  readonly answered: number;
  readonly outcome: Outcome;
}

export type Outcome =
  /** `revision` null: deleted. A write tells its commit. */
  | { readonly kind: "ok"; readonly revision: string | null; readonly commit: string | null }
  /** Nothing was written. What the refusal told of the note; null: nothing. */
  | {
      readonly kind: "refused";
      readonly code: string;
      readonly revision: string | null;
      readonly commit: string | null;
    }
  | { readonly kind: "unknown" };

/** A commit's change of one note, as the history of the branch has it; one that changed nothing has equal sides. */
export interface Step {
  readonly note: string;
  readonly commit: string;
  /** Of the operation that asked for it; null: none that was recorded (how the note came to be). */
  readonly operation: string | null;
  /** The note's blob before and after; null: there was none. */
  readonly before: string | null;
  readonly after: string | null;
}

/** @param steps  oldest first @returns a sentence for each thing that must not be; empty: all is well */
export function violations(operations: readonly Operation[], steps: readonly Step[]): string[] {
  const byId = new Map(operations.map((operation) => [operation.id, operation]));
  return [
    ...operationsTwice(steps),
    ...strangers(steps, byId),
    ...operations.flatMap((operation) => ofOperation(operation, steps)),
    ...groupBy(steps, ({ note }) => note).flatMap(([note, chain]) => [
      ...breaks(note, chain),
      ...ofChain(
        chain,
        operations.filter((operation) => operation.note === note),
        byId,
      ),
    ]),
    ...forks(operations),
  ];
}

function operationsTwice(steps: readonly Step[]): string[] {
  const named = steps.flatMap(({ operation, commit }) => (operation === null ? [] : [{ operation, commit }]));
  return groupBy(named, ({ operation }) => operation)
    .filter(([, made]) => made.length > 1)
    .map(
      ([id, made]) =>
        `${id} took effect ${made.length} times: ${made.map(({ commit }) => commit).join(", ")}`,
    );
}

const strangers = (steps: readonly Step[], byId: ReadonlyMap<string, Operation>): string[] =>
  steps.flatMap(({ operation, commit }) =>
    operation === null || byId.has(operation) ? [] : [`${commit} is of ${operation}, which nobody asked for`],
  );

function ofOperation(
  { id, kind, note, outcome, ifRevision, merges }: Operation,
  steps: readonly Step[],
): string[] {
  const step = steps.find(({ operation }) => operation === id);
  if (kind === "read") return step === undefined ? [] : [`${id} only read, and ${step.commit} is of it`];
  if (outcome.kind === "refused") {
    return step === undefined ? [] : [`${id} was refused with ${outcome.code}, and ${step.commit} did it`];
  }
  if (step === undefined) return outcome.kind === "ok" ? [`${id} was acknowledged and is not there`] : [];
  const found: string[] = [];
  if (step.note !== note) found.push(`${id} was of ${note} and changed ${step.note}`);
  if (outcome.kind === "ok" && outcome.commit !== step.commit)
    found.push(`${id} was told ${outcome.commit}, and ${step.commit} did it`);
  if (outcome.kind === "ok" && outcome.revision !== step.after)
    found.push(`${id} was told revision ${outcome.revision}, and ${step.commit} made ${step.after}`);
  if (ifRevision !== null && !merges && ifRevision !== step.before)
    found.push(`${id} was made on ${ifRevision}, and ${step.commit} put it on ${step.before}: a stale write`);
  return found;
}

const breaks = (note: string, chain: readonly Step[]): string[] =>
  chain.flatMap(({ before, commit }, i) => {
    const last = chain[i - 1]?.after ?? null;
    return before === last ? [] : [`${note} is no chain: ${commit} follows ${before}, and ${last} was there`];
  });

/** Two that were both acknowledged for one revision: seen from the answers alone, whatever Git says. */
function forks(operations: readonly Operation[]): string[] {
  const made = operations.filter(
    ({ kind, outcome, ifRevision, merges }) =>
      kind === "write" &&
      outcome.kind === "ok" &&
      ifRevision !== null &&
      outcome.revision !== ifRevision &&
      !merges,
  );
  return groupBy(made, ({ note, ifRevision }) => `${note} ${ifRevision}`)
    .filter(([, siblings]) => siblings.length > 1)
    .map(
      ([place, siblings]) => `a fork: ${siblings.map(({ id }) => id).join(" and ")} both followed ${place}`,
    );
}

/** An operation that tells of a state of the note, which is the `place`th. */
interface Seen {
  readonly operation: Operation;
  readonly place: number;
  /** It made that state. */
  readonly makes: boolean;
}

/** What the order of time asks for, on one note. */
function ofChain(
  chain: readonly Step[],
  operations: readonly Operation[],
  byId: ReadonlyMap<string, Operation>,
): string[] {
  // States are counted, not commits: one that changes nothing leaves the note in the state it found.
  const changing = chain.filter(({ before, after }) => before !== after);
  const byRevision = new Map(changing.map(({ after }, place) => [after, place]));
  let states = -1;
  const byCommit = new Map(
    chain.map(({ commit, before, after }) => [commit, before === after ? states : ++states]),
  );
  const found: string[] = [];
  const seen: Seen[] = [];
  for (const operation of operations) {
    const { outcome, id } = operation;
    if (outcome.kind === "unknown") continue;
    const { commit, revision } = outcome;
    if (commit === null && revision === null) continue;
    const place = commit !== null ? byCommit.get(commit) : byRevision.get(revision);
    const makes =
      operation.kind === "write" && outcome.kind === "ok" && changing[place ?? -1]?.commit === commit;
    if (place !== undefined) seen.push({ operation, place, makes });
    // An acknowledged write that is missing was told of above.
    else if (operation.kind === "read" || outcome.kind === "refused")
      found.push(`${id} was told of ${commit ?? revision}, which never was`);
  }
  found.push(...backwards(seen));
  for (const { operation, place } of seen) {
    const by = byId.get(changing[place]?.operation ?? "");
    if (by !== undefined && by.invoked > operation.answered)
      found.push(`${operation.id} was told of what ${by.id} did, before that was asked for`);
  }
  for (const { id, merges, ifRevision } of operations) {
    const step = chain.find((one) => one.operation === id);
    if (!merges || ifRevision === null || step === undefined) continue;
    const [from, to] = [byRevision.get(ifRevision), byCommit.get(step.commit)];
    if (from === undefined || to === undefined || from > to || (from === to && step.before !== step.after))
      found.push(`${id} was merged with ${ifRevision}, which did not come before it`);
  }
  return found;
}

/** Whoever asks after an answer must be told of that state or a later one; a write makes a later one. */
function backwards(seen: readonly Seen[]): string[] {
  const answered = [...seen].sort((a, b) => a.operation.answered - b.operation.answered);
  const asked = [...seen].sort((a, b) => a.operation.invoked - b.operation.invoked);
  const found: string[] = [];
  let newest: Seen | null = null;
  let next = 0;
  for (const one of asked) {
    for (
      let before = answered[next];
      before !== undefined && before.operation.answered < one.operation.invoked;
      before = answered[next]
    ) {
      if (newest === null || before.place > newest.place) newest = before;
      next++;
    }
    if (newest === null) continue;
    if (one.place < newest.place || (one.makes && one.place === newest.place))
      found.push(
        `${one.operation.id} was asked after ${newest.operation.id} was answered, and tells of before it`,
      );
  }
  return found;
}

function groupBy<T>(all: readonly T[], key: (one: T) => string): [string, T[]][] {
  const groups = new Map<string, T[]>();
  for (const one of all) {
    const group = groups.get(key(one));
    if (group === undefined) groups.set(key(one), [one]);
    else group.push(one);
  }
  return [...groups];
}
