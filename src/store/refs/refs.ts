/**
 * Reads refs as files: HEAD, loose refs, packed-refs. All of it synchronous, for it runs under Git's locks.
 * Writing is `local-refs.ts` and the publication itself. The invariant: a ref that is zero-length or not
 * a commit id is an error that names the file, never "no history".
 */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { NotesError } from "../../domain/errors.ts";
import type { CommitId } from "../../domain/note.ts";
import { errnoOf, orAbsent } from "../../lib/durable-file.ts";
import { asStorageError } from "../storage-error.ts";

export type Head =
  | { readonly kind: "branch"; readonly ref: string }
  | { readonly kind: "detached"; readonly id: CommitId };

interface Ref {
  readonly name: string;
  readonly id: CommitId;
}

const MAX_SYMBOLIC_STEPS = 5;
const HEX40 = /^[0-9a-f]{40}$/;

/** Git's rules for a full ref name (git-check-ref-format), so that no name leaves `refs/`. */
export function isRefName(name: string): boolean {
  if (!name.startsWith("refs/") || /[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|\/$|\.$/.test(name)) return false;
  return name.split("/").every((part) => !part.startsWith(".") && !part.endsWith(".lock"));
}

function broken(file: string, what: string): NotesError {
  const advice =
    "Restore it from the reflog or a clone, for example with git update-ref; nothing was changed";
  return new NotesError("STORAGE", `${file} in the Git directory ${what}. ${advice}.`, { path: file });
}

function read(gitdir: string, name: string): string | null {
  try {
    const text = orAbsent(() => readFileSync(join(gitdir, name), "latin1"));
    if (text !== null && text.trim() === "") throw broken(name, "is empty: a crash may have cut it short");
    return text;
  } catch (error) {
    // An empty folder left where a ref of this name once had others below it.
    if (errnoOf(error) === "EISDIR") return null;
    throw asStorageError(error, `reading ${name}`);
  }
}

/** An id, or the name that a symbolic ref points to. */
function parse(file: string, text: string): { readonly id: CommitId } | { readonly ref: string } {
  const value = text.trimEnd();
  // Checked by the expression: 40 hex digits.
  if (HEX40.test(value)) return { id: value as CommitId };
  const symbolic = /^ref:\s*(.+)$/.exec(value)?.[1];
  const ref = symbolic === undefined ? undefined : Buffer.from(symbolic, "latin1").toString("utf8");
  if (ref !== undefined && isRefName(ref)) return { ref };
  throw broken(file, "holds neither a commit id (40 hex digits) nor the name of a ref");
}

/** Where HEAD points. @throws NotesError STORAGE when it is absent, empty or malformed */
export function readHead(gitdir: string): Head {
  const text = read(gitdir, "HEAD");
  if (text === null) throw broken("HEAD", "is missing");
  const value = parse("HEAD", text);
  if ("ref" in value) return { kind: "branch", ref: value.ref };
  // core.preferSymlinkRefs makes HEAD a symbolic link: what was read is the branch's own content.
  const target = linkTarget(join(gitdir, "HEAD"));
  return target !== null && isRefName(target)
    ? { kind: "branch", ref: target }
    : { kind: "detached", id: value.id };
}

function linkTarget(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch (error) {
    if (errnoOf(error) === "EINVAL") return null;
    throw error;
  }
}

function packedText(gitdir: string): string | null {
  const text = read(gitdir, "packed-refs");
  if (text !== null && !text.endsWith("\n")) throw broken("packed-refs", "ends in the middle of a line");
  return text;
}

function packedRef(gitdir: string, name: string): CommitId | null {
  const text = packedText(gitdir);
  if (text === null) return null;
  const at = text.indexOf(` ${Buffer.from(name).toString("latin1")}\n`);
  if (at < 0) return null;
  const id = text.slice(text.lastIndexOf("\n", at) + 1, at);
  if (!HEX40.test(id)) throw broken("packed-refs", `has a malformed line for ${name}`);
  // Checked by the expression: 40 hex digits.
  return id as CommitId;
}

/**
 * The id a ref holds, symbolic refs followed; null when there is no such ref (an unborn branch).
 * @param name full name, e.g. `refs/heads/main`
 * @throws NotesError STORAGE the ref is empty or malformed
 * @cost one file read; a second when the ref is packed
 */
export function readRef(gitdir: string, name: string): CommitId | null {
  let current = name;
  for (let step = 0; step <= MAX_SYMBOLIC_STEPS; step++) {
    if (!isRefName(current)) throw new NotesError("INVALID_PARAMS", `${current} is no full name of a ref`);
    const text = read(gitdir, current);
    // Loose first: git pack-refs writes packed-refs before it removes the loose file.
    if (text === null) return packedRef(gitdir, current);
    const value = parse(current, text);
    if ("id" in value) return value.id;
    current = value.ref;
  }
  throw broken(name, `points to another ref more than ${MAX_SYMBOLIC_STEPS} times`);
}

function looseNames(gitdir: string, folder: string): string[] {
  const entries = orAbsent(() => readdirSync(join(gitdir, folder), { withFileTypes: true })) ?? [];
  return entries.flatMap((entry) => {
    const name = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return looseNames(gitdir, name);
    return isRefName(name) ? [name] : [];
  });
}

/** Refs below a folder of refs (`refs/notesd/conflicts`), loose over packed, ordered by name. */
export function listRefs(gitdir: string, folder: string): Ref[] {
  const found = new Map<string, CommitId>();
  for (const line of (packedText(gitdir) ?? "").split("\n")) {
    if (line === "" || line.startsWith("#") || line.startsWith("^")) continue;
    const id = line.slice(0, 40);
    const name = Buffer.from(line.slice(41), "latin1").toString("utf8");
    if (!HEX40.test(id) || line[40] !== " " || !isRefName(name))
      throw broken("packed-refs", "has a malformed line");
    // Checked by the expression: 40 hex digits.
    if (name.startsWith(`${folder}/`)) found.set(name, id as CommitId);
  }
  for (const name of looseNames(gitdir, folder)) {
    const id = readRef(gitdir, name);
    if (id !== null) found.set(name, id);
  }
  return [...found].map(([name, id]) => ({ name, id })).sort((a, b) => (a.name < b.name ? -1 : 1));
}
