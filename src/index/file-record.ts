/**
 * A note file's content as bytes, for as long as it stands at the head: what the front matter says beyond the
 * brief, in short JSON, then the body as UTF-8. Invariant: what is read is what was written, to the last unit.
 */
import type { Brief } from "./entry.ts";
import type { ParsedFile } from "./parsed-file.ts";

type Said = NonNullable<ParsedFile["said"]>;

/** Only what differs from a note that says nothing. Times of ours as milliseconds. */
interface Short {
  c?: string | number;
  u?: string | number;
  e?: string | number;
  s?: Said["status"];
  o?: Said["scope"];
  r?: string;
  k?: string;
  a?: number;
  n?: string;
  p?: 1;
  x?: Said["extra"];
  d?: readonly string[];
  /** Line and reason: it can't be read as a note. */
  t?: readonly [number | null, string];
  /** The body, where UTF-8 can't hold it. */
  b?: string;
}

const HEAD_BYTES = 4;
const HALF_A_PAIR = /\p{Surrogate}/u;

/** Write a file's content. */
export function writeRecord({ said, trouble, body }: ParsedFile): Uint8Array {
  const plain = !HALF_A_PAIR.test(body);
  const text = JSON.stringify({
    ...(said && shortened(said)),
    ...(trouble && { t: [trouble.line, trouble.reason] }),
    ...(plain ? {} : { b: body }),
  });
  const saidBytes = Buffer.byteLength(text);
  const bytes = Buffer.allocUnsafe(HEAD_BYTES + saidBytes + (plain ? Buffer.byteLength(body) : 0));
  bytes.writeUInt32LE(saidBytes, 0);
  bytes.write(text, HEAD_BYTES);
  if (plain) bytes.write(body, HEAD_BYTES + saidBytes);
  return bytes;
}

/** Read it back. The body is decoded when it is asked for. @param brief  what the entry holds */
export function readRecord(bytes: Buffer, brief: Brief): ParsedFile {
  const bodyAt = HEAD_BYTES + bytes.readUInt32LE(0);
  // What `writeRecord` wrote.
  const short = JSON.parse(bytes.toString("utf8", HEAD_BYTES, bodyAt)) as Short;
  let body = short.b;
  return {
    brief,
    said: short.t ? null : lengthened(short),
    trouble: short.t ? { line: short.t[0], reason: short.t[1] } : null,
    get body() {
      body ??= bytes.toString("utf8", bodyAt);
      return body;
    },
  };
}

/** The bytes of the body in UTF-8; null where UTF-8 can't hold it. */
export function bodyBytes(bytes: Buffer): Buffer | null {
  const bodyAt = HEAD_BYTES + bytes.readUInt32LE(0);
  return bodyAt === bytes.length ? null : bytes.subarray(bodyAt);
}

/** What a directory's listing tells of a record. @cost the body is not decoded */
export function glance(bytes: Buffer): { readonly key: string | null; readonly bodyBytes: number } {
  const bodyAt = HEAD_BYTES + bytes.readUInt32LE(0);
  // What `writeRecord` wrote.
  const { k = null, b } = JSON.parse(bytes.toString("utf8", HEAD_BYTES, bodyAt)) as Short;
  return { key: k, bodyBytes: b === undefined ? bytes.length - bodyAt : Buffer.byteLength(b) };
}

function shortened(said: Said): Short {
  const short: Short = {};
  if (said.createdAt !== null) short.c = instant(said.createdAt);
  if (said.updatedAt !== null) short.u = instant(said.updatedAt);
  if (said.expiresAt !== null) short.e = instant(said.expiresAt);
  if (said.status !== "open") short.s = said.status;
  if (said.scope !== "workspace") short.o = said.scope;
  if (said.scopeRefId !== null) short.r = said.scopeRefId;
  if (said.key !== null) short.k = said.key;
  if (said.agentId !== null) short.a = said.agentId;
  if (said.agentName !== null) short.n = said.agentName;
  if (said.pinned) short.p = 1;
  if (Object.keys(said.extra).length > 0) short.x = said.extra;
  if (said.disagreements) short.d = said.disagreements;
  return short;
}

const NO_EXTRA: Said["extra"] = Object.freeze({});

function lengthened({ c, u, e, s, o, r, k, a, n, p, x, d }: Short): Said {
  return {
    createdAt: text(c),
    updatedAt: text(u),
    expiresAt: text(e),
    status: s ?? "open",
    scope: o ?? "workspace",
    scopeRefId: r ?? null,
    key: k ?? null,
    agentId: a ?? null,
    agentName: n ?? null,
    pinned: p === 1,
    extra: x ?? NO_EXTRA,
    ...(d === undefined ? {} : { disagreements: d }),
  };
}

/** As a number where that gives the same text back. */
function instant(iso: string): string | number {
  const ms = Date.parse(iso);
  return Number.isFinite(ms) && new Date(ms).toISOString() === iso ? ms : iso;
}

const text = (instant: string | number | undefined) =>
  instant === undefined ? null : typeof instant === "number" ? new Date(instant).toISOString() : instant;
