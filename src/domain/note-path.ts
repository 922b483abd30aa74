/**
 * Paths of notes: which texts may be a path at all, which files are notes, and where new notes and
 * memories lie. Counts of folders come in as a function; nothing here looks at a disk.
 * Invariant: no path that leaves here escapes the repository or is `.git` to Git, HFS+ or NTFS.
 */
import { NotesError } from "./errors.ts";
import { foldAgentName, type MemoryKey, shortHash } from "./identity.ts";
import type { NoteId, RepoPath, Scope } from "./note.ts";

const PATH_MAX_BYTES = 1024;
const SEGMENT_MAX_BYTES = 255;
/** Code points that HFS+ ignores in names: with them removed, `.g\u200cit` is `.git`. */
const HFS_IGNORED = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/** Whether a path segment is `.git` to Git, HFS+ or NTFS: any case, `git~1`, trailing dots, streams. */
function isGitSegment(segment: string): boolean {
  const bare = segment
    .replace(HFS_IGNORED, "")
    .toLowerCase()
    .replace(/:.*$/s, "")
    .replace(/[. ]+$/, "");
  return bare === ".git" || /^git~\d+$/.test(bare);
}

/** The first segment of a path that is Git's own folder somewhere; null: none is. Separators are those of every system. */
export function dotGitIn(path: string): string | null {
  return path.split(/[/\\]/).find(isGitSegment) ?? null;
}

/** Nearly every path there is: no segment of these can be Git's, hidden or anything but itself. */
const PLAIN = /^(?:\w[\w.-]*\/)*\w[\w.-]*$/;

/** Why a text can't be a path in the repository; null when it can. */
function faultOf(path: string): string | null {
  if (path.length <= SEGMENT_MAX_BYTES && PLAIN.test(path)) return null;
  if (path === "") return "is empty";
  if (Buffer.byteLength(path) > PATH_MAX_BYTES) return `is longer than ${PATH_MAX_BYTES} bytes`;
  if (/[\p{Cc}\p{Cs}]/u.test(path)) return "holds a control character or half a character";
  if (path.includes("\\")) return "holds a backslash; folders are separated by /";
  for (const segment of path.split("/")) {
    if (segment === "") return "starts or ends with / or holds //; it is relative to the repository root";
    if (segment === "." || segment === "..") return "holds a . or .. segment";
    if (isGitSegment(segment)) return `holds ${JSON.stringify(segment)}, which is Git's own folder`;
    if (Buffer.byteLength(segment) > SEGMENT_MAX_BYTES)
      return `has a name longer than ${SEGMENT_MAX_BYTES} bytes`;
  }
  return null;
}

/** The path if a text may be one in the repository, else null. Bytes stay as they are (no normalisation). */
export function repoPath(text: string): RepoPath | null {
  // The brand says that no fault was found.
  return faultOf(text) === null ? (text as RepoPath) : null;
}

/**
 * A path that a caller gave, in NFC.
 * @throws NotesError INVALID_PARAMS  it escapes the repository, is Git's, or no file could have it
 */
export function parseRepoPath(text: string, parameter = "path"): RepoPath {
  const path = text.normalize("NFC");
  const fault = faultOf(path);
  if (fault !== null) {
    throw new NotesError(
      "INVALID_PARAMS",
      `The path ${JSON.stringify(text)} ${fault}. Give a path like notes/work.`,
      {
        issues: [{ path: parameter, message: fault }],
      },
    );
  }
  return path as RepoPath;
}

/**
 * The folder of `notes.create`, which lies inside a root and outside of what is never a note.
 * @throws NotesError INVALID_PARAMS  not a path, notes in it would not be seen, or its files are memory
 */
export function parseFolder(text: string, roots: readonly string[]): RepoPath {
  const folder = parseRepoPath(text.replace(/\/$/, ""), "folder");
  // All of it: a folder where a memory's file would lie is in the way of that memory.
  if (folder === "memory" || folder.startsWith("memory/")) {
    const message = `the folder ${JSON.stringify(folder)} is memory's, where a file is what its path says`;
    throw new NotesError(
      "INVALID_PARAMS",
      `No note is made there: ${message}. Use notes.save, or another folder.`,
      {
        issues: [{ path: "folder", message }],
      },
    );
  }
  if (!isNotePath(`${folder}/x.md`, roots)) {
    const message = `the folder ${JSON.stringify(folder)} is outside of the roots (${roots.join(", ")}), or hidden`;
    throw new NotesError(
      "INVALID_PARAMS",
      `Notes would not be seen there: ${message}. Choose a folder inside.`,
      {
        issues: [{ path: "folder", message }],
      },
    );
  }
  return folder;
}

/**
 * Whether a path is a note file: `*.md` under a root, outside dot folders and node_modules, no editor
 * litter (hidden files, `~$x.md`).
 * @param roots  folders relative to the repository root; `.` is the whole tree
 */
export function isNotePath(path: string, roots: readonly string[]): path is RepoPath {
  if (!path.endsWith(".md") || faultOf(path) !== null) return false;
  for (const root of roots) {
    const folder = root === "." ? "" : `${root.replace(/^\.\/|\/+$/g, "")}/`;
    if (path.startsWith(folder) && isSeen(path.slice(folder.length))) return true;
  }
  return false;
}

/** Whether a folder lies under a root, or leads to one; the empty text is the top of the tree. */
export function mayHoldNotes(folder: string, roots: readonly string[]): boolean {
  if (folder === "" || roots.some((root) => root === folder || root.startsWith(`${folder}/`))) return true;
  return isNotePath(`${folder}/x.md`, roots);
}

