/**
 * Native Git as a hook needs it: with the environment that Git gave the hook, so that it sees the objects of a push
 * while they are in quarantine, and without replacements. Invariant: whatever a push holds, each command ends, and
 * what it prints fits in memory. @see git-receive-pack(1), QUARANTINE ENVIRONMENT
 */
import { spawn } from "node:child_process";
import type { GitPlace } from "../../lib/git-dir.ts";

const WORDS_BYTES = 2_000;
/** A few small trees can name each other so often that Git lists without end, and keeps all of it until it prints. */
const LIMITS: Limits = { bytes: 64 << 20, ms: 120_000, memory: 1 << 30 };
/** What a process may allocate beside the files it maps, in KiB; where a system has no such limit, time is one. */
const LIMITED = 'ulimit -d "$0" 2>/dev/null; exec git "$@"';

/** Of one command. */
interface Limits {
  /** What it may print. */
  readonly bytes: number;
  readonly ms: number;
  /** What it may allocate, bytes. */
  readonly memory: number;
}

export interface HookGit {
  /** Run a command. @returns standard output @throws Error with Git's words when it fails, or does too much */
  bytes(args: readonly string[], input?: string): Promise<Buffer>;
  text(args: readonly string[], input?: string): Promise<string>;
  /** As `text`, for a command whose exit code 1 says that there is none: null. */
  found(args: readonly string[], input?: string): Promise<string | null>;
  /** Whether it ends with 0; 1 is no. @throws Error any other end */
  holds(args: readonly string[]): Promise<boolean>;
}

interface End {
  readonly code: number;
  readonly out: Buffer;
  readonly words: string;
}

/** @param env of the hook */
export function hookGit(place: GitPlace, env: NodeJS.ProcessEnv, given: Partial<Limits> = {}): HookGit {
  const limits = { ...LIMITS, ...given };
  const run = (args: readonly string[], input: string): Promise<End> =>
    new Promise((resolve, reject) => {
      const at = ["--git-dir", place.gitDir, "--work-tree", place.root];
      const memory = String(Math.ceil(limits.memory / 1024));
      const child = spawn("sh", ["-c", LIMITED, memory, ...at, ...args], {
        cwd: place.root,
        env: {
          ...env,
          LC_ALL: "C",
          GIT_OPTIONAL_LOCKS: "0",
          GIT_LITERAL_PATHSPECS: "1",
          GIT_NO_REPLACE_OBJECTS: "1",
        },
        stdio: ["pipe", "pipe", "pipe"],
      });
      const out: Buffer[] = [];
      let printed = 0;
      let words = "";
      const tooMuch = (what: string) => {
        child.kill("SIGKILL");
        child.stdout.destroy();
        reject(tooMuchFor(args, what));
      };
      const late = setTimeout(() => tooMuch(`took longer than ${limits.ms / 1000} s`), limits.ms);
      child.stdout.on("data", (chunk: Buffer) => {
        printed += chunk.length;
        if (printed > limits.bytes) tooMuch(`printed more than ${limits.bytes} bytes`);
        else out.push(chunk);
      });
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        words = (words + text).slice(-WORDS_BYTES);
      });
      // It may end before it has read its input; why, its code says.
      child.stdin.on("error", () => {}).end(input);
      child.once("error", reject);
      child.once("close", (code) => {
        clearTimeout(late);
        resolve({ code: code ?? -1, out: Buffer.concat(out), words });
      });
    });

  const failed = (args: readonly string[], { code, words }: End) =>
    OUT_OF_MEMORY.test(words)
      ? tooMuchFor(args, `needed more than ${limits.memory} bytes of memory`)
      : new Error(`git ${args[0] ?? ""} ended with ${code}: ${words.trim()}`);

  async function bytes(args: readonly string[], input = ""): Promise<Buffer> {
    const end = await run(args, input);
    if (end.code !== 0) throw failed(args, end);
    return end.out;
  }

  async function found(args: readonly string[], input = ""): Promise<string | null> {
    const end = await run(args, input);
    if (end.code > 1 || end.code < 0) throw failed(args, end);
    return end.code === 0 ? end.out.toString("utf8") : null;
  }

  return {
    bytes,
    text: async (args, input) => (await bytes(args, input)).toString("utf8"),
    found,
    holds: async (args) => (await found(args)) !== null,
  };
}

const OUT_OF_MEMORY = /^fatal: .*(?:out of memory|cannot allocate memory)/im;

const tooMuchFor = (args: readonly string[], what: string) =>
  new Error(
    `this push is too much for one look (git ${args[0] ?? ""} ${what}). Push it in smaller parts, a few commits at a time; nothing was changed.`,
  );
