/**
 * One Git tree in memory as its own bytes, with sorted keys over them: an edit moves bytes, it never
 * serializes the tree again, so every other entry stays as it was. Nesting is `trees.ts`.
 * Names are latin1 strings of their raw bytes, so that string order is Git's byte order.
 */
import type { ObjectId } from "../objects/object-id.ts";

export interface TreeEntry {
  /** As written: `100644`, `100755`, `120000`, `40000`, `160000`. */
  readonly mode: string;
  readonly id: ObjectId;
}

/** What was replaced since `markWritten`: everything before and after is as it was. */
interface TreeEdit {
  readonly at: number;
  readonly removed: number;
  readonly inserted: Uint8Array;
}

export interface TreeNode {
  readonly count: number;
  readonly length: number;
  get(name: string): TreeEntry | null;
  /** Add or replace. The caller has made sure that no folder and file share the name. */
  put(name: string, entry: TreeEntry): void;
  remove(name: string): void;
  entries(): { readonly name: string; readonly mode: string; readonly id: ObjectId }[];
  /** A copy of the bytes. */
  bytes(): Buffer;
  /** The one range that covers all edits since `markWritten`. */
  edit(): TreeEdit;
  markWritten(): void;
}

/** Some old tools wrote `040000`. */
export const isFolder = (mode: string) => mode === "40000" || mode === "040000";

/** Git sorts a folder as if its name ended in a slash. */
const keyOf = (name: string, mode: string) => (isFolder(mode) ? `${name}/` : name);

/** @throws Error when the bytes are no tree */
export function treeNode(source: Uint8Array): TreeNode {
  let buffer = Buffer.from(source);
  let length = buffer.length;
  const keys: string[] = [];
  const starts: number[] = [];
  let writtenLength = length;
  let prefix = length;
  let suffix = length;

  for (let at = 0; at < length; ) {
    const blank = buffer.indexOf(0x20, at);
    const end = blank < 0 ? -1 : buffer.indexOf(0, blank);
    if (end < 0 || end + 21 > length) throw new Error("a tree is malformed");
    keys.push(keyOf(buffer.toString("latin1", blank + 1, end), buffer.toString("latin1", at, blank)));
    starts.push(at);
    at = end + 21;
  }

  const lowerBound = (key: string) => {
    let low = 0;
    for (let high = keys.length; low < high; ) {
      const middle = (low + high) >>> 1;
      if ((keys[middle] ?? "") < key) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const find = (name: string) => {
    for (const key of [name, `${name}/`]) {
      const index = lowerBound(key);
      if (keys[index] === key) return index;
    }
    return -1;
  };
  const startOf = (index: number) => starts[index] ?? length;
  const entryAt = (index: number): TreeEntry => {
    const from = startOf(index);
    const to = startOf(index + 1);
    const mode = buffer.toString("latin1", from, buffer.indexOf(0x20, from));
    return { mode, id: buffer.toString("hex", to - 20, to) };
  };

  /** Replace `removed` bytes at `at`; the starts of later entries move along. */
  const splice = (at: number, removed: number, inserted: Uint8Array) => {
    const grown = length - removed + inserted.length;
    if (grown > buffer.length) {
      const larger = Buffer.allocUnsafe(grown * 2);
      buffer.copy(larger, 0, 0, length);
      buffer = larger;
    }
    buffer.copyWithin(at + inserted.length, at + removed, length);
    buffer.set(inserted, at);
    length = grown;
    prefix = Math.min(prefix, at);
    suffix = Math.min(suffix, length - at - inserted.length);
  };
  const shiftStarts = (from: number, by: number) => {
    for (let index = from; index < starts.length; index++) starts[index] = startOf(index) + by;
  };

  const removeAt = (index: number) => {
    const from = startOf(index);
    const size = startOf(index + 1) - from;
    keys.splice(index, 1);
    starts.splice(index, 1);
    splice(from, size, Buffer.alloc(0));
    shiftStarts(index, -size);
  };

  return {
    get count() {
      return keys.length;
    },
    get length() {
      return length;
    },
    get(name) {
      const index = find(name);
      return index < 0 ? null : entryAt(index);
    },
    put(name, { mode, id }) {
      const found = find(name);
      if (found >= 0 && entryAt(found).mode === mode) {
        splice(startOf(found + 1) - 20, 20, Buffer.from(id, "hex"));
        return;
      }
      if (found >= 0) removeAt(found);
      const bytes = Buffer.concat([Buffer.from(`${mode} ${name}\0`, "latin1"), Buffer.from(id, "hex")]);
      const index = lowerBound(keyOf(name, mode));
      const at = startOf(index);
      splice(at, 0, bytes);
      shiftStarts(index, bytes.length);
      keys.splice(index, 0, keyOf(name, mode));
      starts.splice(index, 0, at);
    },
    remove(name) {
      const index = find(name);
      if (index >= 0) removeAt(index);
    },
    entries: () =>
      keys.map((key, index) => ({ name: key.endsWith("/") ? key.slice(0, -1) : key, ...entryAt(index) })),
    bytes: () => Buffer.from(buffer.subarray(0, length)),
    edit: () => ({
      at: prefix,
      removed: writtenLength - prefix - suffix,
      inserted: Buffer.from(buffer.subarray(prefix, length - suffix)),
    }),
    markWritten() {
      writtenLength = length;
      prefix = length;
      suffix = length;
    },
  };
}
