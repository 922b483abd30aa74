/**
 * Raw commits: signed on the way out, read and proved on the way in. Text of messages is
 * `commit-message.ts`. Invariant: without a valid `Note-Proof` for this key, nothing that a commit's
 * message says about itself is believed (`proved`, `reason` and `changes` are null).
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { parseBody } from "./commit-message.ts";
import type { Author, CommitInfo, NoteSource, Proved } from "./event.ts";
import { COMMIT_ACTIONS } from "./event.ts";
import type { CommitId } from "./note.ts";

const SOURCES: readonly NoteSource[] = ["api", "disk", "import", "push"];
const PROOF_LINE = /^\nNote-Proof: ([0-9a-f]{64})\n$/;
/** With the line end before it. */
const PROOF_LINE_CHARS = "\nNote-Proof: \n".length + 64;
const SUBJECT_MAX_CHARS = 500;

/**
 * Append the `Note-Proof` line to a commit.
 *
 * @param rawWithoutProof  content of a commit object without its object header; ends in a newline
 * @param proofKey         the 32 bytes of proof.key
 * @see spec: storage, section 2
 */
export function signCommit(rawWithoutProof: Uint8Array, proofKey: Uint8Array): Uint8Array {
  return Buffer.concat([rawWithoutProof, Buffer.from(`Note-Proof: ${proofOf(rawWithoutProof, proofKey)}\n`)]);
}

/** 64 hex: HMAC-SHA256 over the commit without committer and gpgsig headers. The proof line must be off. */
function proofOf(rawWithoutProof: Uint8Array, proofKey: Uint8Array): string {
  return hmacOf(cut(rawWithoutProof), proofKey).toString("hex");
}

function hmacOf({ headers, message }: CutCommit, proofKey: Uint8Array): Buffer {
  let head = "";
  for (const [name, value] of headers) {
    if (name !== "committer" && !name.startsWith("gpgsig")) head += `${name} ${value}\n`;
  }
  return createHmac("sha256", proofKey).update(`${head}\n${message}`, "latin1").digest();
}

/**
 * Read a commit.
 *
 * @param raw       content of the commit object, without its object header
 * @param proofKey  null: no proof is believed
 * @returns `proved` only when the last line is a valid proof; tolerant of whatever others have written
 * @cost linear in the message; one HMAC when a proof line is there
 */
export function parseCommit(id: CommitId, raw: Uint8Array, proofKey: Uint8Array | null): CommitInfo {
  const parts = cut(raw);
  return read(id, parts, proofKey !== null && isProved(parts, proofKey));
}

/** As `parseCommit`, for a commit that this process has just signed. @cost no HMAC */
export function parseOwnCommit(id: CommitId, raw: Uint8Array): CommitInfo {
  return read(id, cut(raw), true);
}

function read(id: CommitId, { headers, message }: CutCommit, isOurs: boolean): CommitInfo {
  const value = (name: string) => headers.find(([key]) => key === name)?.[1] ?? "";
  const author = parseIdentity(decode(value("author"), ""));
  const text = decode(message, value("encoding"));
  const proved = isOurs ? parseProved(text) : null;
  const info = {
    id,
    // Git wrote these as 40 hex digits.
    parents: headers.filter(([name]) => name === "parent").map(([, parent]) => parent as CommitId),
    author: { name: author.name, email: author.email },
    at: author.at,
    subject: subjectOf(text),
  };
  if (proved === null) return { ...info, reason: null, changes: null, proved: null };
  return { ...info, ...parseBody(bodyOf(text)), proved };
}

interface CutCommit {
  /** Name and value, in order; bytes as Latin-1; a folded header keeps its `\n ` inside. */
  readonly headers: readonly (readonly [string, string])[];
  /** Bytes as Latin-1. */
  readonly message: string;
}

function cut(raw: Uint8Array): CutCommit {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).toString("latin1");
  const end = bytes.indexOf("\n\n");
  const head = end < 0 ? bytes.replace(/\n$/, "") : bytes.slice(0, end);
  const headers = head.split(/\n(?! )/).map((line): [string, string] => {
    const blank = line.indexOf(" ");
    return blank < 0 ? [line, ""] : [line.slice(0, blank), line.slice(blank + 1)];
  });
  return { headers, message: end < 0 ? "" : bytes.slice(end + 2) };
}

function isProved({ headers, message }: CutCommit, proofKey: Uint8Array): boolean {
  const proof = PROOF_LINE.exec(message.slice(-PROOF_LINE_CHARS));
  if (proof?.[1] === undefined) return false;
  const unsigned = message.slice(0, message.length - PROOF_LINE_CHARS + 1);
  return timingSafeEqual(hmacOf({ headers, message: unsigned }, proofKey), Buffer.from(proof[1], "hex"));
}

function decode(latin1: string, encoding: string): string {
  const bytes = Buffer.from(latin1, "latin1");
  if (encoding !== "") {
    try {
      return new TextDecoder(encoding).decode(bytes);
    } catch {
      // Trigger: an encoding that Node doesn't know. Why: history must stay readable. Outcome: read as UTF-8.
    }
  }
  return bytes.toString("utf8");
}

/** The first paragraph on one line, as Git's `%s`. */
function subjectOf(text: string): string {
  const start = text.search(/\S/);
  if (start < 0) return "";
  const blank = text.slice(start).search(/\n[^\S\n]*\n/);
  const first = blank < 0 ? text.slice(start) : text.slice(start, start + blank);
  return first
    .split("\n")
    .map((line) => line.trim())
    .join(" ")
    .trim()
    .slice(0, SUBJECT_MAX_CHARS);
}

/** Between the subject and the last block. */
function bodyOf(text: string): string {
  const blocks = text.trimEnd().split("\n\n");
  return blocks.slice(1, -1).join("\n\n");
}

function parseProved(text: string): Proved | null {
  const last = text.trimEnd().split("\n\n").at(-1) ?? "";
  const trailers = last.split("\n").map((line) => {
    const colon = line.indexOf(": ");
    return [line.slice(0, colon), line.slice(colon + 2)] as const;
  });
  const all = (key: string) => trailers.filter(([name]) => name === key).map(([, value]) => value);
  const one = (key: string) => all(key)[0] ?? null;
  const action = COMMIT_ACTIONS.find((name) => name === one("Note-Action"));
  const source = SOURCES.find((name) => name === one("Note-Source"));
  // Written by a version that knows more than this one: better unproved than misread.
  if (action === undefined || source === undefined) return null;
  const agentId = one("Agent-Id");
  return {
    action,
    noteIds: all("Note-Id"),
    noteType: one("Note-Type"),
    source,
    agent: one("Agent"),
    agentId: agentId === null ? null : Number(agentId),
    session: one("Session"),
    requestKey: one("Request-Key"),
    requestHash: one("Request-Hash"),
  };
}

/** Year 9999: what ISO 8601 writes with four digits. */
const LAST_SECOND = 253_402_300_799;

function parseIdentity(header: string): Author & { readonly at: string } {
  const close = header.lastIndexOf(">");
  const open = header.indexOf("<");
  const seconds = Number(/^\s*(-?\d+)/.exec(header.slice(close + 1))?.[1] ?? "0");
  return {
    name: (open < 0 ? header : header.slice(0, open)).trim(),
    email: open < 0 || close < open ? "" : header.slice(open + 1, close).trim(),
    at: new Date(Math.max(0, Math.min(seconds, LAST_SECOND)) * 1000).toISOString(),
  };
}
