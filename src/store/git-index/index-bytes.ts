/**
 * The layout of Git's index, version 2 and 3: header, entries, extensions, checksum. Pure functions over bytes.
 * What may be changed, and when, is `git-index.ts`.
 * @see gitformat-index(5)
 */
import { hash } from "node:crypto";
import type { BigIntStats } from "node:fs";
import { NotesError } from "../../domain/errors.ts";
import type { ObjectId } from "../objects/object-id.ts";
import { type CacheTree, parseCacheTree } from "./cache-tree.ts";

export const HEADER_BYTES = 12;
/** Of an entry, before extended flags and name. */
export const FIXED_BYTES = 62;
const CHECKSUM_BYTES = 20;
const NAME_LENGTH_MASK = 0x0fff;
const EXTENDED = 0x4000;

export interface ParsedIndex {
  readonly bytes: Buffer;
  readonly version: number;
  /** Start of each entry, and at last the end of the entries. */
  readonly starts: Uint32Array;
  /** TREE; null: not there, or unreadable. */
  readonly tree: CacheTree | null;
  /** REUC, as it lies in the file without its header. */
  readonly resolveUndo: Buffer | null;
  /** The extension of a split index, without its header; the entries are then only what differs from the shared one. */
  readonly link: Buffer | null;
}

interface Extension {
  readonly signature: string;
  readonly content: Buffer;
}

export function refuse(why: string): NotesError {
  return new NotesError("STORAGE", `The Git index ${why}; nothing was changed.`, { path: "index" });
}

/** A new index without entries, as `git init` would leave it if it left one. */
export function emptyIndex(): Buffer {
  return withChecksum([headerBytes(2, 0)]);
}

/** The first bytes of an index. */
export function headerBytes(version: number, count: number): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.write("DIRC", "latin1");
  header.writeUInt32BE(version, 4);
  header.writeUInt32BE(count, 8);
  return header;
}

/** Put parts together and end them with their SHA-1, as Git ends an index. @cost one copy and one hash of all */
export function withChecksum(parts: readonly Uint8Array[]): Buffer {
  const whole = Buffer.concat([...parts, Buffer.alloc(CHECKSUM_BYTES)]);
  hash("sha1", whole.subarray(0, -CHECKSUM_BYTES), "buffer").copy(whole, whole.length - CHECKSUM_BYTES);
  return whole;
}

/**
 * Find the entries and extensions.
 * @throws NotesError STORAGE damaged, version 4, or an extension that must be understood and isn't
 * @cost one SHA-1 of the file; a step for each entry
 */
export function parseIndex(bytes: Buffer): ParsedIndex {
  const end = bytes.length - CHECKSUM_BYTES;
  if (end < HEADER_BYTES || bytes.toString("latin1", 0, 4) !== "DIRC")
    throw refuse("is damaged or cut short");
  const checksum = bytes.subarray(end);
  // All zero: written with index.skipHash.
  const unhashed = checksum.every((byte) => byte === 0);
  if (!unhashed && !hash("sha1", bytes.subarray(0, end), "buffer").equals(checksum))
    throw refuse("is damaged: its checksum is wrong. Move it away; git read-tree HEAD makes it anew");
  const version = bytes.readUInt32BE(4);
  if (version !== 2 && version !== 3)
    throw refuse(
      `has version ${version}. Run git update-index --index-version 2, and set index.version to 2`,
    );
  const starts = new Uint32Array(bytes.readUInt32BE(8) + 1);
  let at = HEADER_BYTES;
  for (let index = 0; index < starts.length - 1; index++) {
    starts[index] = at;
    if (at + FIXED_BYTES >= end) throw refuse("is cut short");
    at += entryLength(nameStart(bytes, at) - at + nameLength(bytes, at));
  }
  starts[starts.length - 1] = at;
  const extensions = readExtensions(bytes, at, end);
  const content = (signature: string) => extensions.find((one) => one.signature === signature)?.content;
  const tree = content("TREE");
  return {
    bytes,
    version,
    starts,
    tree: tree === undefined ? null : parseCacheTree(tree),
    resolveUndo: content("REUC") ?? null,
    link: content("link") ?? null,
  };
}

