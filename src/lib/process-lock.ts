/**
 * One process per folder, decided by what dies with a process: a listening socket, and where there is SQLite
 * an exclusive transaction too. Neither a pid nor a time is believed. Each taker announces itself first
 * (`lock.<nonce>`, listening) and then asks all others, so of two at once at least one sees the other; names
 * are never used twice, so clearing away a dead one can't hit a living one. `lock` is a link for people to read.
 */
import { randomBytes } from "node:crypto";
import { linkSync, readdirSync, readFileSync, renameSync, unlinkSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { orAbsent, writeNewSync } from "./durable-file.ts";
import { type Answer, askHolder, type HolderSocket, listenAsHolder } from "./holder-socket.ts";
import { isSqliteBusy, loadSqlite, type SqliteDatabase, type SqliteDriver } from "./sqlite.ts";

export interface ProcessLock {
  /** 24 hex digits, new for each lock taken. */
  readonly nonce: string;
  /** Give the lock back. May be called twice. */
  release(): void;
}

/** Who holds the lock. `pid` is for a message only; null when it could not be learned. */
interface LockHolder {
  readonly pid: number | null;
}

type LockAttempt =
  | { readonly kind: "taken"; readonly lock: ProcessLock }
  | { readonly kind: "held"; readonly holder: LockHolder };

interface ProcessLockSettings {
  /** The SQLite driver to use; null: none. Looked for when absent. */
  readonly sqlite?: SqliteDriver | null;
}

const CANDIDATE = /^lock\.([0-9a-f]{24})$/;
const RETRY_MS = 10;
/** A process that listens and doesn't answer for this long is alive and stuck: it holds. */
const ANSWER_WITHIN_MS = 1_000;

interface Other {
  readonly nonce: string;
  readonly pid: number | null;
  readonly answer: Answer;
}

function candidates(folder: string): string[] {
  return (orAbsent(() => readdirSync(folder)) ?? []).flatMap((name) => CANDIDATE.exec(name)?.[1] ?? []);
}

function pidIn(file: string): number | null {
  const found = /"pid":(\d+)/.exec(orAbsent(() => readFileSync(file, "utf8")) ?? "")?.[1];
  return found === undefined ? null : Number(found);
}

const socketName = (nonce: string) => `lock.${nonce}.sock`;
const remove = (file: string) => orAbsent(() => unlinkSync(file));

function clear(folder: string, nonce: string): void {
  remove(join(folder, `lock.${nonce}`));
  for (const ending of ["sock", "link"]) remove(join(folder, `lock.${nonce}.${ending}`));
}

/** Every other candidate that lives; dead ones are cleared away. */
async function livingOthers(folder: string, own: string | null): Promise<Other[]> {
  const others = candidates(folder).filter((nonce) => nonce !== own);
  const asked = await Promise.all(
    others.map(async (nonce): Promise<Other> => {
      const pid = pidIn(join(folder, `lock.${nonce}`));
      return { nonce, pid, answer: await askHolder(folder, socketName(nonce), nonce, ANSWER_WITHIN_MS) };
    }),
  );
  for (const { nonce } of asked.filter((other) => other.answer === "dead")) clear(folder, nonce);
  return asked.filter((other) => other.answer !== "dead");
}

/** Who holds the lock of a folder now, or null. Asks, and takes nothing. */
export async function processLockHolder(folder: string): Promise<LockHolder | null> {
  const holding = (await livingOthers(folder, null)).find((other) => other.answer === "holding");
  return holding === undefined ? null : { pid: holding.pid };
}

/** Begin the exclusive transaction, or null when another process has it. */
function holdDatabase(folder: string, sqlite: SqliteDriver): SqliteDatabase | null {
  // Nothing else in this process may open that file: closing any handle drops POSIX locks.
  const database = sqlite.open(join(folder, "lock.db"), { busyTimeoutMs: 0 });
  try {
    database.exec("BEGIN EXCLUSIVE");
    return database;
  } catch (error) {
    database.close();
    if (isSqliteBusy(error)) return null;
    throw error;
  }
}

/** Wait until nobody else holds or takes: "ours", or who is in the way. The smaller nonce stays, the larger yields. */
async function contend(folder: string, nonce: string): Promise<"ours" | "yield" | Other> {
  for (;;) {
    const others = await livingOthers(folder, nonce);
    const holding = others.find((other) => other.answer === "holding");
    if (holding !== undefined) return holding;
    if (others.length === 0) return "ours";
    if (others.some((other) => other.nonce < nonce)) return "yield";
    await pause(RETRY_MS);
  }
}

function announce(folder: string, nonce: string): void {
  const text = `{"pid":${process.pid},"nonce":"${nonce}","since":"${new Date().toISOString()}"}\n`;
  writeNewSync(join(folder, `lock.${nonce}`), text, { mode: 0o600 });
}

/** Show the holder under the fixed name; the link is replaced, never waited for. */
function showAs(folder: string, nonce: string): void {
  const bridge = join(folder, `lock.${nonce}.link`);
  linkSync(join(folder, `lock.${nonce}`), bridge);
  renameSync(bridge, join(folder, "lock"));
}

/**
 * Try to become the one process of a folder. Several at once: exactly one gets it.
 * A kill -9 of the holder frees it at once; a stopped or blocked holder keeps it.
 *
 * @param folder made when missing; on a file system of this machine
 * @returns "held" without waiting for the holder to end
 * @throws Node errors when the folder can't be written
 */
export async function takeProcessLock(
  folder: string,
  settings: ProcessLockSettings = {},
): Promise<LockAttempt> {
  const sqlite = settings.sqlite === undefined ? await loadSqlite() : settings.sqlite;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (;;) {
    const nonce = randomBytes(12).toString("hex");
    const socket = await listenAsHolder(folder, socketName(nonce), nonce);
    let keep = false;
    try {
      announce(folder, nonce);
      const result = await contend(folder, nonce);
      if (result === "ours") {
        socket.hold();
        const database = sqlite === null ? undefined : holdDatabase(folder, sqlite);
        if (database === null) return { kind: "held", holder: { pid: pidIn(join(folder, "lock")) } };
        showAs(folder, nonce);
        keep = true;
        return { kind: "taken", lock: held(folder, nonce, socket, database) };
      }
      if (result !== "yield") return { kind: "held", holder: { pid: result.pid } };
    } finally {
      if (!keep) {
        socket.close();
        clear(folder, nonce);
      }
    }
    await pause(RETRY_MS + Math.random() * RETRY_MS);
  }
}

function held(
  folder: string,
  nonce: string,
  socket: HolderSocket,
  database: SqliteDatabase | undefined,
): ProcessLock {
  let released = false;
  return {
    nonce,
    release() {
      if (released) return;
      released = true;
      if (orAbsent(() => readFileSync(join(folder, "lock"), "utf8"))?.includes(nonce))
        remove(join(folder, "lock"));
      database?.close();
      socket.close();
      clear(folder, nonce);
    },
  };
}
