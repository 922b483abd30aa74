/**
 * Histories made by hand, as a store tells them: commits over whole trees, with their events against the first
 * parent. Blob ids are Git's own. Knows the rules for `by` and `renamedFrom`, nothing of notes.
 */
import { createHash } from "node:crypto";
import type { CommitEvents, CommitInfo, NoteEvent, Proved, ReadBlob } from "../../src/domain/event.ts";
import type { BlobId, CommitId, RepoPath } from "../../src/domain/note.ts";
import { blobOf } from "./drafts.ts";

/** Path to text. */
export type Tree = Readonly<Record<string, string>>;

interface Held {
  readonly blob: BlobId | null;
  readonly by: CommitId;
}

interface Made {
  readonly events: CommitEvents;
  readonly tree: Tree;
  /** Every path that ever was, with who last changed it. */
  readonly held: ReadonlyMap<string, Held>;
}

export interface CommitOptions {
  /** Seconds since the epoch. */
  readonly at?: number;
  readonly proved?: Proved | null;
}

const START_S = Date.parse("2026-11-30T10:00:00Z") / 1000;

export const provedAs = (made: Partial<Proved>): Proved => ({
  action: "update",
  noteIds: [],
  noteType: null,
  source: "api",
  agent: null,
  agentId: null,
  session: null,
  requestKey: null,
  requestHash: null,
  ...made,
});

export class HistoryBuilder {
  readonly #made = new Map<CommitId, Made>();
  readonly #blobs = new Map<BlobId, Uint8Array>();

  readonly read: ReadBlob = async (id) => {
    const bytes = this.#blobs.get(id);
    if (bytes === undefined) throw new Error(`no blob ${id}`);
    return bytes;
  };

  tree(id: CommitId): Tree {
    return this.#of(id).tree;
  }

  /** Commit a whole tree. A path of a merge that equals another parent's is taken from there. */
  commit(parents: readonly CommitId[], tree: Tree, options: CommitOptions = {}): CommitId {
    const atS = options.at ?? START_S + this.#made.size * 60;
    const id = createHash("sha1")
      .update(JSON.stringify([parents, tree, atS, options.proved, this.#made.size]))
      .digest("hex") as CommitId;
    const info: CommitInfo = {
      id,
      parents,
      author: { name: "Ada", email: "ada@example.org" },
      at: new Date(atS * 1000).toISOString(),
      subject: `commit ${this.#made.size}`,
      reason: null,
      changes: null,
      proved: options.proved ?? null,
    };
    const sides = parents.map((parent) => this.#of(parent));
    const first = sides[0]?.held ?? new Map<string, Held>();
    const held = new Map(first);
    const changed: { path: RepoPath; before: BlobId | null; after: BlobId | null; by: CommitId }[] = [];
    const paths = [...new Set([...Object.keys(tree), ...first.keys()])];
    paths.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    for (const path of paths) {
      const text = tree[path];
      const after = text === undefined ? null : this.#keep(text);
      const before = first.get(path)?.blob ?? null;
      if (before === after) continue;
      const side = sides
        .slice(1)
        .map((made) => made.held.get(path))
        .find((entry) => entry?.blob === after);
      const by = side?.by ?? id;
      held.set(path, { blob: after, by });
      changed.push({ path: path as RepoPath, before, after, by });
    }
    const events = { commit: info, events: changed.map((change) => eventOf(info, change, changed)) };
    this.#made.set(id, { events, tree, held });
    return id;
  }

  /** Commit a change of a few paths on one parent; null removes. */
  change(
    parent: CommitId | null,
    changes: Readonly<Record<string, string | null>>,
    options: CommitOptions = {},
  ): CommitId {
    const tree: Record<string, string> = { ...(parent === null ? {} : this.tree(parent)) };
    for (const [path, text] of Object.entries(changes)) {
      if (text === null) delete tree[path];
      else tree[path] = text;
    }
    return this.commit(parent === null ? [] : [parent], tree, options);
  }

  /** What `history(after, to)` yields: parents before children, ties by date, then id. */
  history(after: CommitId | null, to: CommitId): CommitEvents[] {
    const known = after === null ? new Set<CommitId>() : this.#reach(after);
    const open = [...this.#reach(to)].filter((id) => !known.has(id)).map((id) => this.#of(id).events);
    const done = new Set(known);
    const ordered: CommitEvents[] = [];
    while (open.length > 0) {
      const ready = open.filter(({ commit }) => commit.parents.every((parent) => done.has(parent)));
      ready.sort(
        (a, b) => Date.parse(a.commit.at) - Date.parse(b.commit.at) || (a.commit.id < b.commit.id ? -1 : 1),
      );
      const [next] = ready;
      if (next === undefined) throw new Error("a cycle");
      open.splice(open.indexOf(next), 1);
      done.add(next.commit.id);
      ordered.push(next);
    }
    return ordered;
  }

  #reach(id: CommitId): Set<CommitId> {
    const reached = new Set<CommitId>();
    const open = [id];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (reached.has(next)) continue;
      reached.add(next);
      open.push(...this.#of(next).events.commit.parents);
    }
    return reached;
  }

  #of(id: CommitId): Made {
    const made = this.#made.get(id);
    if (made === undefined) throw new Error(`no commit ${id}`);
    return made;
  }

  #keep(text: string): BlobId {
    const id = blobOf(text);
    this.#blobs.set(id, Buffer.from(text));
    return id;
  }
}

interface Changed {
  readonly path: RepoPath;
  readonly before: BlobId | null;
  readonly after: BlobId | null;
  readonly by: CommitId;
}

const EMPTY_BLOB = blobOf("");

function eventOf(
  commit: CommitInfo,
  { path, before, after, by }: Changed,
  all: readonly Changed[],
): NoteEvent {
  if (after === null) {
    if (before === null) throw new Error("nothing happened");
    return { kind: "removed", commit, path, before, by };
  }
  const gone = all.filter((other) => other.after === null && other.before === after);
  const added = all.filter((other) => other.before === null && other.after === after);
  const source =
    gone.length === 1 && added.length === 1 && before === null && after !== EMPTY_BLOB ? gone[0] : undefined;
  return { kind: "written", commit, path, before, after, by, renamedFrom: source?.path ?? null };
}
