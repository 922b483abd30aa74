/**
 * Memory apart from the other notes: the paths' numbers in order of update, of all of it and of each notebook, so that
 * who asks for a notebook's pays for that and not for the repository. Eight bytes a memory; made when it is first
 * asked for, level from then on. Invariant: what it gives, the head's own order holds in the same order.
 */
import type { NoteFilter } from "../../domain/filters.ts";
import { SCOPES } from "../../domain/note.ts";
import type { HeadColumns } from "../head-columns.ts";
import type { Viewer } from "../note-index.ts";
import { type Keys, TimeOrder } from "../time-order.ts";

const WORKSPACE = SCOPES.indexOf("workspace");
/** Stands for the notebook of the workspace; the others are named by what the column of agents holds. */
const SHARED = -1;
/** Of more notebooks than this the memory is not put together: all of it is looked at. */
const NOTEBOOKS_MAX = 8;

interface Head {
  readonly columns: HeadColumns;
  readonly keys: Keys;
  /** Every readable note, oldest update first. */
  inOrder(): Uint32Array;
}

export class MemoryOrder {
  readonly #head: Head;
  /** Null: nobody asked yet. */
  #all: TimeOrder | null = null;
  readonly #notebooks = new Map<number, TimeOrder>();

  constructor(head: Head) {
    this.#head = head;
  }

  /** A readable note came to be at a path. */
  add(path: number): void {
    if (this.#all === null || !this.#isMemory(path)) return;
    this.#all.add(path);
    const notebook = this.#notebookOf(path);
    const order = this.#notebooks.get(notebook) ?? new TimeOrder(this.#head.keys);
    order.add(path);
    this.#notebooks.set(notebook, order);
  }

  /** It goes; the columns still tell what they told. */
  drop(path: number): void {
    if (this.#all === null || !this.#isMemory(path)) return;
    this.#all.drop(path);
    this.#notebooks.get(this.#notebookOf(path))?.drop(path);
  }

  /** A memory has a key or is somebody's; a typed note has no key and is the workspace's. */
  #isMemory(path: number): boolean {
    const { columns } = this.#head;
    return columns.hasKey(path) || columns.scopeOf(path) !== WORKSPACE;
  }

  #notebookOf(path: number): number {
    const { columns } = this.#head;
    return columns.scopeOf(path) === WORKSPACE ? SHARED : columns.agent.at(path);
  }

  /** @cost the first time one look at each note */
  #made(): TimeOrder {
    if (this.#all !== null) return this.#all;
    const found = Uint32Array.from(this.#head.inOrder().filter((path) => this.#isMemory(path)));
    const byNotebook = new Map<number, number[]>();
    for (const path of found) {
      const notebook = this.#notebookOf(path);
      const paths = byNotebook.get(notebook);
      if (paths) paths.push(path);
      else byNotebook.set(notebook, [path]);
    }
    const ordered = (paths: Uint32Array<ArrayBuffer>) => new TimeOrder(this.#head.keys, paths);
    for (const [notebook, paths] of byNotebook)
      this.#notebooks.set(notebook, ordered(Uint32Array.from(paths)));
    this.#all = ordered(found);
    return this.#all;
  }

  /**
   * The memory that a query may show, and some that it doesn't: oldest update first, as it stands until the next change.
   * @cost as much as the notebooks hold that the query is about; a person's without a filter: all memory
   */
  inNotebooks(filter: NoteFilter, viewer: Viewer): Uint32Array {
    const all = this.#made();
    const asked = notebooksOf(filter, viewer);
    if (asked === null || asked.length > NOTEBOOKS_MAX) return all.numbers();
    const [first, ...others] = asked.flatMap((notebook) => this.#notebooks.get(notebook)?.numbers() ?? []);
    return others.reduce((held, more) => this.#merged(held, more), first ?? new Uint32Array(0));
  }

  #merged(left: Uint32Array, right: Uint32Array): Uint32Array {
    const { timeMs, id } = this.#head.keys;
    const merged = new Uint32Array(left.length + right.length);
    for (let at = 0, l = 0, r = 0; at < merged.length; at++) {
      const [one, other] = [left[l], right[r]];
      const isOther =
        one === undefined ||
        (other !== undefined && (timeMs(one) - timeMs(other) || (id(one) < id(other) ? 1 : -1)) > 0);
      merged[at] = (isOther ? other : one) ?? 0;
      if (isOther) r += 1;
      else l += 1;
    }
    return merged;
  }
}

/** Null: every one. */
function notebooksOf({ scope, agentIds }: NoteFilter, viewer: Viewer): number[] | null {
  if (scope === "workspace") return [SHARED];
  const shared = scope === undefined ? [SHARED] : [];
  if (agentIds === "all" || (agentIds === undefined && viewer.kind === "person")) return null;
  const agents = agentIds ?? (viewer.kind === "agent" ? [viewer.agentId] : []);
  return [...new Set(agents.map((id) => id + 1)), ...shared];
}
