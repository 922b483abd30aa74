/** Finding and reading entries of an index that is taken apart. Names are compared as bytes, as Git sorts them. */
import type { RepoPath } from "../../domain/note.ts";
import type { ObjectId } from "../objects/object-id.ts";
import { HEADER_BYTES, nameStart, type ParsedIndex } from "./index-bytes.ts";

export interface IndexEntry {
  readonly path: RepoPath;
  /** e.g. 0o100644 */
  readonly mode: number;
  readonly id: ObjectId;
  /** 0, or 1 to 3 in a conflict. */
  readonly stage: number;
  /** `git add -N`: no content is staged yet. */
  readonly intentToAdd: boolean;
}

const STAGE_SHIFT = 12;
const INTENT_TO_ADD = 0x2000;

export const startOf = ({ starts }: ParsedIndex, index: number) => starts[index] ?? HEADER_BYTES;

export function nameOf(parsed: ParsedIndex, index: number): Buffer {
  const from = nameStart(parsed.bytes, startOf(parsed, index));
  return parsed.bytes.subarray(from, parsed.bytes.indexOf(0, from));
}

export const compareName = (parsed: ParsedIndex, index: number, key: Buffer) =>
  Buffer.compare(nameOf(parsed, index), key);

export function lowerBound(parsed: ParsedIndex, key: Buffer): number {
  let low = 0;
  for (let high = parsed.starts.length - 1; low < high; ) {
    const middle = (low + high) >>> 1;
    if (compareName(parsed, middle, key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function entryAt(parsed: ParsedIndex, index: number): IndexEntry {
  const { bytes } = parsed;
  const start = startOf(parsed, index);
  const name = nameStart(bytes, start);
  const extended = name - start > 62 ? bytes.readUInt16BE(start + 62) : 0;
  return {
    // Git's index holds clean paths relative to the root.
    path: nameOf(parsed, index).toString("utf8") as RepoPath,
    mode: bytes.readUInt32BE(start + 24),
    id: bytes.toString("hex", start + 40, start + 60),
    stage: (bytes.readUInt16BE(start + 60) >> STAGE_SHIFT) & 3,
    intentToAdd: (extended & INTENT_TO_ADD) !== 0,
  };
}
