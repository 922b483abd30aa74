/**
 * Raw commits: signed on the way out, read and proved on the way in. Text of messages is
 * `commit-message.ts`. Invariant: without a valid `Note-Proof` for this key, nothing that a commit's
 * message says about itself is believed (`proved`, `reason` and `changes` are null).
 */
import { hash, timingSafeEqual } from "node:crypto";
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
  return hmacOf(cut(rawWithoutProof), rawWithoutProof.length, proofKey);
}

const BLOCK_BYTES = 64;
/** Where a commit is put together behind the inner key; larger ones get room of their own. */
const innerRoom = Buffer.alloc(16 << 10);
const outer = Buffer.alloc(BLOCK_BYTES + 32);

/**
 * HMAC by its two hashes: setting up Node's own costs more than both of a commit.
 * @param end  where what is signed ends
 * @see RFC 2104
 */
function hmacOf({ bytes, headers }: CutCommit, end: number, proofKey: Uint8Array): string {
  if (proofKey.length > BLOCK_BYTES) throw new RangeError("a proof key has 32 bytes");
  const inner = BLOCK_BYTES + end <= innerRoom.length ? innerRoom : Buffer.allocUnsafe(BLOCK_BYTES + end);
  for (let i = 0; i < BLOCK_BYTES; i++) {
    const byte = proofKey[i] ?? 0;
    inner[i] = byte ^ 0x36;
    outer[i] = byte ^ 0x5c;
  }
  let length = BLOCK_BYTES;
  let from = 0;
  for (const { name, start, end: headerEnd } of headers) {
    if (name !== "committer" && !name.startsWith("gpgsig")) continue;
    length += bytes.copy(inner, length, from, start);
    from = headerEnd;
  }
  length += bytes.copy(inner, length, from, end);
  outer.write(hash("sha256", inner.subarray(0, length), "hex"), BLOCK_BYTES, "hex");
  return hash("sha256", outer, "hex");
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
  const commit = cut(raw);
  return read(id, commit, proofKey !== null && isProved(commit, proofKey));
}

/** As `parseCommit`, for a commit that this process has just signed. @cost no HMAC */
export function parseOwnCommit(id: CommitId, raw: Uint8Array): CommitInfo {
  return read(id, cut(raw), true);
}

function read(id: CommitId, { bytes, headers, messageStart }: CutCommit, isOurs: boolean): CommitInfo {
  const value = (name: string) => {
    const header = headers.find((one) => one.name === name);
    return header === undefined
      ? Buffer.alloc(0)
      : bytes.subarray(header.start + name.length + 1, header.end - 1);
  };
  const author = parseIdentity(value("author").toString("utf8"));
  const text = decode(bytes.subarray(messageStart), value("encoding").toString("latin1"));
  const proved = isOurs ? parseProved(text) : null;
  const info = {
    id,
    // Git wrote these as 40 hex digits.
    parents: headers
      .filter(({ name }) => name === "parent")
      .map(({ start, end }) => bytes.toString("latin1", start + "parent ".length, end - 1) as CommitId),
    author: { name: author.name, email: author.email },
    at: author.at,
    subject: subjectOf(text),
  };
  if (proved === null) return { ...info, reason: null, changes: null, proved: null };
  return { ...info, ...parseBody(bodyOf(text)), proved };
}

/** A header with its folded lines: from its name to behind its last line end. */
interface Header {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

interface CutCommit {
  readonly bytes: Buffer;
  readonly headers: readonly Header[];
  readonly messageStart: number;
}

/** Cut a commit at the blank line behind its headers. One without a message has the empty text as such. */
function cut(raw: Uint8Array): CutCommit {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
  const blank = bytes.indexOf("\n\n", 0, "latin1");
  const head = bytes.toString("latin1", 0, blank < 0 ? bytes.length : blank + 1);
  const headers: Header[] = [];
  for (let start = 0; start < head.length; ) {
    let end = head.indexOf("\n", start) + 1;
    while (end > 0 && head[end] === " ") end = head.indexOf("\n", end) + 1;
    // Without a line end at the last one its end lies where that would be.
    if (end === 0) end = head.length + 1;
    const space = head.indexOf(" ", start);
    headers.push({ name: head.slice(start, space < 0 || space > end ? end - 1 : space), start, end });
    start = end;
  }
  return { bytes, headers, messageStart: blank < 0 ? bytes.length : blank + 2 };
}

function isProved(commit: CutCommit, proofKey: Uint8Array): boolean {
  const { bytes, messageStart } = commit;
  const lineAt = bytes.length - PROOF_LINE_CHARS;
  const proof = lineAt < messageStart ? null : PROOF_LINE.exec(bytes.toString("latin1", lineAt));
  if (proof?.[1] === undefined) return false;
  const wanted = hmacOf(commit, lineAt + 1, proofKey);
  return timingSafeEqual(Buffer.from(wanted, "latin1"), Buffer.from(proof[1], "latin1"));
}

function decode(bytes: Buffer, encoding: string): string {
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
  const line = text.slice(0, Math.max(0, text.indexOf("\n")));
  // As nearly every commit has it: one line, then a blank one.
  if (line !== "" && line.trim() === line && text.startsWith("\n\n", line.length)) {
    return line.slice(0, SUBJECT_MAX_CHARS);
  }
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
  const trimmed = text.trimEnd();
  const blank = trimmed.lastIndexOf("\n\n");
  const last = blank < 0 ? trimmed : trimmed.slice(blank + 2);
  const noteIds: string[] = [];
  const first = new Map<string, string>();
  for (const line of last.split("\n")) {
    const colon = line.indexOf(": ");
    if (colon < 0) continue;
    const [key, value] = [line.slice(0, colon), line.slice(colon + 2)];
    if (key === "Note-Id") noteIds.push(value);
    else if (!first.has(key)) first.set(key, value);
  }
  const one = (key: string) => first.get(key) ?? null;
  const action = COMMIT_ACTIONS.find((name) => name === one("Note-Action"));
  const source = SOURCES.find((name) => name === one("Note-Source"));
  // Written by a version that knows more than this one: better unproved than misread.
  if (action === undefined || source === undefined) return null;
  const agentId = one("Agent-Id");
  return {
    action,
    noteIds,
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
