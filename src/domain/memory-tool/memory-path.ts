/**
 * Paths of the Anthropic memory tool: which texts may be one, and which memory key each stands for.
 * Nothing is resolved or decoded: a path is a key with `/memories/` before it, or it is refused.
 * Invariant: two paths that pass are one file only if their keys are equal after NFC.
 */
import { dotGitIn } from "../note-path.ts";
import { MemoryRefusal, shown } from "./refusal.ts";

export const MEMORY_ROOT = "/memories";

/** A place under `/memories`. */
export interface MemoryPath {
  /** Below `/memories/`, NFC, without a slash at either end; empty for `/memories` itself. */
  readonly key: string;
  /** It was written with a slash at its end, and so names a directory and no file. */
  readonly isDirectory: boolean;
  /** As the caller wrote it, without that slash: how replies name it. */
  readonly text: string;
}

/** Characters of a whole key, as `notes.save` takes them. */
const KEY_MAX_CHARACTERS = 512;
const ENCODED = /%(?:25)*(?:2e|2f|5c|00)/i;

/**
 * Read a path as a model wrote it.
 *
 * @throws MemoryRefusal  it leads outside of `/memories`, or no file can have it
 */
export function parseMemoryPath(given: string): MemoryPath {
  if (given !== MEMORY_ROOT && !given.startsWith(`${MEMORY_ROOT}/`)) {
    throw new MemoryRefusal(`Error: Path must start with ${MEMORY_ROOT}, got: ${shown(given)}`);
  }
  const below = given.slice(MEMORY_ROOT.length + 1).normalize("NFC");
  const key = below.endsWith("/") ? below.slice(0, -1) : below;
  if (key === "" && below !== "/") return { key, isDirectory: true, text: MEMORY_ROOT };
  if (ENCODED.test(key) || key.split(/[/\\]/).includes("..")) {
    throw new MemoryRefusal(`Error: Path ${shown(given)} would escape ${MEMORY_ROOT} directory`);
  }
  const fault = faultOf(key);
  if (fault !== null) throw new MemoryRefusal(`Error: Invalid path ${shown(given)}: it ${fault}`);
  const text = given.endsWith("/") ? given.slice(0, -1) : given;
  return { key, isDirectory: key !== below, text };
}

/** Why a key is no path, in words that follow "it"; null when it is one. */
function faultOf(key: string): string | null {
  if (/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/u.test(key)) return "holds a control character or a line break";
  if (key.includes("\\")) return "holds a backslash; directories are separated by /";
  const segments = key.split("/");
  if (segments.includes("")) return "holds //; name each directory once";
  if (segments.includes(".")) return "holds a . segment; write the path without it";
  if (segments.some((segment) => segment.trim() === "")) return "has a name of blanks alone";
  if (dotGitIn(key) !== null) return "holds a name that Git keeps for itself";
  if (key.startsWith("__")) return "begins with __, and such names are reserved";
  const characters = Array.from(key).length;
  if (characters > KEY_MAX_CHARACTERS)
    return `has ${characters} characters; at most ${KEY_MAX_CHARACTERS} fit`;
  return null;
}

/** What the ids of memories look like, which stand for keys that are no path. */
const ID_NAME = /^mem_[a-z2-7]{20}$/;

/** Nearly every key there is: nothing of it can be refused. */
const PLAIN = /^(?!__)(?:\w[\w.-]*\/)*\w[\w.-]*$/;

/** Whether a memory of this key is the file `/memories/<key>`; other keys are shown by their ids. */
export function isFileName(key: string): boolean {
  if (PLAIN.test(key) && key.length <= KEY_MAX_CHARACTERS) return !ID_NAME.test(key);
  if (key === "" || ID_NAME.test(key) || key.normalize("NFC") !== key) return false;
  return faultOf(key) === null && !ENCODED.test(key) && !key.split("/").includes("..");
}

/**
 * The name under `/memories` that a memory is shown by: its key, or its id where the key is no path
 * (`notes.save` takes keys like `../x` and `a//b`), so that every memory can be seen, changed and renamed.
 */
export function memoryName(key: string, noteId: string): string {
  return isFileName(key) ? key : noteId;
}
