/**
 * `agents.json` and `persons.json`: who may call, with hashes of tokens and never a token.
 * Several processes change them, so each change is read, made and written under a short lock file.
 */
import { createHash, randomBytes } from "node:crypto";
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { z } from "zod";
import { NotesError } from "../../domain/errors.ts";
import { ProcessError } from "../../domain/process-error.ts";
import type { TokenShown } from "../../doors/cli/host.ts";
import { errnoOf, orAbsent, writeDurablySync } from "../../lib/durable-file.ts";

const hexHash = z.string().regex(/^[0-9a-f]{64}$/);

const AgentEntry = z.strictObject({
  /** As first written. */
  name: z.string(),
  agent_id: z.number().int().positive(),
  /** Set by revoke: only `agent add` brings it back, not a first use. */
  revoked: z.literal(true).optional(),
  tokens: z.array(
    z.strictObject({ hash: hexHash, read_only: z.boolean(), mcp: z.boolean(), created_at: z.string() }),
  ),
});

const PersonEntry = z.strictObject({
  name: z.string(),
  email: z.string(),
  /** True for whoever runs the daemon: the token file's own person. */
  owner: z.boolean(),
  tokens: z.array(z.strictObject({ hash: hexHash, created_at: z.string() })),
});

export type AgentEntry = z.infer<typeof AgentEntry>;
export type PersonEntry = z.infer<typeof PersonEntry>;

export const AgentsFile = z.strictObject({ agents: z.array(AgentEntry) });
export type AgentsFile = z.infer<typeof AgentsFile>;
export const PersonsFile = z.strictObject({ persons: z.array(PersonEntry) });
export type PersonsFile = z.infer<typeof PersonsFile>;

/** A fresh token: 256 random bits that fit a header, a subprotocol and a URL's password. */
export const newToken = (): string => `notesd_${randomBytes(32).toString("base64url")}`;

/** SHA-256 of a token, 64 hex: all that is ever kept of one. */
export const tokenHash = (token: string): string => createHash("sha256").update(token, "utf8").digest("hex");

/** What a token is called where tokens are listed: the start of its hash, which says nothing of the token. */
export const tokenId = (hash: string): string => hash.slice(0, 8);

/** Shows a token where tokens are listed. */
export type ShowToken = (token: { readonly hash: string; readonly created_at: string }) => TokenShown;

/** A list of tokens without the one of that id. @throws NotesError NOT_FOUND */
export function withoutToken<T extends { readonly hash: string }>(tokens: readonly T[], id: string): T[] {
  const left = tokens.filter(({ hash }) => tokenId(hash) !== id.toLowerCase());
  if (left.length < tokens.length) return left;
  throw new NotesError(
    "NOT_FOUND",
    `There is no token ${JSON.stringify(id.slice(0, 80))} there. notesd agent list and notesd person list show their ids.`,
  );
}

/** Read one of the files; `empty` when there is none. @throws ProcessError FAILED a damaged file, by name */
export function readIdentities<T>(file: string, schema: z.ZodType<T>, empty: T): T {
  const text = orAbsent(() => readFileSync(file, "utf8"));
  if (text === null) return empty;
  try {
    return schema.parse(JSON.parse(text));
  } catch (error) {
    throw new ProcessError(
      "FAILED",
      `${file} is damaged. Repair it, or move it away: everyone named in it then needs a new token.`,
      error,
    );
  }
}

const LOCK_WAIT_MS = 5_000;
const LOCK_STALE_MS = 30_000;

/** Change one of the files: `change` gets what it holds and returns what it shall hold. Blocks for milliseconds. */
export function changeIdentities<T>(file: string, schema: z.ZodType<T>, empty: T, change: (now: T) => T): T {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const lock = `${file}.lock`;
  takeLock(lock);
  try {
    const next = change(readIdentities(file, schema, empty));
    writeDurablySync(file, `${JSON.stringify(next, null, 2)}\n`, { mode: 0o600 });
    return next;
  } finally {
    rmSync(lock, { force: true });
  }
}

function takeLock(lock: string): void {
  const startedMs = Date.now();
  const sleep = new Int32Array(new SharedArrayBuffer(4));
  for (;;) {
    try {
      closeSync(openSync(lock, "wx", 0o600));
      return;
    } catch (error) {
      if (errnoOf(error) !== "EEXIST") throw error;
    }
    const heldSince = orAbsent(() => statSync(lock).mtimeMs);
    // Its holder works for milliseconds: one this old died in between.
    if (heldSince !== null && Date.now() - heldSince > LOCK_STALE_MS) rmSync(lock, { force: true });
    if (Date.now() - startedMs > LOCK_WAIT_MS) {
      throw new ProcessError("BUSY", `${lock} is held by another process. Try again.`);
    }
    Atomics.wait(sleep, 0, 0, 10);
  }
}
