/**
 * Every commit that was folded, in columns, and its lines of history. Commits and rows are numbers here.
 * Invariant: what a number stands for never changes.
 */
import type { NoteSource } from "../domain/event.ts";
import { type CommitId, TRUSTS } from "../domain/note.ts";
import { counts, flags, mustBeLevel, type Rows, reals } from "../lib/held/column.ts";
import type { KeptSlots } from "../lib/held/hash-slots.ts";
import { HexTable } from "../lib/held/hex-rows.ts";
import type { CommitRecord, Row } from "./entry.ts";
import type { EntryTable, Texts } from "./entry-table.ts";

const SOURCES: readonly (NoteSource | "git")[] = ["git", "api", "disk", "import", "push"];
/** Of a commit's flags: the source, the trust above it, and whether it stamps. */
const TRUST_UNIT = 8;
const STAMPS = 64;

type Agent = NonNullable<CommitRecord["agent"]>;

export class CommitTable {
  readonly #texts: Texts;
  readonly #entries: EntryTable;
  readonly #ids = new HexTable();
  /** Of each commit, where its list ends. */
  readonly #parentsEnd = counts();
  readonly #parents = counts();
  readonly #atMs = reals();
  readonly #flags = flags();
  /** Place in `#agents`, from 1 on. */
  readonly #agentOf = counts();
  readonly #sessions = counts();
  readonly #chains = counts();
  readonly #places = counts();
  readonly #rowsEnd = counts();
  readonly #rowActions = counts();
  /** Twice the entry, plus 1 when it is gone. */
  readonly #rowEntries = counts();
  readonly #rowCommits = counts();
  readonly #agents: Agent[] = [];
  readonly #agentNumbers = new Map<string, number>();

  readonly rows: readonly Rows[] = [
    ...this.#ids.rows,
    this.#parentsEnd,
    this.#parents,
    this.#atMs,
    this.#flags,
    this.#agentOf,
    this.#sessions,
    this.#chains,
    this.#places,
    this.#rowsEnd,
    this.#rowActions,
    this.#rowEntries,
    this.#rowCommits,
  ];

  constructor(texts: Texts, entries: EntryTable) {
    this.#texts = texts;
    this.#entries = entries;
  }

  get length(): number {
    return this.#ids.length;
  }

  /** Who acted, in the order of their numbers: what `rows` does not hold. */
  get agents(): readonly Agent[] {
    return this.#agents;
  }

  find(id: string): number {
    return this.#ids.find(id);
  }

  /** One object for each agent, whoever acted how often. */
  agent(agentId: number, name: string): Agent {
    const key = `${agentId} ${name}`;
    const known = this.#agents[(this.#agentNumbers.get(key) ?? 0) - 1];
    if (known) return known;
    const agent = { agentId, name };
    this.#agentNumbers.set(key, this.#agents.push(agent));
    return agent;
  }

