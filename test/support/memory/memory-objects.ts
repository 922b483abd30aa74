/** Git objects in a Map, with ids as Git would give them; trees are patched by rewriting the folders on the way. */
import { NotesError } from "../../../src/domain/errors.ts";
import type { BlobId, CommitId, RepoPath } from "../../../src/domain/note.ts";
import { hashObject, type ObjectType } from "../../../src/lib/git-object.ts";

interface TreeEntry {
  readonly mode: string;
  readonly id: string;
}

export class MemoryObjects {
  readonly #objects = new Map<string, { kind: ObjectType; content: Uint8Array }>();
  readonly emptyTree = this.put("tree", new Uint8Array());

  put(kind: ObjectType, content: Uint8Array): string {
    const id = hashObject(kind, content);
    this.#objects.set(id, { kind, content });
    return id;
  }

  has(id: string, kind: ObjectType): boolean {
    return this.#objects.get(id)?.kind === kind;
  }

  /** @throws NotesError UNKNOWN_COMMIT no such object of that kind */
  get(kind: ObjectType, id: string): Uint8Array {
    const found = this.#objects.get(id);
    if (found?.kind === kind) return found.content;
    throw new NotesError("UNKNOWN_COMMIT", `The repository has no ${kind} ${id}.`, { [kind]: id });
  }

  /** Every object, in the order of writing. */
  *all(): Generator<{ readonly id: string; readonly kind: ObjectType; readonly content: Uint8Array }> {
    for (const [id, object] of this.#objects) yield { id, ...object };
  }

  /** Ids of commits that start with these digits. */
  commitsLike(prefix: string): CommitId[] {
    const like = [...this.#objects].filter(([id, o]) => o.kind === "commit" && id.startsWith(prefix));
    return like.map(([id]) => id as CommitId);
  }

  /** The blob at a path, `null` when absent, `undefined` when a folder stands there or a file stands in its way. */
  lookUp(tree: string, path: RepoPath): BlobId | null | undefined {
    const segments = path.split("/");
    const name = segments.pop() ?? "";
    let at = tree;
    for (const segment of segments) {
      const entry = this.#entries(at).get(segment);
      if (entry === undefined) return null;
      if (entry.mode !== "40000") return undefined;
      at = entry.id;
    }
    const entry = this.#entries(at).get(name);
    if (entry === undefined) return null;
    return entry.mode.startsWith("100") ? (entry.id as BlobId) : undefined;
  }

  /** The tree with an entry of any kind put at a path, or with null, removed. */
  replace(tree: string, path: string, entry: TreeEntry | null): string {
    return this.#patch(tree, path.split("/"), entry) ?? this.emptyTree;
  }

  /** The tree with one path set or, with `blob` null, removed; folders that become empty go too. */
  patch(tree: string, path: string, blob: BlobId | null): string {
    return this.#patch(tree, path.split("/"), blob) ?? this.emptyTree;
  }

  #patch(tree: string, [name = "", ...rest]: string[], blob: string | TreeEntry | null): string | null {
    const entries = this.#entries(tree);
    const below = entries.get(name);
    const leaf = typeof blob === "string" ? { mode: below?.mode ?? "100644", id: blob } : blob;
    const id = rest.length > 0 ? this.#patch(below?.id ?? this.emptyTree, rest, blob) : (leaf?.id ?? null);
    const mode = rest.length > 0 ? "40000" : (leaf?.mode ?? "");
    if (id === null) entries.delete(name);
    else entries.set(name, { mode, id });
    return entries.size === 0 ? null : this.#putTree(entries);
  }

  #entries(tree: string): Map<string, TreeEntry> {
    const bytes = Buffer.from(this.get("tree", tree));
    const entries = new Map<string, TreeEntry>();
    for (let at = 0; at < bytes.length; ) {
      const space = bytes.indexOf(0x20, at);
      const nul = bytes.indexOf(0, space);
      const id = bytes.toString("hex", nul + 1, nul + 21);
      entries.set(bytes.toString("utf8", space + 1, nul), { mode: bytes.toString("latin1", at, space), id });
      at = nul + 21;
    }
    return entries;
  }

  #putTree(entries: ReadonlyMap<string, TreeEntry>): string {
    const sortable = [...entries].map(([name, entry]) => {
      const key = Buffer.from(entry.mode === "40000" ? `${name}/` : name);
      const head = Buffer.from(`${entry.mode} ${name}\0`);
      return { key, bytes: Buffer.concat([head, Buffer.from(entry.id, "hex")]) };
    });
    sortable.sort((a, b) => Buffer.compare(a.key, b.key));
    return this.put("tree", Buffer.concat(sortable.map((e) => e.bytes)));
  }
}
