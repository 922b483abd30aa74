/**
 * Who and what things are: note ids, memory ids, ids of files without one, agent names and their numbers,
 * and the keyed name of a remembered request. All pure; clock and random bytes come in as parameters.
 * Invariant: the same scope, ref, agent and key give the same id on every machine and in every version.
 */
import { createHash, createHmac } from "node:crypto";
import { hashObject } from "../lib/git-object.ts";
import { caseFold } from "../lib/text.ts";
import { NotesError } from "./errors.ts";
import type { BlobId, NoteId, RepoPath, Scope } from "./note.ts";
import type { Principal } from "./principal.ts";

const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";

/** Base32 of RFC 4648 in lower case, without padding. */
export function base32(bytes: Uint8Array): string {
  let text = "";
  let bits = 0;
  let held = 0;
  for (const byte of bytes) {
    held = ((held << 8) | byte) & 0xffff;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += ALPHABET[(held >>> bits) & 31];
    }
  }
  if (bits > 0) text += ALPHABET[(held << (5 - bits)) & 31];
  return text;
}

/** The first `length` characters of base32(SHA-256(UTF-8 text)). */
export function shortHash(text: string, length: number): string {
  return base32(createHash("sha256").update(text, "utf8").digest()).slice(0, length);
}

/** The name of a person's mark of reviews, by their address. @see spec: storage, section 6 */
export const markName = (email: string): string => shortHash(email, 16);

/** The Git blob id of a file's bytes, which is its revision. @cost one SHA-1 */
export const blobIdOf = (bytes: Uint8Array): BlobId =>
  // The brand is given here and nowhere else: these bytes are that blob.
  hashObject("blob", bytes) as BlobId;

const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** The id if a text may serve as one (in a file or as a parameter), else null. */
export function parseNoteId(text: string): NoteId | null {
  // The brand says that the pattern held; there is no other way to make one.
  return ID.test(text) ? (text as NoteId) : null;
}

/**
 * A new id, `note_YYYYMMDD_HHMMSS_xxxxxx` (UTC; six of a-z2-7).
 *
 * @param nowMs  milliseconds since the epoch; a clock set back is harmless, `taken` decides
 * @param randomBytes  returns that many random bytes; asked for 4
 * @param taken  whether an id was ever given, also to a note that is deleted by now
 */
export function newNoteId(
  nowMs: number,
  randomBytes: (count: number) => Uint8Array,
  taken: (id: string) => boolean,
): NoteId {
  const [date = "", time = ""] = new Date(nowMs)
    .toISOString()
    .slice(0, 19)
    .replaceAll(/[-:]/g, "")
    .split("T");
  const random = randomBytes(4);
  let suffix =
    (random[0] ?? 0) | ((random[1] ?? 0) << 8) | ((random[2] ?? 0) << 16) | ((random[3] ?? 0) << 24);
  for (;;) {
    let six = "";
    for (let shift = 25; shift >= 0; shift -= 5) six += ALPHABET[(suffix >>> shift) & 31];
    const id = `note_${date}_${time}_${six}`;
    // Matches the pattern of ids by construction.
    if (!taken(id)) return id as NoteId;
    suffix += 1;
  }
}

/** What names one memory: `notes.save` of the same four is an update. */
export interface MemoryKey {
  readonly scope: Scope;
  /** Null for scopes without one. */
  readonly ref: string | null;
  /** The agent's name; null for workspace memory. */
  readonly agent: string | null;
  readonly key: string;
}

/** `mem_<20>` of a memory, from its four names alone (NFC, agent folded). */
export function memoryId({ scope, ref, agent, key }: MemoryKey): NoteId {
  const owner = agent === null || scope === "workspace" ? "" : foldAgentName(agent);
  const named = JSON.stringify([scope, (ref ?? "").normalize("NFC"), owner, key.normalize("NFC")]);
  // Matches the pattern of ids by construction.
  return `mem_${shortHash(named, 20)}` as NoteId;
}