  /** Keep a commit. @param rows  its lines of history, with the number of each entry */
  push(
    commit: Omit<CommitRecord, "rows" | "request">,
    rows: readonly { readonly action: string; readonly entry: number; readonly gone: boolean }[],
  ): number {
    const { words } = this.#texts;
    const { agent } = commit;
    const number = this.#ids.push(commit.id);
    for (const parent of commit.parents) this.#parents.push(parent);
    this.#parentsEnd.push(this.#parents.length);
    this.#atMs.push(commit.atMs);
    this.#flags.push(
      SOURCES.indexOf(commit.source) +
        TRUSTS.indexOf(commit.trust) * TRUST_UNIT +
        (commit.stamps ? STAMPS : 0),
    );
    if (agent) this.agent(agent.agentId, agent.name);
    this.#agentOf.push(agent ? (this.#agentNumbers.get(`${agent.agentId} ${agent.name}`) ?? 0) : 0);
    this.#sessions.push(words.ofOrNull(commit.session));
    this.#chains.push(commit.chain);
    this.#places.push(commit.place);
    for (const { action, entry, gone } of rows) {
      this.#rowActions.push(words.of(action));
      this.#rowEntries.push(entry * 2 + (gone ? 1 : 0));
      this.#rowCommits.push(number);
    }
    this.#rowsEnd.push(this.#rowEntries.length);
    return number;
  }

  idOf(number: number): CommitId {
    return this.#ids.at(number) as CommitId; // what was pushed had the brand
  }
  /** Author date, ms. */
  atMsOf(number: number): number {
    return this.#atMs.at(number);
  }
  sourceOf(number: number): NoteSource | "git" {
    return SOURCES[this.#flags.at(number) % TRUST_UNIT] ?? "git";
  }
  trustOf(number: number): CommitRecord["trust"] {
    return TRUSTS[Math.floor((this.#flags.at(number) % STAMPS) / TRUST_UNIT)] ?? "pushed";
  }
  stampsOf(number: number): boolean {
    return this.#flags.at(number) >= STAMPS;
  }
  agentOf(number: number): Agent | null {
    return this.#agents[this.#agentOf.at(number) - 1] ?? null;
  }
  /** Number of the session's name in `words`; 0: none. */
  sessionOf(number: number): number {
    return this.#sessions.at(number);
  }
  chainOf(number: number): number {
    return this.#chains.at(number);
  }
  placeOf(number: number): number {
    return this.#places.at(number);
  }
  /** Number of a parent, the first being 0; -1 when there are no more. */
  parentOf(number: number, which: number): number {
    const at = (number === 0 ? 0 : this.#parentsEnd.at(number - 1)) + which;
    return at < this.#parentsEnd.at(number) ? this.#parents.at(at) : -1;
  }

  /** Rows of all commits. */
  get rowCount(): number {
    return this.#rowEntries.length;
  }
  /** The numbers of a commit's rows: from the first, up to but not including the second. */
  rowsOf(number: number): readonly [from: number, to: number] {
    return [number === 0 ? 0 : this.#rowsEnd.at(number - 1), this.#rowsEnd.at(number)];
  }
  row(row: number): Row {
    return {
      commit: this.commitOfRow(row),
      action: this.#texts.words.at(this.actionOfRow(row)),
      entry: this.#entries.at(this.entryOfRow(row)),
      gone: this.isGone(row),
    };
  }
  commitOfRow(row: number): number {
    return this.#rowCommits.at(row);
  }
  entryOfRow(row: number): number {
    return Math.floor(this.#rowEntries.at(row) / 2);
  }
  isGone(row: number): boolean {
    return this.#rowEntries.at(row) % 2 === 1;
  }
  /** Number of the action in `words`. */
  actionOfRow(row: number): number {
    return this.#rowActions.at(row);
  }

  at(number: number): Omit<CommitRecord, "request"> {
    if (number < 0 || number >= this.length) throw new RangeError(`no commit number ${number}`);
    const parents: number[] = [];
    for (
      let which = 0, parent = this.parentOf(number, 0);
      parent >= 0;
      parent = this.parentOf(number, ++which)
    )
      parents.push(parent);
    const [from, to] = this.rowsOf(number);
    return {
      id: this.idOf(number),
      parents,
      atMs: this.atMsOf(number),
      source: this.sourceOf(number),
      agent: this.agentOf(number),
      session: this.#texts.words.atOrNull(this.sessionOf(number)),
      trust: this.trustOf(number),
      stamps: this.stampsOf(number),
      rows: Array.from({ length: to - from }, (_, i) => this.row(from + i)),
      chain: this.chainOf(number),
      place: this.placeOf(number),
    };
  }

  /** What finds commits by id. */
  get slots(): KeptSlots {
    return this.#ids.slots;
  }

  /** Rows were appended: find their commits again. @throws RangeError  they name what isn't there */
  restored(agents: readonly Agent[], slots: KeptSlots | undefined): void {
    const { words } = this.#texts;
    mustBeLevel(this.length, [this.#parentsEnd, this.#atMs, this.#flags, this.#agentOf, this.#sessions]);
    mustBeLevel(this.length, [this.#chains, this.#places, this.#rowsEnd]);
    mustBeLevel(this.#rowEntries.length, [this.#rowActions, this.#rowCommits]);
    this.#parentsEnd.mustRiseTo(this.#parents.length);
    this.#rowsEnd.mustRiseTo(this.#rowEntries.length);
    for (const column of [this.#chains, this.#places, this.#rowCommits]) column.mustBeBelow(this.length);
    for (let number = 0; number < this.length; number++) {
      for (
        let which = 0, parent = this.parentOf(number, 0);
        parent >= 0;
        parent = this.parentOf(number, ++which)
      )
        if (parent >= number) throw new RangeError(`commit ${number} comes before its parent`);
    }
    this.#agentOf.mustBeBelow(agents.length + 1);
    for (const column of [this.#sessions, this.#rowActions]) column.mustBeBelow(words.size);
    this.#rowEntries.mustBeBelow(this.#entries.length * 2);
    this.#ids.restored(slots);
    for (const { agentId, name } of agents) this.agent(agentId, name);
  }
}
