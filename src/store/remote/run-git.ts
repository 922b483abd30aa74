/**
 * Native Git as a child that can ask nobody: no terminal, no input but what is given, no variable of Git's own from
 * around us, and an end after some time. What it says is scrubbed of credentials before anybody sees it.
 */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { errnoOf } from "../../lib/durable-file.ts";
import { FOR_REMOTES, gitEnvironment } from "../../lib/git-environment.ts";
import { RemoteFailure } from "./remote.ts";
import { scrub } from "./remote-url.ts";

export interface GitRun {
  readonly code: number;
  readonly out: string;
  /** Scrubbed. */
  readonly err: string;
}

const MOST_OUTPUT_BYTES = 64 << 20;
const KILL_AFTER_MS = 2_000;

/** Settings of people that would hang a child, or do what was not asked. */
const SETTINGS = [
  "commit.gpgsign=false",
  "push.gpgSign=false",
  "gc.auto=0",
  "maintenance.auto=false",
  "core.hooksPath=/dev/null",
  "core.fsync=committed,reference",
  "fetch.unpackLimit=1",
  "fetch.fsckObjects=false",
  "protocol.ext.allow=never",
  "credential.interactive=false",
].flatMap((setting) => ["-c", setting]);

/** Quoted, so that no letter of the path is taken for a separator. */
const quarantined = (gitdir: string, folder: string) => ({
  GIT_OBJECT_DIRECTORY: folder,
  GIT_ALTERNATE_OBJECT_DIRECTORIES: JSON.stringify(join(gitdir, "objects")),
});

/**
 * Run Git in a repository.
 * @throws RemoteFailure broken: there is no Git; away: it took longer than `limitMs`
 */
export function runGit(
  gitdir: string,
  args: readonly string[],
  around: {
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly limitMs: number;
    readonly input?: string;
    readonly signal?: AbortSignal;
    /** Folder of objects that takes what comes; the repository's are read beside it. */
    readonly quarantine?: string;
  },
): Promise<GitRun> {
  return new Promise((resolve, reject) => {
    // A session of its own: ssh would ask at the terminal else.
    const child = spawn("git", [...SETTINGS, `--git-dir=${gitdir}`, ...args], {
      env: {
        ...gitEnvironment(around.env, {}, FOR_REMOTES),
        SSH_ASKPASS_REQUIRE: "never",
        ...(around.quarantine === undefined ? {} : quarantined(gitdir, around.quarantine)),
      },
      stdio: [around.input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
      detached: true,
    });
    const texts = { out: "", err: "" };
    let late = false;
    const end = (signal: NodeJS.Signals) => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, signal);
      } catch {
        // Trigger: it has just ended. Outcome: its end is told below.
      }
    };
    const limit = setTimeout(() => {
      late = true;
      end("SIGTERM");
      setTimeout(() => end("SIGKILL"), KILL_AFTER_MS).unref();
    }, around.limitMs);
    const stop = () => end("SIGTERM");
    around.signal?.addEventListener("abort", stop, { once: true });
    if (around.signal?.aborted === true) stop();
    for (const name of ["out", "err"] as const) {
      child[name === "out" ? "stdout" : "stderr"]?.setEncoding("utf8").on("data", (text: string) => {
        if (texts[name].length < MOST_OUTPUT_BYTES) texts[name] += text;
      });
    }
    child.stdin?.on("error", () => {});
    child.stdin?.end(around.input);
    child.once("error", (error) => {
      clearTimeout(limit);
      const absent = errnoOf(error) === "ENOENT";
      const why = absent ? "this remote needs native Git, and there is no git on the path" : error.message;
      reject(new RemoteFailure("broken", why, error));
    });
    child.once("close", (code) => {
      clearTimeout(limit);
      around.signal?.removeEventListener("abort", stop);
      if (around.signal?.aborted === true) return reject(new RemoteFailure("away", "stopped"));
      if (late) reject(new RemoteFailure("away", `no answer within ${Math.round(around.limitMs / 1000)} s`));
      else resolve({ code: code ?? 1, out: texts.out, err: scrub(texts.err) });
    });
  });
}
