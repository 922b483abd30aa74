/** The name that Git gives an object: SHA-1 over header and bytes, natively computed. */
import { hash } from "node:crypto";

export type ObjectType = "blob" | "tree" | "commit";
/** 40 hex digits of any object. */
export type ObjectId = string;

/** @cost one copy and one SHA-1 of the bytes */
export function hashObject(type: ObjectType, bytes: Uint8Array): ObjectId {
  const header = `${type} ${bytes.length}\0`;
  const whole = Buffer.allocUnsafe(header.length + bytes.length);
  whole.write(header, 0, "latin1");
  whole.set(bytes, header.length);
  return hash("sha1", whole, "hex");
}
