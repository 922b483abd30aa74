/**
 * One request carried out by `git http-backend`: a CGI program fed with the request and read for the answer, both
 * with back-pressure. Who may ask is `routes.ts`. Invariant: no Git outlives its request by more than what it
 * needs to end in order; one that has a whole push in its hands is let finish, for killed it could stop between the
 * working tree and the branch.
 *
 * @see git-http-backend(1) · RFC 3875
 */
import { type ChildProcess, spawn } from "node:child_process";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import type { Clock } from "../../lib/clock.ts";
import { errnoOf } from "../../lib/durable-file.ts";

/** Git writes something every five seconds while it works. */
const IDLE_MS = 120_000;
/** A push whose client is gone: the longest that a lease of the writer lasts. */
const ALONE_MS = 60_000;
/** From the request to end to the demand. */
const KILL_MS = 5_000;
const HEAD_BYTES = 16 << 10;
const WORDS_BYTES = 2_000;

export interface BackendRun {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The whole environment, CGI's names included. */
  readonly env: Readonly<Record<string, string>>;
  readonly clock: Clock;
  /** It receives a push. */
  readonly receives: boolean;
}

export interface BackendEnd {
  /** `refused`: it gave up on the request before a word of an answer; `none`: it ended without one. */
  readonly kind: "answered" | "refused" | "none";
  /** The end of what it said on standard error. */
  readonly words: string;
}

/** Run it to its end. @throws Node errors when it can't be started */
export async function runBackend(run: BackendRun): Promise<BackendEnd> {
  const { request, response, clock } = run;
  // Gone while it waited for its turn.
  if (response.destroyed) return { kind: "none", words: "" };
  const child = spawn("git", ["http-backend"], {
    env: run.env,
    // A group of its own: what Git started ends with it.
    detached: true,
    stdio: ["pipe", "pipe", "pipe"],
  });
  const { stdin, stdout, stderr } = child;
  let words = "";
  stderr.setEncoding("utf8").on("data", (text: string) => {
    words = (words + text).slice(-WORDS_BYTES);
  });
  const ended = new Promise<void>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", () => resolve());
  });
  const limit = limits(child, clock);
  // It may end before it has read everything, e.g. when it refuses.
  stdin.on("error", () => request.resume());
  request.on("data", limit.alive).pipe(stdin);
  // A request that breaks off never ends the pipe by itself.
  request.once("close", () => request.complete || limit.end());
  response.once("close", () => {
    if (response.writableFinished) return;
    if (run.receives && request.complete) limit.endAfter(ALONE_MS);
    else limit.end();
    stdout.resume();
  });
  try {
    const head = await answer(stdout, response, limit.alive);
    await ended;
    if (head === "begun") return { kind: "answered", words };
    // It writes the head before it reads the request, and an answer without a body is one when it was content.
    if (head === null || child.exitCode === null) return { kind: "none", words };
    // A body that can't be unpacked it answers with 0 all the same, and says it died.
    if (child.exitCode !== 0 || /^fatal: /m.test(words)) return { kind: "refused", words };
    response.writeHead(head.status, head.headers).end();
    return { kind: "answered", words };
  } finally {
    limit.cancel();
  }
}

function limits(child: ChildProcess, clock: Clock) {
  let cancel = () => {};
  const signal = (name: "SIGTERM" | "SIGKILL") => {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    try {
      process.kill(-child.pid, name);
    } catch (error) {
      if (errnoOf(error) !== "ESRCH") throw error;
    }
  };
  let ending = false;
  const set = (ms: number, fn: () => void) => {
    cancel();
    cancel = clock.after(ms, fn);
  };
  const end = () => {
    if (ending) return;
    ending = true;
    signal("SIGTERM");
    set(KILL_MS, () => signal("SIGKILL"));
  };
  const alive = () => {
    if (!ending) set(IDLE_MS, end);
  };
  alive();
  return {
    alive,
    end,
    endAfter(ms: number) {
      if (!ending) set(ms, end);
    },
    cancel: () => cancel(),
  };
}

/** Head and body of the answer. @returns the head, not sent yet, where no body came; null: not even one */
async function answer(
  stdout: Readable,
  response: ServerResponse,
  alive: () => void,
): Promise<"begun" | Head | null> {
  let before: Buffer | null = Buffer.alloc(0);
  let head: Head | null = null;
  for await (const chunk of stdout) {
    alive();
    // Without an encoding set, chunks are buffers.
    let bytes = chunk as Buffer;
    if (before !== null) {
      before = Buffer.concat([before, bytes]);
      const found = headOf(before);
      if (found === null && before.length <= HEAD_BYTES) continue;
      if (found === null) return null;
      head = found;
      bytes = before.subarray(found.bytes);
      before = null;
    }
    if (bytes.length > 0 && head !== null && !response.headersSent)
      response.writeHead(head.status, head.headers);
    // Nobody reads any more: what still comes is thrown away, so that Git can finish.
    if (response.destroyed || bytes.length === 0) continue;
    if (!response.write(bytes)) await drained(response);
  }
  if (!response.headersSent) return head;
  response.end();
  return "begun";
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off("drain", done);
      response.off("close", done);
      resolve();
    };
    response.once("drain", done);
    response.once("close", done);
    if (response.destroyed) done();
  });
}

interface Head {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** With the empty line after it. */
  readonly bytes: number;
}

/** A CGI head: `Name: value` lines up to an empty one. */
function headOf(bytes: Buffer): Head | null {
  const end = /\r?\n\r?\n/.exec(bytes.toString("latin1"));
  if (end === null) return null;
  const headers: Record<string, string> = { "x-content-type-options": "nosniff" };
  let status = 200;
  for (const line of bytes.toString("latin1", 0, end.index).split(/\r?\n/)) {
    const [, name = "", value = ""] = /^([\w-]+):\s*(.*)$/.exec(line) ?? [];
    if (name.toLowerCase() === "status") status = Number.parseInt(value, 10) || 500;
    else if (name !== "") headers[name] = value;
  }
  return { status, headers, bytes: end.index + end[0].length };
}