/**
 * `f_<16>` of a file without an id of its own.
 * @param taken  whether an id is another note's already: then 2, 3, … is hashed with the path, in commit order
 */
export function fileId(path: RepoPath, taken: (id: string) => boolean): NoteId {
  const nfc = path.normalize("NFC");
  for (let nth = 1; ; nth++) {
    const id = `f_${shortHash(nth === 1 ? nfc : `${nfc}\0${nth}`, 16)}`;
    // Matches the pattern of ids by construction.
    if (!taken(id)) return id as NoteId;
  }
}

/** The identity of an agent's name: NFC, NFKC, full case fold. Equal folds are one agent. */
export function foldAgentName(name: string): string {
  return caseFold(name.normalize("NFC").normalize("NFKC"));
}

/** FNV-1a 32 over the UTF-8 of the folded name, 31 bits, never 0: the same on every machine. */
export function agentIdOf(name: string): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(foldAgentName(name))) {
    hash = Math.imul(hash ^ byte, 0x01000193);
  }
  return (hash & 0x7fffffff) === 0 ? 1 : hash & 0x7fffffff;
}

const NAME_MAX_CHARS = 64;
// Beside control characters: what would break a commit header, a line, or the reading order of a terminal.
const NAME_REFUSED = /[<>\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u202a-\u202e\u2066-\u2069]/u;

/**
 * Check an agent's name and return it trimmed and in NFC.
 * @throws NotesError INVALID_PARAMS  empty, over 64 characters, only digits, `all`, `*`, or a character refused
 */
export function parseAgentName(text: string): string {
  const name = text.normalize("NFC").trim();
  const folded = foldAgentName(name).trim();
  const refuse = (why: string) => {
    throw new NotesError("INVALID_PARAMS", `Agent name ${why}. Choose another name.`, {
      issues: [{ path: "agent", message: why }],
    });
  };
  if (folded === "") refuse("is empty; 1 to 64 characters are expected");
  if (Array.from(name).length > NAME_MAX_CHARS) refuse("is longer than 64 characters");
  if (NAME_REFUSED.test(name)) refuse("holds a control character, < or >");
  if (/^\p{N}+$/u.test(folded)) refuse("has only digits and would read as an agent id");
  if (folded === "all" || folded === "*") refuse("would read as everyone's notebooks");
  return name;
}

/**
 * Read an agent given by id or name, as filters and `target_agent_id` take them.
 * @returns the agent's id, or "all"
 * @throws NotesError INVALID_PARAMS  `"057"`, `" 57"`, `"-1"`, or no possible name
 */
export function parseAgentRef(given: string | number, path = "filter_agent_id"): number | "all" {
  const text = String(given);
  if (text === "all" || text === "*") return "all";
  if (/^[1-9][0-9]{0,9}$/.test(text) && Number(text) <= 0x7fffffff) return Number(text);
  if (/^\s*[-+]?\s*\p{N}+\s*$/u.test(text) || text !== text.trim()) {
    const message = `${JSON.stringify(text)} is neither an agent id nor a name`;
    throw new NotesError("INVALID_PARAMS", `${message}. Give a positive whole number, a name, or all.`, {
      issues: [{ path, message }],
    });
  }
  return agentIdOf(parseAgentName(text));
}

/** A principal's one-line name for keys and logs: `agent:<folded name>` or `person:<email>`. */
export function principalKey(principal: Principal): string {
  return principal.kind === "agent" ? `agent:${foldAgentName(principal.name)}` : `person:${principal.email}`;
}

/**
 * The `Request-Key` trailer of a write: 64 hex that name the request without showing the caller's key.
 * @param proofKey  32 bytes of proof.key
 * @see spec: protocol, "Idempotency"
 */
export function requestKey(proofKey: Uint8Array, principal: Principal, key: string): string {
  return createHmac("sha256", proofKey)
    .update(`request\0${principalKey(principal)}\0${key}`, "utf8")
    .digest("hex");
}
