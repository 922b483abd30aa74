/**
 * A socket file that answers while its process lives, and never afterwards: connecting proves life, the nonce
 * proves whose. The file itself stays after a kill and proves nothing.
 */
import { existsSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { resolve as absolute, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { errnoOf } from "./durable-file.ts";

export type Answer = "holding" | "taking" | "dead";

export interface HolderSocket {
  /** From now on the answer is "holding", no longer "taking". */
  hold(): void;
  close(): void;
}

/** `sun_path` has 104 bytes on macOS, 108 on Linux. */
const MAX_SOCKET_PATH_BYTES = 100;

/** Use a socket in a folder however deep it lies: through a short link while it is bound or reached. */
async function throughShortPath<T>(
  folder: string,
  name: string,
  use: (path: string) => Promise<T>,
): Promise<T> {
  const direct = join(folder, name);
  if (Buffer.byteLength(direct) <= MAX_SOCKET_PATH_BYTES) return use(direct);
  const short = mkdtempSync(join(tmpdir(), "nd-"));
  try {
    symlinkSync(absolute(folder), join(short, "f"));
    return await use(join(short, "f", name));
  } finally {
    rmSync(short, { recursive: true, force: true });
  }
}

/** Listen under `folder/name` and tell everyone who connects the nonce and whether we hold. Keeps no process alive. */
export async function listenAsHolder(folder: string, name: string, nonce: string): Promise<HolderSocket> {
  let state: Answer = "taking";
  const server = createServer((socket) => {
    // Who asked may be gone already; that is no concern of ours.
    socket.on("error", () => socket.destroy());
    socket.end(`${nonce} ${state}\n`);
  });
  await throughShortPath(folder, name, (path) => {
    return new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(path, resolve);
    });
  });
  server.unref();
  return {
    hold() {
      state = "holding";
    },
    close: () => server.close(),
  };
}

/**
 * Ask the process that announced itself under this nonce.
 * @returns "dead" when nobody listens; "holding" also for a process that is stuck or out of files
 */
export async function askHolder(
  folder: string,
  name: string,
  nonce: string,
  withinMs: number,
): Promise<Answer> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (!existsSync(join(folder, name))) return "dead";
    const answer = await throughShortPath(folder, name, (path) => askOnce(path, nonce, withinMs));
    if (answer !== "silent") return answer;
    await pause(BETWEEN_ATTEMPTS_MS);
  }
  return "holding";
}

/** Accepted and hung up without a word: it is ending just now, or alive and out of file handles. */
type Once = Answer | "silent";
const ATTEMPTS = 5;
const BETWEEN_ATTEMPTS_MS = 20;
const NOBODY = new Set(["ECONNREFUSED", "ENOENT"]);
const HUNG_UP = new Set(["ECONNRESET", "EPIPE"]);
/** Its queue of connections is full, so there is a listener. */
const CROWDED = new Set(["EAGAIN", "EWOULDBLOCK"]);

function askOnce(path: string, nonce: string, withinMs: number): Promise<Once> {
  return new Promise((resolve, reject) => {
    let text = "";
    const socket = connect(path);
    const finish = (answer: Once) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setEncoding("utf8");
    socket.setTimeout(withinMs, () => finish("holding"));
    socket.on("data", (part) => {
      text += part;
    });
    socket.on("end", () => {
      const [theirs, state] = text.trim().split(" ");
      if (theirs === "") finish("silent");
      else if (theirs !== nonce) finish("dead");
      else finish(state === "taking" ? "taking" : "holding");
    });
    socket.on("error", (error) => {
      const code = errnoOf(error) ?? "";
      if (NOBODY.has(code)) finish("dead");
      else if (HUNG_UP.has(code)) finish("silent");
      else if (CROWDED.has(code)) finish("holding");
      else reject(error);
    });
  });
}
