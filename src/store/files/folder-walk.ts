/**
 * A walk over the folders that may hold notes, which tells of a folder only when something in it changed: one
 * digest of names and signatures stands for all of its files. It runs in a thread of its own or in slices, and
 * reads no file. Invariant: a folder whose digest is remembered held nothing that a later look must not believe.
 */
import { createHash } from "node:crypto";
import { type BigIntStats, type Dirent, lstatSync, readdirSync } from "node:fs";
import type { RepoPath } from "../../domain/note.ts";
import { errnoOf, orAbsent } from "../../lib/durable-file.ts";
import { asStorageError } from "../storage-error.ts";
import type { PathFilter } from "../trees/tree-diff.ts";
import { behindLink } from "./disk-look.ts";
import { isSettled, signatureOf, signatureText } from "./file-signature.ts";

export interface WalkRules {
  readonly root: string;
  /** Relative folders; `.` or the empty text is the root itself; absent ones hold nothing. */
  readonly folders: readonly string[];
  readonly notes: PathFilter;
  /** Larger files must be looked at to be reported. */
  readonly maxBytes: number;
  readonly nowMs: () => number;
}

/** Some of the notes that lie in one changed folder. */
export interface WalkedPart {
  readonly folder: string;
  readonly names: readonly string[];
  /** One a name, as `signatureText`; empty where the file must be looked at whatever is known of it. */
  readonly signatures: readonly string[];
  /** With the folder's last part; null: it may not be remembered, so that the next walk tells of it again. */
  readonly digest?: string | null;
}

/** A part of a folder of many files; also how many files pass between two steps of a walk. */
const PART_FILES = 256;

/** One step of a walk. */
interface Step {
  /** Notes that were met. */
  readonly files: number;
  /** What is to be told; null: nothing. */
  readonly part: WalkedPart | null;
}

/**
 * Walk, step by step.
 *
 * @param known digests of folders by path; visited ones are taken out, so what is left at the end is gone
 * @throws NotesError STORAGE a folder or a file's status can't be read
 * @cost one readdir a folder, one lstat a note
 */
export function* walkFolders(rules: WalkRules, known: Map<string, string>): Generator<Step> {
  const { root, notes } = rules;
  const waiting = rules.folders
    .map((f) => f.replace(/^\.?\/?|\/+$/g, ""))
    .filter((f) => !behindLink(root, `${f}/x`));
  const seen = new Set<string>();
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    if (seen.has(folder)) continue;
    seen.add(folder);
    const entries = entriesOf(folder === "" ? root : `${root}/${folder}`);
    const before = known.get(folder) ?? null;
    known.delete(folder);
    if (entries === null) {
      // The folder itself stands for what can't be seen in it, so that it is reported.
      yield { files: 1, part: { folder: "", names: [folder], signatures: [""] } };
      yield { files: 0, part: { folder, names: [], signatures: [], digest: null } };
      continue;
    }
    const names: string[] = [];
    const below = folder === "" ? "" : `${folder}/`;
    for (const entry of entries) {
      if (!entry.isDirectory()) {
        if (notes.file(`${below}${entry.name}` as RepoPath)) names.push(entry.name);
      } else if (notes.folder(below + entry.name)) waiting.push(below + entry.name);
    }
    if (names.length > 0 || before !== null) yield* walkFiles(rules, below, names, before);
    else yield { files: 0, part: null };
  }
}

/** Look at the status of each note of one folder. */
function* walkFiles(
  rules: WalkRules,
  below: string,
  names: readonly string[],
  before: string | null,
): Generator<Step> {
  const found: string[] = [];
  const stats: BigIntStats[] = [];
  let believable = true;
  for (const [i, name] of names.entries()) {
    const stat = statusOf(`${rules.root}/${below}${name}`);
    // Gone since its folder was read: the next walk sees other names.
    if (stat === null) continue;
    if (stat === undefined || !isSettled(stat, rules.nowMs())) believable = false;
    found.push(name);
    if (stat !== undefined) stats.push(stat);
    if (i % PART_FILES === PART_FILES - 1) yield { files: PART_FILES, part: null };
  }
  const rest = { files: names.length % PART_FILES, part: null };
  const folder = below.slice(0, -1);
  const digest = believable ? digestOf(found, stats) : null;
  yield rest;
  if (digest !== null && digest === before) return;
  // Where one could not be seen the others are not told from it: all are looked at.
  const whole = stats.length === found.length;
  for (let start = 0; ; start += PART_FILES) {
    const end = start + PART_FILES;
    const some = found.slice(start, end);
    const signatures = some.map((_, i) => trusted(rules, whole ? stats[start + i] : undefined));
    const part = { folder, names: some, signatures };
    if (end >= found.length) {
      yield { files: 0, part: { ...part, digest } };
      return;
    }
    yield { files: 0, part };
  }
}

/** The signature under which a file may be believed unread; empty when it must be looked at. */
function trusted({ maxBytes, nowMs }: WalkRules, stat: BigIntStats | undefined): string {
  const plain = stat?.isFile() && stat.nlink === 1n && stat.size <= BigInt(maxBytes);
  return stat !== undefined && plain && isSettled(stat, nowMs()) ? signatureText(signatureOf(stat)) : "";
}

function digestOf(names: readonly string[], stats: readonly BigIntStats[]): string {
  const numbers = new BigInt64Array(4 * stats.length);
  for (const [i, { ino, size, mtimeNs, ctimeNs }] of stats.entries()) {
    numbers.set([ino, size, mtimeNs, ctimeNs], 4 * i);
  }
  return createHash("sha1").update(names.join("/")).update(numbers).digest("base64");
}

/** Null: no such file; undefined: we may not see it. */
function statusOf(file: string): BigIntStats | null | undefined {
  try {
    return orAbsent(() => lstatSync(file, { bigint: true }));
  } catch (error) {
    if (isForbidden(error)) return undefined;
    throw asStorageError(error, `looking at ${file}`);
  }
}

/** Null: a folder that we may not read. */
function entriesOf(folder: string): Dirent[] | null {
  try {
    return orAbsent(() => readdirSync(folder, { withFileTypes: true })) ?? [];
  } catch (error) {
    if (isForbidden(error)) return null;
    throw asStorageError(error, `reading the folder ${folder}`);
  }
}

const isForbidden = (error: unknown) => errnoOf(error) === "EACCES" || errnoOf(error) === "EPERM";