function readExtensions(bytes: Buffer, from: number, end: number): Extension[] {
  const found: Extension[] = [];
  for (let at = from; at < end; ) {
    if (at + 8 > end) throw refuse("is cut short");
    const signature = bytes.toString("latin1", at, at + 4);
    const length = bytes.readUInt32BE(at + 4);
    if (at + 8 + length > end) throw refuse("is cut short");
    if (signature === "sdir") throw refuse("is sparse. Run git sparse-checkout reapply --no-sparse-index");
    if (/^[^A-Z]/.test(signature) && signature !== "link")
      throw refuse(`has the extension ${JSON.stringify(signature)}, which must be understood and isn't`);
    found.push({ signature, content: bytes.subarray(at + 8, at + 8 + length) });
    at += 8 + length;
  }
  return found;
}

/** Where an entry's name begins: two bytes later when it has extended flags. */
export function nameStart(bytes: Buffer, entry: number): number {
  return entry + FIXED_BYTES + (bytes.readUInt16BE(entry + 60) & EXTENDED ? 2 : 0);
}

/** How many bytes an entry's name has. */
export function nameLength(bytes: Buffer, entry: number): number {
  const flagged = bytes.readUInt16BE(entry + 60) & NAME_LENGTH_MASK;
  if (flagged < NAME_LENGTH_MASK) return flagged;
  const from = nameStart(bytes, entry);
  return bytes.indexOf(0, from) - from;
}

/** The same entry under another name, or none: a split index leaves out the names that its shared index has. */
export function renamedEntry(entry: Buffer, name: Buffer): Buffer {
  const fixed = nameStart(entry, 0);
  const renamed = Buffer.alloc(entryLength(fixed + name.length));
  entry.copy(renamed, 0, 0, fixed);
  const flags = entry.readUInt16BE(60) & ~NAME_LENGTH_MASK;
  renamed.writeUInt16BE(flags | Math.min(name.length, NAME_LENGTH_MASK), 60);
  name.copy(renamed, fixed);
  return renamed;
}

/** Entries end in 1 to 8 zero bytes, to a multiple of 8. */
const entryLength = (unpadded: number) => (unpadded + 8) & ~7;

/** One extension as it lies in the file: signature, length, content. */
export function extensionBytes(signature: string, content: Buffer): Buffer {
  const header = Buffer.alloc(8);
  header.write(signature, "latin1");
  header.writeUInt32BE(content.length, 4);
  return Buffer.concat([header, content]);
}

/** A new entry of stage 0 for a regular file. */
export function newEntry(name: Buffer, id: ObjectId, mode: number, stat: BigIntStats | null): Buffer {
  const entry = Buffer.alloc(entryLength(FIXED_BYTES + name.length));
  entry.writeUInt32BE(mode, 24);
  entry.writeUInt16BE(Math.min(name.length, NAME_LENGTH_MASK), 60);
  name.copy(entry, FIXED_BYTES);
  fill(entry, id, stat);
  return entry;
}

/** A copy of an entry with another blob: name, mode and flags stay. */
export function changedEntry(entry: Buffer, id: ObjectId, stat: BigIntStats | null): Buffer {
  const copy = Buffer.from(entry);
  fill(copy, id, stat);
  return copy;
}

/** Without a stat Git compares the content by itself: slower and always right. */
function fill(entry: Buffer, id: ObjectId, stat: BigIntStats | null): void {
  const low32 = (value: bigint) => Number(BigInt.asUintN(32, value));
  const time = (at: number, ns: bigint) => {
    entry.writeUInt32BE(low32(ns / 1_000_000_000n), at);
    entry.writeUInt32BE(low32(ns % 1_000_000_000n), at + 4);
  };
  time(0, stat?.ctimeNs ?? 0n);
  time(8, stat?.mtimeNs ?? 0n);
  entry.writeUInt32BE(low32(stat?.dev ?? 0n), 16);
  entry.writeUInt32BE(low32(stat?.ino ?? 0n), 20);
  entry.writeUInt32BE(low32(stat?.uid ?? 0n), 28);
  entry.writeUInt32BE(low32(stat?.gid ?? 0n), 32);
  entry.writeUInt32BE(low32(stat?.size ?? 0n), 36);
  Buffer.from(id, "hex").copy(entry, 40);
}
