/**
 * History as the head reaches it: the order of its commits, and who finds a row or an agent in it.
 * Invariant: the order is a function of the head alone. A commit comes after its first parent's history,
 * then what its other parents bring, then itself; so following the branch only ever appends.
 */
import type { CommitId, NoteId } from "../domain/note.ts";
import { counts } from "../lib/held/column.ts";
import type { CommitGraph } from "./commit-graph.ts";
import { RequestWindow } from "./request-window.ts";

export class HistoryLog {
  readonly #graph: CommitGraph;
  /** Numbers of commits, oldest first. */
  readonly #order = counts();
  /** By commit: its place in the order, from 1 on; 0: the head doesn't reach it. */
  readonly #placeOf = counts();
  /** By id: the newest row of the note, from 1 on; and by row: the note's row before. */
  readonly #newestRow = counts();
  readonly #rowBefore = counts();
  readonly requests: RequestWindow;
  readonly #agents = new Map<number, { agentId: number; name: string }>();

  /** @param requests  how many of them are remembered */
  constructor(graph: CommitGraph, requests: number) {
    this.#graph = graph;
    this.requests = new RequestWindow(graph.requests, requests);
  }

  /** How many commits the head reaches. */
  get length(): number {
    return this.#order.length;
  }

  /** The number of the commit at a place, the oldest at 0. */
  at(place: number): number {
    return this.#order.at(place);
  }

  /** Where a commit stands in the order; -1 when the head doesn't reach it. */
  placeOf(commit: number): number {
    return this.#placeOf.at(commit) - 1;
  }

  /** Reach further: the held head lies on the new head's first-parent chain. @cost O(new commits) */
  append(head: number): void {
    const { commits, texts } = this.#graph;
    if (this.#order.length === 0) {
      for (const column of [this.#order, this.#placeOf]) column.reserve(commits.length);
      this.#rowBefore.reserve(commits.rowCount);
      this.#newestRow.reserve(texts.ids.size);
    }
    for (const number of this.#unreached(head)) this.#take(number);
  }

  /** Reach another head. @cost O(all commits) */
  reset(head: number): void {
    for (const column of [this.#order, this.#placeOf, this.#newestRow, this.#rowBefore]) column.clear();
    this.requests.clear();
    this.#agents.clear();
    this.append(head);
  }

  #take(number: number): void {
    const { commits, entries } = this.#graph;
    this.#placeOf.set(number, this.#order.push(number) + 1);
    const [from, to] = commits.rowsOf(number);
    for (let row = from; row < to; row++) {
      const id = entries.idOf(commits.entryOfRow(row));
      this.#rowBefore.set(row, this.#newestRow.at(id));
      this.#newestRow.set(id, row + 1);
    }
    this.requests.take(number);
    const agent = commits.agentOf(number);
    if (agent && !this.#agents.has(agent.agentId)) this.#agents.set(agent.agentId, agent);
  }

  /** The number of the commit, when the head reaches it. */
  reached(id: CommitId): number | null {
    const number = this.#graph.numberOf(id);
    return number !== undefined && this.placeOf(number) >= 0 ? number : null;
  }

  /** Numbers of a note's rows, newest first. */
  *rowsOfNote(id: NoteId): Generator<number> {
    const note = this.#graph.texts.ids.find(id);
    if (note === 0) return;
    for (let row = this.#newestRow.at(note); row > 0; row = this.#rowBefore.at(row - 1)) yield row - 1;
  }

  agents(): readonly { readonly agentId: number; readonly name: string }[] {
    return [...this.#agents.values()];
  }

  /** Commits that `head` reaches and that have no place yet: first parents first, each after its parents. */
  *#unreached(head: number): Generator<number> {
    const open: number[] = [];
    /** Of each open commit, the parents that were entered. */
    const entered: number[] = [];
    const met = new Set<number>();
    const enter = (number: number) => {
      if (this.placeOf(number) >= 0 || met.has(number)) return;
      met.add(number);
      open.push(number);
      entered.push(0);
    };
    enter(head);
    for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
      const last = entered.length - 1;
      const which = entered[last] ?? 0;
      entered[last] = which + 1;
      const parent = this.#graph.commits.parentOf(top, which);
      if (parent >= 0) enter(parent);
      else {
        open.pop();
        entered.pop();
        yield top;
      }
    }
  }
}
