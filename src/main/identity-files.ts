/**
 * `agents.json` and `persons.json`: who may call, with hashes of tokens and never a token.
 * Several processes change them, so each change is read, made and written under a short lock file.
 */
import { createHash, randomBytes } from "node:crypto";
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { z } from "zod";
import { ProcessError } from "../domain/process-error.ts";
import { errnoOf, orAbsent, writeDurablySync } from "../lib/durable-file.ts";

const hash = z.string().regex(/^[0-9a-f]{64}$/);

const AgentEntry = z.strictObject({
  /** As first written. */
  name: z.string(),
  agent_id: z.number().int().positive(),
  /** Set by revoke: only `agent add` brings it back, not a first use. */
  revoked: z.literal(true).optional(),
  tokens: z.array(z.strictObject({ hash, read_only: z.boolean(), mcp: z.boolean(), created_at: z.string() })),
});

const PersonEntry = z.strictObject({
  name: z.string(),
  email: z.string(),
  /** True for whoever runs the daemon: the token file's own person. */
  owner: z.boolean(),
  tokens: z.array(z.strictObject({ hash, created_at: z.string() })),
});

export const AgentsFile = z.strictObject({ agents: z.array(AgentEntry) });
export type AgentsFile = z.infer<typeof AgentsFile>;
export const PersonsFile = z.strictObject({ persons: z.array(PersonEntry) });
export type PersonsFile = z.infer<typeof PersonsFile>;

/** A fresh token: 256 random bits that fit a header, a subprotocol and a URL's password. */
export const newToken = (): string => `notesd_${randomBytes(32).toString("base64url")}`;

/** SHA-256 of a token, 64 hex: all that is ever kept of one. */
export const tokenHash = (token: string): string => createHash("sha256").update(token, "utf8").digest("hex");

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