/** A hidden folder or file, node_modules, or what an office program leaves beside an open file. */
const UNSEEN = /(?:^|\/)(?:\.|node_modules(?:\/|$)|~\$[^/]*$)/;

const isSeen = (below: string) => !UNSEEN.test(below);

/** Notes that a day's folder takes before the next one (DD.2, DD.3, …) is begun. */
const FOLDER_FULL_NOTES = 128;

/** The last number from 1 on that is in use, where 1 to the last are; 1 when none is. @cost logarithmic */
function highest(isUsed: (n: number) => boolean): number {
  let used = 1;
  let free = 2;
  for (; isUsed(free); free *= 2) used = free;
  while (free - used > 1) {
    const middle = Math.floor((used + free) / 2);
    if (isUsed(middle)) used = middle;
    else free = middle;
  }
  return used;
}

/**
 * The folder of a typed note: by day of creation, UTC.
 * @param count  how many notes a folder directly holds in the tree being built
 */
export function dayFolder(createdMs: number, count: (folder: string) => number): RepoPath {
  const day = `notes/${new Date(createdMs).toISOString().slice(0, 10).replaceAll("-", "/")}`;
  const nth = (n: number) => (n === 1 ? day : `${day}.${n}`);
  const n = highest((number) => count(nth(number)) > 0);
  // Made of digits and slashes alone.
  return nth(count(nth(n)) >= FOLDER_FULL_NOTES ? n + 1 : n) as RepoPath;
}

const SLUG_MAX_CHARS = 60;

/** A new note's path in its folder: `<id>.md`, or `<id>-<words of the title>.md`. */
export function newNotePath(
  folder: RepoPath,
  id: NoteId,
  title: string,
  filenames: "id" | "id-slug",
): RepoPath {
  const words =
    title
      .normalize("NFC")
      .toLowerCase()
      .match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  const slug = Array.from(words.join("-")).slice(0, SLUG_MAX_CHARS).join("").replace(/-+$/, "");
  // Folder and id are checked; a slug has only letters, digits and hyphens.
  return `${folder}/${id}${filenames === "id" || slug === "" ? "" : `-${slug}`}.md` as RepoPath;
}

const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/;
const SEGMENT_LONGEST = 120;
const SEGMENT_KEPT = 80;

/**
 * One path segment for any text (a key, a ref, an agent's name): other bytes than `a-z 0-9 . -` become
 * `_hh`. Different texts get different segments; the result is safe on every file system.
 * @see spec: storage, section 1
 */
export function escapeSegment(text: string): string {
  const bytes = Buffer.from(text.normalize("NFC"), "utf8");
  const units = Array.from(bytes, (byte, i) => {
    const inner = i > 0 && i < bytes.length - 1;
    const char = String.fromCharCode(byte);
    return /[a-z0-9]/.test(char) || (inner && /[.-]/.test(char)) ? char : hex(byte);
  });
  if (DEVICE.test(units.join(""))) units[0] = hex(bytes[0] ?? 0);
  if (units.join("").endsWith(".lock")) units[units.length - 5] = hex(0x2e);
  const whole = units.join("");
  if (whole.length <= SEGMENT_LONGEST) return whole;
  let kept = "";
  for (const unit of units) {
    if (kept.length + unit.length > SEGMENT_KEPT) break;
    kept += unit;
  }
  return `${kept}_x${shortHash(text.normalize("NFC"), 20)}`;
}

const hex = (byte: number) => `_${byte.toString(16).padStart(2, "0")}`;

/** Where a memory lies. The path is its identity for `notes.save`, so Git itself sees a twin. */
export function memoryPath(memory: MemoryKey): RepoPath {
  const key = `${escapeSegment(memory.key)}.md`;
  // Every segment is escaped.
  if (memory.scope === "workspace") return `memory/workspace/${key}` as RepoPath;
  const agent = escapeSegment(foldAgentName(memory.agent ?? ""));
  if (memory.scope === "agent") return `memory/agents/${agent}/${key}` as RepoPath;
  const folder = memory.scope === "thread" ? "threads" : "people";
  return `memory/${folder}/${escapeSegment(memory.ref ?? "")}/${agent}/${key}` as RepoPath;
}

/** The text that a segment stands for; null when it was cut, or is none of ours. */
export function unescapeSegment(segment: string): string | null {
  if (!/^(?:[a-z0-9.-]|_[0-9a-f]{2})+$/.test(segment)) return null;
  const bytes = segment.replace(/_([0-9a-f]{2})/g, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  const text = Buffer.from(bytes, "latin1").toString("utf8");
  return escapeSegment(text) === segment ? text : null;
}

/** Segments that name the memory at a path; null for paths that are none. */
interface MemorySegments {
  readonly scope: Scope;
  readonly ref: string | null;
  readonly agent: string | null;
  readonly key: string;
}

/** Take a memory's path apart, still escaped. */
export function memorySegments(path: string): MemorySegments | null {
  const [root, kind, ...rest] = path.replace(/\.md$/, "").split("/");
  if (root !== "memory") return null;
  const [a, b, c] = rest;
  if (kind === "workspace" && rest.length === 1 && a !== undefined) {
    return { scope: "workspace", ref: null, agent: null, key: a };
  }
  if (kind === "agents" && rest.length === 2 && a !== undefined && b !== undefined) {
    return { scope: "agent", ref: null, agent: a, key: b };
  }
  if (
    (kind === "threads" || kind === "people") &&
    rest.length === 3 &&
    a !== undefined &&
    b !== undefined &&
    c !== undefined
  ) {
    return { scope: kind === "threads" ? "thread" : "person", ref: a, agent: b, key: c };
  }
  return null;
}
