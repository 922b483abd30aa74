/**
 * One look at one working file: what kind it is and which bytes it holds, links never followed. What isn't a
 * plain file of a person's own is unfit and is never committed by us.
 */
import { isUtf8 } from "node:buffer";
import {
  accessSync,
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
} from "node:fs";
import type { BlobId, RepoPath } from "../../domain/note.ts";
import { errnoOf, orAbsent } from "../../lib/durable-file.ts";
import { blobId } from "../objects/object-id.ts";
import { isSettled, lstatNow, signatureOf, signatureText } from "./file-signature.ts";

export type Look =
  | {
      readonly kind: "file";
      readonly stat: BigIntStats;
      readonly blob: BlobId;
      /** Null when the bytes were known by their signature and not read. */
      readonly bytes: Buffer | null;
      /** The signature may be trusted at the next look. */
      readonly settled: boolean;
    }
  | { readonly kind: "absent" }
  | { readonly kind: "unfit"; readonly reason: string };

/** The blob that lies there, null for nothing, undefined for what is no plain file. */
export function diskBlob(look: Look): BlobId | null | undefined {
  if (look.kind === "file") return look.blob;
  return look.kind === "absent" ? null : undefined;
}

/** Whether the person made this file executable. Only asked where Git looks at that (`core.fileMode`). */
export function isExecutable(look: Look): boolean {
  return look.kind === "file" && (look.stat.mode & 0o100n) !== 0n;
}

/** What an earlier look learnt of a file. */
export interface Known {
  readonly signature: string;
  readonly blob: BlobId;
}

export interface LookRules {
  readonly root: string;
  /** Larger files are unfit. */
  readonly maxBytes: number;
  /** Whether an inode is a file that we prepared and that an open intent still links. */
  readonly isPrepared: (ino: string) => boolean;
  /** The file system's time. */
  readonly nowMs: () => number;
  /** What is no UTF-8 text is a file too: for those that are compared and never adopted. */
  readonly anyBytes?: boolean;
}

const ABSENT: Look = { kind: "absent" };
const unfit = (reason: string): Look => ({ kind: "unfit", reason });

/**
 * Look at a path.
 *
 * @param known what may be believed without reading, when the signature is the same
 * @throws Node errors other than absence and missing permission (EIO)
 * @cost one lstat; one read and SHA-1 when the signature changed or the file is young
 */
export function lookAt(rules: LookRules, path: RepoPath, known: Known | null, plain?: PlainFolders): Look {
  if (behindLink(rules.root, path, plain)) return unfit("lies behind a symbolic link");
  // Not `join`, which takes apart what is plain already: this is asked for every file of a group.
  const file = `${rules.root}/${path}`;
  const stat = permitted(() => lstatNow(file));
  if (stat === FORBIDDEN) return unfit(FORBIDDEN);
  if (stat === null) return ABSENT;
  // As Git sees it: where a folder stands, the file is gone.
  if (stat.isDirectory()) return isReadable(file) ? ABSENT : unfit(FORBIDDEN);
  const why = reasonAgainst(rules, stat);
  if (why !== null) return unfit(why);
  const settled = isSettled(stat, rules.nowMs());
  if (settled && known !== null && known.signature === signatureText(signatureOf(stat))) {
    return { kind: "file", stat, blob: known.blob, bytes: null, settled };
  }
  return readPlain(rules, file);
}

function reasonAgainst({ maxBytes, isPrepared }: LookRules, stat: BigIntStats): string | null {
  if (stat.isSymbolicLink()) return "is a symbolic link";
  if (!stat.isFile()) return "is no regular file";
  if (stat.size > BigInt(maxBytes)) return `is larger than ${maxBytes} bytes`;
  if (stat.nlink > 1n && !(stat.nlink === 2n && isPrepared(String(stat.ino)))) return "has hard links";
  return null;
}

const FORBIDDEN = "can't be read: permission was denied";

const isForbidden = (error: unknown) => errnoOf(error) === "EACCES" || errnoOf(error) === "EPERM";

/** One file that may not be read stops no look at another. */
function permitted<T>(look: () => T): T | typeof FORBIDDEN {
  try {
    return look();
  } catch (error) {
    if (isForbidden(error)) return FORBIDDEN;
    throw error;
  }
}

/** Whether a folder's names can be read. */
function isReadable(folder: string): boolean {
  return permitted(() => orAbsent(() => accessSync(folder, constants.R_OK | constants.X_OK))) !== FORBIDDEN;
}

/** Read through a handle that follows no link and blocks on no FIFO, and look at what was opened. */
function readPlain(rules: LookRules, file: string): Look {
  let fd: number;
  try {
    fd = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const code = errnoOf(error);
    if (code === "ENOENT" || code === "ENOTDIR") return ABSENT;
    if (code === "ELOOP") return unfit("is a symbolic link");
    if (isForbidden(error)) return unfit(FORBIDDEN);
    throw error;
  }
  try {
    const stat = fstatSync(fd, { bigint: true });
    const why = reasonAgainst(rules, stat);
    if (why !== null) return unfit(why);
    const bytes = readFileSync(fd);
    if (rules.anyBytes !== true && !isUtf8(bytes)) return unfit("is not UTF-8 text");
    const after = fstatSync(fd, { bigint: true });
    // Written while it was read: the bytes may be a mixture, the next look reads them again.
    const stable = signatureText(signatureOf(after)) === signatureText(signatureOf(stat));
    const settled = stable && isSettled(after, rules.nowMs());
    return { kind: "file", stat: after, blob: blobId(bytes), bytes, settled };
  } finally {
    closeSync(fd);
  }
}

/**
 * Folders found to be no links during one stretch without a turn of the loop, so that the many files of a folder
 * ask for it once. A new stretch begins with an empty one.
 */
export type PlainFolders = Set<string>;

/** Whether any folder between the root and the file is a symbolic link. @cost one lstat for each folder not known as plain */
export function behindLink(root: string, path: string, plain?: PlainFolders): boolean {
  for (let slash = path.indexOf("/"); slash > 0; slash = path.indexOf("/", slash + 1)) {
    const folder = path.slice(0, slash);
    if (plain?.has(folder)) continue;
    const stat = permitted(() =>
      orAbsent(() => lstatSync(`${root}/${folder}`, { throwIfNoEntry: false }) ?? null),
    );
    // What lies below can't be looked at either, and says so.
    if (stat === null || stat === FORBIDDEN) return false;
    if (stat.isSymbolicLink()) return true;
    if (stat.isDirectory()) plain?.add(folder);
  }
  return false;
}
