/** A real daemon as a real process on a real repository, and a plain JSON-RPC socket to talk to it. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll } from "vitest";
import { WebSocket } from "ws";
import { until } from "./wait.ts";

export const BIN = fileURLToPath(new URL("../../dist/main/bin.js", import.meta.url));

/** The environment of a test: no settings of whoever runs it. */
export const cleanEnv = (): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([key]) => !/^(NOTESD_|GIT_)/.test(key))),
  GIT_CONFIG_NOSYSTEM: "1",
});

export function tempFolder(): string {
  return mkdtempSync(join(tmpdir(), "notesd-test-"));
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
}

/** Native Git in `dir`. @returns stdout, trimmed */
export function git(dir: string, ...args: string[]): string {
  return execFileSync("git", ["-C", dir, ...args], {
    encoding: "utf8",
    env: cleanEnv(),
    maxBuffer: 1 << 28,
    stdio: ["ignore", "pipe", "pipe"],
  }).trim();
}

/** Run the command line. @returns stdout; @throws with `status` and `stderr` as execFileSync does */
export function notesd(
  args: readonly string[],
  options: { cwd?: string; input?: string; env?: NodeJS.ProcessEnv } = {},
): string {
  return execFileSync(process.execPath, [BIN, ...args], {
    encoding: "utf8",
    env: { ...cleanEnv(), ...options.env },
    stdio: ["pipe", "pipe", "pipe"],
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.input === undefined ? {} : { input: options.input }),
  });
}

/** A new repository made by `init`, with a person's name in its Git config. */
export function initRepo(args: readonly string[] = []): string {
  const repo = join(tempFolder(), "notes");
  notesd(["init", repo, ...args]);
  git(repo, "config", "user.name", "Pat");
  git(repo, "config", "user.email", "pat@example.com");
  return repo;
}

export interface RunningDaemon {
  readonly child: ChildProcess;
  readonly repo: string;
  /** `ws://…/rpc` */
  readonly url: string;
  readonly http: string;
  /** The person's token. */
  readonly token: string;
  /** Everything written to stderr so far. */
  log(): string;
  /** SIGKILL, and gone. */
  kill(): Promise<void>;
  /** SIGTERM, and gone; the exit code. */
  stop(): Promise<number | null>;
}

/** Start `notesd start` in the foreground and wait until it answers. */
export async function startDaemon(
  repo: string,
  args: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
): Promise<RunningDaemon> {
  const child = spawn(process.execPath, [BIN, "start", "--repo", repo, "--port", "0", ...args], {
    env: { ...cleanEnv(), ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let log = "";
  child.stderr?.on("data", (chunk) => {
    log += String(chunk);
  });
  const exited = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
  const file = join(repo, ".git/notesd/daemon.json");
  const ready = await until(
    "the daemon's daemon.json",
    () => {
      if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}: ${log}`);
      if (!existsSync(file)) return null;
      // Written by this daemon, so its own shape.
      const info = JSON.parse(readFileSync(file, "utf8")) as { pid: number; host: string; port: number };
      return info.pid === child.pid ? info : null;
    },
    60_000,
  );
  return {
    child,
    repo,
    url: `ws://${ready.host}:${ready.port}/rpc`,
    http: `http://${ready.host}:${ready.port}`,
    token: readFileSync(join(repo, ".git/notesd/token"), "utf8").trim(),
    log: () => log,
    async kill() {
      child.kill("SIGKILL");
      await exited;
    },
    stop() {
      child.kill("SIGTERM");
      return exited;
    },
  };
}

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data: Record<string, unknown>;
}

/** What a reply was: tests look at `result` loosely, as a client in another language would. */
export interface RpcReply {
  readonly id: unknown;
  // biome-ignore lint/suspicious/noExplicitAny: results are looked into by name, as a foreign client does
  readonly result?: any;
  readonly error?: RpcError;
}

export interface Rpc {
  readonly socket: WebSocket;
  readonly notifications: { method: string; params: Record<string, unknown> }[];
  /** @returns the result; @throws Error whose `code` and `data` are the error's */
  // biome-ignore lint/suspicious/noExplicitAny: as RpcReply.result
  call(method: string, params?: Record<string, unknown>): Promise<any>;
  reply(method: string, params?: Record<string, unknown>): Promise<RpcReply>;
  close(): void;
}

/** Open a socket with a token. Calls still open when the socket closes reject. */
export async function openRpc(url: string, token: string): Promise<Rpc> {
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${token}` } });
  const waiting = new Map<number, { resolve: (reply: RpcReply) => void; reject: (error: Error) => void }>();
  const notifications: Rpc["notifications"] = [];
  socket.on("message", (data) => {
    // A server under test: the shape is what the test is about.
    const message = JSON.parse(String(data)) as RpcReply & {
      method?: string;
      params?: Record<string, unknown>;
    };
    if (message.method !== undefined)
      notifications.push({ method: message.method, params: message.params ?? {} });
    else if (typeof message.id === "number") waiting.get(message.id)?.resolve(message);
  });
  const fail = () => {
    for (const { reject } of waiting.values()) reject(new Error("the socket closed before the reply"));
    waiting.clear();
  };
  socket.on("close", fail);
  await new Promise<void>((resolve, reject) => {
    socket.once("open", () => resolve());
    socket.once("error", reject);
  });
  socket.on("error", fail);
  let next = 0;
  const reply: Rpc["reply"] = (method, params = {}) => {
    const id = ++next;
    return new Promise<RpcReply>((resolve, reject) => {
      waiting.set(id, { resolve, reject });
      socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    }).finally(() => waiting.delete(id));
  };
  return {
    socket,
    notifications,
    reply,
    async call(method, params = {}) {
      const { result, error } = await reply(method, params);
      if (error) throw Object.assign(new Error(error.message), { code: error.code, data: error.data });
      return result;
    },
    close: () => socket.close(),
  };
}

export interface Served {
  readonly repo: string;
  readonly daemon: RunningDaemon;
  /** A socket with the person's token. */
  readonly rpc: Rpc;
}

/** One repository, daemon and socket for all tests of a file; made before the first, gone after the last. */
export function servedRepo(): Served {
  let served: Served | null = null;
  const get = (): Served => {
    if (served === null) throw new Error("only inside of a test");
    return served;
  };
  beforeAll(async () => {
    const daemon = await startDaemon(initRepo());
    served = { repo: daemon.repo, daemon, rpc: await openRpc(daemon.url, daemon.token) };
  });
  afterAll(async () => {
    get().rpc.close();
    await get().daemon.stop();
    removeFolder(join(get().repo, ".."));
  });
  return {
    get repo() {
      return get().repo;
    },
    get daemon() {
      return get().daemon;
    },
    get rpc() {
      return get().rpc;
    },
  };
}
