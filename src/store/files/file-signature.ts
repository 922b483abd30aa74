/**
 * The identity of one state of one file: inode, size, times. Equal signatures of a file that was old enough
 * when it was read mean equal bytes; content is never compared by time alone.
 */
import { type BigIntStats, lstatSync } from "node:fs";
import { orAbsent } from "../../lib/durable-file.ts";

/** A file younger than this when it was read may change again within the same tick of its clock. */
const YOUNG_MS = 2_000;

/** As decimal text, so that nothing is lost in JSON. */
export interface FileSignature {
  readonly ino: string;
  readonly size: string;
  readonly mtimeNs: string;
  readonly ctimeNs: string;
}

/** Take a file's signature from what was seen of it. */
export function signatureOf(stat: BigIntStats): FileSignature {
  return {
    ino: String(stat.ino),
    size: String(stat.size),
    mtimeNs: String(stat.mtimeNs),
    ctimeNs: String(stat.ctimeNs),
  };
}

/** `ino:size:mtime ns:ctime ns` */
export function signatureText({ ino, size, mtimeNs, ctimeNs }: FileSignature): string {
  return `${ino}:${size}:${mtimeNs}:${ctimeNs}`;
}

/** The file as it is now, links not followed; null when there is none, which is told without the cost of an exception. */
export function lstatNow(path: string): BigIntStats | null {
  return orAbsent(() => lstatSync(path, { bigint: true, throwIfNoEntry: false }) ?? null);
}

/** Whether no file stands at a path: nothing at all, or a folder, which is where Git too finds no file. */
export const isVacant = (stat: BigIntStats | null) => stat === null || stat.isDirectory();

/** Whether a signature taken now can be trusted later. */
export function isSettled(stat: BigIntStats, nowMs: number): boolean {
  return [stat.mtimeNs, stat.ctimeNs].every((ns) => nowMs - Number(ns / 1_000_000n) >= YOUNG_MS);
}

/** The same bytes in the same inode, though it was linked or renamed in between (these change ctime). */
export function sameContent(a: FileSignature, b: FileSignature): boolean {
  return a.ino === b.ino && a.size === b.size && a.mtimeNs === b.mtimeNs;
}
