/**
 * Takes in the objects of a new history and makes them durable in packs that nobody's gc removes until `release`.
 * Tags are written loose. Invariant: what was flushed stands whole, and nothing points to it yet.
 */
import { hash } from "node:crypto";
import { existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { deflateSync } from "node:zlib";
import { writeDurablySync } from "../../lib/durable-file.ts";
import { hashObject, type ObjectId, type ObjectType } from "../objects/object-id.ts";
import { type ObjectEdit, packBuilder } from "../objects/pack-bytes.ts";
import { type WrittenPack, writePack } from "../objects/pack-writer.ts";
import type { ObjectKind } from "./rewriting.ts";

export interface NewObjects {
  /** @returns its id */
  add(kind: ObjectKind, bytes: Buffer): ObjectId;
  has(id: ObjectId): boolean;
  /** Write what has come together when it is much. Call it between objects. @throws NotesError STORAGE */
  room(): Promise<void>;
  /** Everything is durable when this returns. @throws NotesError STORAGE */
  flush(): Promise<void>;
  /** Names of the packs that were written. */
  packs(): readonly string[];
  /** Refs hold what is in the packs: let Git have them. */
  release(): void;
  readonly size: number;
}

/** Of one pack, before it is compressed. */
const PIECE_BYTES = 64 << 20;
/** Trees among which one looks for the version before. */
const WINDOW = 8;
/** Trees share at least so much at their beginning and end, or no delta is tried. */
const LEAST_SHARE = 0.5;

export const idOf = (kind: ObjectKind, bytes: Buffer): ObjectId =>
  // A tag's id is made as any other's.
  hashObject(kind as ObjectType, bytes);

export function newObjects(gitdir: string): NewObjects {
  let pack = packBuilder();
  let bytesInPack = 0;
  let window: { readonly id: ObjectId; readonly bytes: Buffer }[] = [];
  const added = new Set<ObjectId>();
  const written: WrittenPack[] = [];

  async function write(): Promise<void> {
    if (pack.size === 0) return;
    written.push(await writePack(gitdir, pack.finish()));
    pack = packBuilder();
    bytesInPack = 0;
    window = [];
  }

  function addTree(id: ObjectId, bytes: Buffer): void {
    let best: ObjectEdit | undefined;
    for (const base of window) {
      const edit = editOf(base.id, base.bytes, bytes);
      if (edit !== null && (best === undefined || edit.inserted.length < best.inserted.length)) best = edit;
    }
    pack.add("tree", id, bytes, best);
    window.unshift({ id, bytes });
    if (window.length > WINDOW) window.pop();
  }

  return {
    add(kind, bytes) {
      const id = idOf(kind, bytes);
      if (added.has(id)) return id;
      added.add(id);
      if (kind === "tag") {
        writeLoose(gitdir, id, kind, bytes);
        return id;
      }
      bytesInPack += bytes.length;
      if (kind === "tree") addTree(id, bytes);
      else pack.add(kind, id, bytes);
      return id;
    },
    has: (id) => added.has(id),
    async room() {
      if (bytesInPack > PIECE_BYTES) await write();
    },
    flush: write,
    packs: () => written.map(({ name }) => name),
    release() {
      for (const one of written) one.release();
    },
    get size() {
      return added.size;
    },
  };
}

/** The one range in which two trees differ; null: they have too little in common. */
function editOf(base: ObjectId, before: Buffer, after: Buffer): ObjectEdit | null {
  const shorter = Math.min(before.length, after.length);
  let prefix = 0;
  while (prefix < shorter && before[prefix] === after[prefix]) prefix++;
  let suffix = 0;
  while (suffix < shorter - prefix && before[before.length - 1 - suffix] === after[after.length - 1 - suffix])
    suffix++;
  if (prefix + suffix < after.length * LEAST_SHARE) return null;
  return {
    base,
    baseLength: before.length,
    at: prefix,
    removed: before.length - prefix - suffix,
    inserted: after.subarray(prefix, after.length - suffix),
  };
}

/** One file for one object, as Git writes it. */
function writeLoose(gitdir: string, id: ObjectId, kind: ObjectKind, bytes: Buffer): void {
  const path = join(gitdir, "objects", id.slice(0, 2), id.slice(2));
  if (existsSync(path)) return;
  mkdirSync(dirname(path), { recursive: true });
  const whole = Buffer.concat([Buffer.from(`${kind} ${bytes.length}\0`), bytes]);
  if (hash("sha1", whole, "hex") !== id) throw new Error(`${id} is not the name of these bytes`);
  writeDurablySync(path, deflateSync(whole), { mode: 0o444 });
}
