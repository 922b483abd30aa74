/** Ids of Git objects: SHA-1 over header and bytes, natively computed. What the bytes mean is for their readers. */
import { hash } from "node:crypto";
import type { BlobId, CommitId } from "../domain/note.ts";

export type ObjectType = "blob" | "tree" | "commit";
/** 40 hex digits of any object. BlobId and CommitId are such ids. */
export type ObjectId = string;

/** @cost one copy and one SHA-1 of the bytes */
export function hashObject(type: ObjectType, bytes: Uint8Array): ObjectId {
  const header = `${type} ${bytes.length}\0`;
  const whole = Buffer.allocUnsafe(header.length + bytes.length);
  whole.write(header, 0, "latin1");
  whole.set(bytes, header.length);
  return hash("sha1", whole, "hex");
}

// The two brands are given here and nowhere else: these bytes are that object.
export const blobId = (bytes: Uint8Array) => hashObject("blob", bytes) as BlobId;
export const commitId = (bytes: Uint8Array) => hashObject("commit", bytes) as CommitId;
