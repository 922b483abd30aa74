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
}

/** A path, segment by segment. @param path UTF-8 text */
export function renamedPath(rewriting: Pick<Rewriting, "name">, path: string): string {
  const raw = Buffer.from(path, "utf8").toString("latin1");
  const renamed = raw.split("/").map((segment) => rewriting.name(segment));
  return Buffer.from(renamed.join("/"), "latin1").toString("utf8");
}
