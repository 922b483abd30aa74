/**
 * What a purge asks of whoever knows what is to go: of each object what becomes of it. Here nobody knows what a note is.
 * Invariant: what comes back the same is the very same buffer or text, and asking again of what came back changes nothing.
 */
import type { ObjectId } from "../objects/object-id.ts";

/** Types of Git objects; tags are no `ObjectType` since none is ever written for notes. */
export type ObjectKind = "blob" | "tree" | "commit" | "tag";

export interface Rewriting {
  /** A file's content; null: the file goes from every tree that holds it. */
  blob(id: ObjectId, bytes: Buffer): Buffer | null;
  /** The message of a commit or tag. */
  message(bytes: Buffer): Buffer;
  /** A header line of a commit or tag: who wrote it, for one. */
  header(bytes: Buffer): Buffer;
  /** One segment of a path, its raw bytes as latin1. */
  name(name: string): string;
  /** A note that goes. */
  readonly cutting?: Cutting;
}

/** One file that goes. */
export interface CutFile {
  readonly mode: string;
  readonly blob: ObjectId;
}

/** Root tree to the files that go from it, by UTF-8 path. */
export type Cuts = ReadonlyMap<ObjectId, ReadonlyMap<string, CutFile>>;

/** Files that go from where they are, while another one with the same content stays. */
export interface Cutting {
  readonly cuts: Cuts;
  /** Folders that nothing holds any more when the cuts are made. */
  readonly trees: ReadonlySet<ObjectId>;
  /** Whether what the Git index or a working file holds goes as well. @param path UTF-8 */
  owns(path: string, blob: ObjectId): boolean;
}

/** Of paths that go, those below a folder, relative to it. */
export function below(gone: ReadonlySet<string>, folder: string): ReadonlySet<string> {
  if (gone.size === 0) return gone;
  const start = `${folder}/`;
  return new Set([...gone].flatMap((path) => (path.startsWith(start) ? path.slice(start.length) : [])));
}

/**
 * Names of a folder's entries afterwards, each once: those that stay as they are come first, then the others in order,
 * with a number where two differed in what is purged alone.
 * @param names of what stays, raw bytes as latin1
 * @param taken names that are others' already
 */
export function newNames(
  rewriting: Pick<Rewriting, "name">,
  names: readonly string[],
  taken: ReadonlySet<string> = new Set(),
): ReadonlyMap<string, string> {
  const wanted = names.map((name) => [name, rewriting.name(name)] as const);
  const held = new Set([...taken, ...wanted.flatMap(([name, to]) => (name === to ? [name] : []))]);
  return new Map(
    wanted.map(([name, to]) => {
      if (name === to) return [name, name];
      const free = freeName(to, held);
      held.add(free);
      return [name, free];
    }),
  );
}

/** The name, or with a number where it is taken. */
export function freeName(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name;
  const [, stem = name, ending = ""] = /^(.*?)(\.md)?$/s.exec(name) ?? [];
  for (let nth = 2; ; nth++) if (!taken.has(`${stem}-${nth}${ending}`)) return `${stem}-${nth}${ending}`;
}

/** A path, segment by segment. @param path UTF-8 text */
export function renamedPath(rewriting: Pick<Rewriting, "name">, path: string): string {
  const raw = Buffer.from(path, "utf8").toString("latin1");
  const renamed = raw.split("/").map((segment) => rewriting.name(segment));
  return Buffer.from(renamed.join("/"), "latin1").toString("utf8");
}
