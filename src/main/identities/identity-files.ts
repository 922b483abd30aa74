/**
 * `agents.json` and `persons.json`: who may call, with hashes of tokens and never a token.
 * Several processes change them, so each change is read, made and written while no other is: `alone`.
 */
import { createHash, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import { NotesError } from "../../domain/errors.ts";
import { ProcessError } from "../../domain/process-error.ts";
import type { TokenShown } from "../../doors/cli/host.ts";
import { orAbsent, writeDurablySync } from "../../lib/durable-file.ts";
import { takeProcessLock } from "../../lib/process-lock.ts";

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

/** Make one change of the identities, when nobody else is at it. */
export type Alone = <T>(change: () => T) => Promise<T>;

/** Within this what holds them is done; who waits longer is told so. */
const LOCK_WAIT_MS = 5_000;
const LOCK_LOOKS_EVERY_MS = 20;

/**
 * One change at a time, of all processes and of this one. Nothing blocks; a lock ends with the process that held it.
 *
 * @param folder  where the identities lie
 * @returns a function that throws NotesError REPO_BUSY when others were at it all the while: nothing was changed
 */
export function alone(folder: string, waitMs = LOCK_WAIT_MS): Alone {
  const lockFolder = join(folder, "identities.lock");
  return async (change) => {
    const untilMs = performance.now() + waitMs;
    for (;;) {
      const attempt = await takeProcessLock(lockFolder);
      if (attempt.kind === "taken") {
        try {
          return change();
        } finally {
          attempt.lock.release();
        }
      }
      if (performance.now() >= untilMs) {
        const { pid } = attempt.holder;
        const who = pid === null ? "another process" : `process ${pid}`;
        throw new NotesError("REPO_BUSY", `Agents and persons are being changed by ${who}. Try again.`, {
          state: "identities_locked",
          retry_after_ms: 1_000,
        });
      }
      await pause(LOCK_LOOKS_EVERY_MS);
    }
  };
}

/** Change one of the files, alone: `change` gets what it holds and returns what it shall hold. Blocks for milliseconds. */
export function changeIdentities<T>(file: string, schema: z.ZodType<T>, empty: T, change: (now: T) => T): T {
  const next = change(readIdentities(file, schema, empty));
  writeDurablySync(file, `${JSON.stringify(next, null, 2)}\n`, { mode: 0o600 });
  return next;
}
