/** The name that Git gives an object: SHA-1 over header and bytes, natively computed. */
import { hash } from "node:crypto";

export type ObjectType = "blob" | "tree" | "commit";
/** 40 hex digits of any object. */
export type ObjectId = string;

/** Where header and bytes are put together; larger objects get room of their own. */
const room = Buffer.alloc(64 << 10);

/** @cost one copy and one SHA-1 of the bytes */
export function hashObject(type: ObjectType, bytes: Uint8Array): ObjectId {
  const header = `${type} ${bytes.length}\0`;
  const length = header.length + bytes.length;
  const whole = length <= room.length ? room.subarray(0, length) : Buffer.allocUnsafe(length);
  whole.write(header, 0, "latin1");
  whole.set(bytes, header.length);
  return hash("sha1", whole, "hex");
}
