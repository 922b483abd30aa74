/**
 * History as the head reaches it: the order of its commits, and who finds a row, a request or an agent in it.
 * Invariant: the order is a function of the head alone. A commit comes after its first parent's history,
 * then what its other parents bring, then itself; so following the branch only ever appends.
 */
import type { CommitId, NoteId } from "../domain/note.ts";
import type { CommitGraph } from "./commit-graph.ts";
import type { CommitRecord, Row } from "./entry.ts";
import { itemsOf, type OneOrMany, pushTo } from "./one-or-many.ts";

export class HistoryLog {
  readonly #graph: CommitGraph;
  /** Numbers of commits, oldest first. */
  #order: number[] = [];
  readonly #rowsOfNote = new Map<NoteId, OneOrMany<Row>>();
  readonly #requests = new Map<string, number>();
  readonly #agents = new Map<number, { agentId: number; name: string }>();

  constructor(graph: CommitGraph) {
    this.#graph = graph;
  }

  /** Commit numbers, oldest first. */
  get order(): readonly number[] {
    return this.#order;
  }

  /** Reach further: the held head lies on the new head's first-parent chain. @cost O(new commits) */
  append(head: number): void {
    for (const number of unreached(this.#graph, head)) this.#take(number);
  }

  /** Reach another head. @cost O(all commits) */
  reset(head: number): void {
    for (const number of this.#order) this.#graph.at(number).order = -1;
    this.#order = [];
    this.#rowsOfNote.clear();
    this.#requests.clear();
    this.#agents.clear();
    this.append(head);
  }

  #take(number: number): void {
    const commit = this.#graph.at(number);
    commit.order = this.#order.push(number) - 1;
    for (const row of commit.rows) pushTo(this.#rowsOfNote, row.entry.id, row);
    if (commit.request && !this.#requests.has(commit.request.key)) {
      this.#requests.set(commit.request.key, number);
    }
    if (commit.agent && !this.#agents.has(commit.agent.agentId)) {
      this.#agents.set(commit.agent.agentId, commit.agent);
    }
  }

  /** The commit, when the head reaches it. */
  reached(id: CommitId): CommitRecord | null {
    const number = this.#graph.numberOf(id);
    const commit = number === undefined ? null : this.#graph.at(number);
    return commit && commit.order >= 0 ? commit : null;
  }

  /** Oldest first. */
  rowsOfNote(id: NoteId): readonly Row[] {
    return itemsOf(this.#rowsOfNote.get(id));
  }

  /** The number of the commit that carried out a request first. */
  requestCommit(key: string): number | null {
    return this.#requests.get(key) ?? null;
  }

  agents(): readonly { readonly agentId: number; readonly name: string }[] {
    return [...this.#agents.values()];
  }
}

/** Commits that `head` reaches and that have no order yet: first parents first, each after its parents. */
function* unreached(graph: CommitGraph, head: number): Generator<number> {
  const open: { number: number; parent: number }[] = [];
  const met = new Set<number>();
  const enter = (number: number) => {
    if (graph.at(number).order >= 0 || met.has(number)) return;
    met.add(number);
    open.push({ number, parent: 0 });
  };
  enter(head);
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    const parent = graph.at(top.number).parents[top.parent++];
    if (parent !== undefined) enter(parent);
    else {
      open.pop();
      yield top.number;
    }
  }
}
