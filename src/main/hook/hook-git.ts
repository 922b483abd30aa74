/**
 * Native Git as a hook needs it: with the environment that Git gave the hook, so that it sees the objects of a push
 * while they are in quarantine. @see git-receive-pack(1), QUARANTINE ENVIRONMENT
 */
import { spawn } from "node:child_process";
import type { GitPlace } from "../../lib/git-dir.ts";

const WORDS_BYTES = 2_000;

export interface HookGit {
  /** Run a command. @returns standard output @throws Error with Git's words when it fails */
  bytes(args: readonly string[], input?: string): Promise<Buffer>;
  text(args: readonly string[], input?: string): Promise<string>;
  /** Whether it ends with 0; 1 is no. @throws Error any other end */
  holds(args: readonly string[]): Promise<boolean>;
}

/** @param env of the hook */
export function hookGit(place: GitPlace, env: NodeJS.ProcessEnv): HookGit {
  const run = (
    args: readonly string[],
    input: string,
  ): Promise<{ code: number; out: Buffer; words: string }> =>
    new Promise((resolve, reject) => {
      const child = spawn("git", ["--git-dir", place.gitDir, "--work-tree", place.root, ...args], {
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
      let words = "";
      child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        words = (words + text).slice(-WORDS_BYTES);
      });
      // It may end before it has read its input; why, its code says.
      child.stdin.on("error", () => {}).end(input);
      child.once("error", reject);
      child.once("close", (code) => resolve({ code: code ?? -1, out: Buffer.concat(out), words }));
    });

  async function bytes(args: readonly string[], input = ""): Promise<Buffer> {
    const { code, out, words } = await run(args, input);
    if (code !== 0) throw new Error(`git ${args[0] ?? ""} ended with ${code}: ${words.trim()}`);
    return out;
  }

  return {
    bytes,
    text: async (args, input) => (await bytes(args, input)).toString("utf8"),
    async holds(args) {
      const { code, words } = await run(args, "");
      if (code > 1 || code < 0) throw new Error(`git ${args[0] ?? ""} ended with ${code}: ${words.trim()}`);
      return code === 0;
    },
  };
}
