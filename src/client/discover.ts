/**
 * Where a daemon listens and with which token: from its repository, or as given. Before a token is sent to
 * an address from `daemon.json`, whoever answers there must prove that it wrote that file.
 * Invariant: the person's token leaves this process only for the daemon that its file belongs to.
 *
 * @see spec: protocol, sections 1 (healthz) and 2
 */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { NotesError } from "../domain/errors.ts";
import { agentIdOf } from "../domain/identity.ts";
import { ProcessError } from "../domain/process-error.ts";
import { writeDurably } from "../lib/durable-file.ts";
import type { GitPlace } from "../lib/git-dir.ts";
import { jsonOrNull } from "../lib/json-text.ts";
import { callOverHttp } from "./http-call.ts";
import { plainHttp } from "./plain-http.ts";

export const DaemonFile = z.object({
  pid: z.number().int().positive(),
  host: z.string(),
  port: z.number().int(),
  /** `http://HOST:PORT` */
  url: z.string(),
  started_at: z.string(),
  /** 64 hex; the key of the challenge. */
  nonce: z.string(),
  version: z.string(),
  protocol: z.string(),
});
export type DaemonFile = z.infer<typeof DaemonFile>;

export const daemonFilePath = (place: GitPlace): string => join(place.gitDir, "notesd", "daemon.json");

/** What `daemon.json` says; null when there is none or it is damaged (then nobody can vouch for it). */
export async function readDaemonFile(place: GitPlace): Promise<DaemonFile | null> {
  const text = await readFile(daemonFilePath(place), "utf8").catch(() => null);
  if (text === null) return null;
  return DaemonFile.safeParse(jsonOrNull(text)).data ?? null;
}

/** Whether who answers at the address knows the file's nonce. @cost one request, at most `timeoutMs` */
export async function proves(daemon: DaemonFile, timeoutMs = 2_000): Promise<boolean> {
  const challenge = randomBytes(16).toString("hex");
  try {
    const { headers } = await plainHttp(new URL("/healthz", daemon.url), {
      headers: { "Notesd-Challenge": challenge },
      withinMs: timeoutMs,
    });
    const proof = Buffer.from(String(headers["notesd-proof"] ?? ""));
    const expected = Buffer.from(createHmac("sha256", daemon.nonce).update(challenge).digest("hex"));
    return proof.length === expected.length && timingSafeEqual(proof, expected);
  } catch {
    // Nobody listens, or not in time: the same as no proof.
    return false;
  }
}

/** The daemon of a repository, proved to be the one. @throws ProcessError NO_DAEMON */
export async function runningDaemon(place: GitPlace): Promise<DaemonFile> {
  const daemon = await readDaemonFile(place);
  if (daemon && (await proves(daemon))) return daemon;
  throw new ProcessError(
    "NO_DAEMON",
    `No daemon serves ${place.root}. Start one: notesd start --repo ${place.root}`,
  );
}

/** `data.reason` of the FORBIDDEN that a revoked agent's name gets from `agent.token`. */
export const REVOKED = "agent_revoked";

/** Where an agent's token lies that the person's was exchanged for. @param folder `<gitdir>/notesd` */
export const keptTokenFile = (folder: string, agent: string): string =>
  join(folder, "agent-tokens", `${agentIdOf(agent)}`);

export interface Address {
  /** `http://HOST:PORT` */
  readonly url: string;
  readonly token: string;
}

/**
 * The daemon of a repository and a token for `agent`, or the person's when null. An agent's token is kept
 * beside the person's and made again only when `fresh` is asked for, after the kept one was refused.
 * @throws ProcessError NO_DAEMON; NotesError what `agent.token` refuses
 */
export async function addressOf(place: GitPlace, agent: string | null, fresh = false): Promise<Address> {
  const { url } = await runningDaemon(place);
  const token = (await readFile(join(place.gitDir, "notesd", "token"), "utf8")).trim();
  if (agent === null) return { url, token };
  const kept = keptTokenFile(join(place.gitDir, "notesd"), agent);
  const before = fresh ? "" : (await readFile(kept, "utf8").catch(() => "")).trim();
  if (before !== "") return { url, token: before };
  const made = await exchange({ url, token }, agent);
  await mkdir(join(kept, ".."), { recursive: true, mode: 0o700 });
  await writeDurably(kept, `${made}\n`, { mode: 0o600 });
  return { url, token: made };
}

/** An agent's token for a person's. @throws NotesError FORBIDDEN the token is no person's, or the agent was revoked */
async function exchange({ url, token }: Address, agent: string): Promise<string> {
  const made = await callOverHttp(url, token, "agent.token", { name: agent });
  return z.object({ token: z.string() }).parse(made).token;
}

/**
 * As `exchange` for a token that somebody gave: one that is an agent's already is returned as it is. It says
 * who calls, and no name given beside it changes that.
 */
export async function exchangeGiven(address: Address, agent: string): Promise<string> {
  try {
    return await exchange(address, agent);
  } catch (error) {
    const isAgents =
      error instanceof NotesError && error.code === "FORBIDDEN" && error.data["reason"] !== REVOKED;
    // Never for a revoked agent: its name would then write as the person.
    if (isAgents) return address.token;
    throw error;
  }
}
