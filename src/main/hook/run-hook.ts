/**
 * What `<gitdir>/notesd/hooks` asks of this program: `notesd hook NAME …`. Each hook is a file of its own; here is
 * which one, where it runs, and that whatever fails refuses in words.
 */
import { resolve } from "node:path";
import type { Readable } from "node:stream";
import { ProcessError } from "../../domain/process-error.ts";
import type { GitPlace } from "../../lib/git-dir.ts";
import { resolvePlace, type Surroundings } from "../resolve.ts";
import { preCommit } from "./pre-commit.ts";

/** The part of `process` that a hook needs. */
interface HookProcess {
  readonly env: NodeJS.ProcessEnv;
  cwd(): string;
  readonly stdin: Readable;
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
}

interface Called {
  readonly place: GitPlace;
  readonly around: Surroundings;
  readonly args: readonly string[];
  readonly stdin: Readable;
  send(text: string): void;
  say(text: string): void;
}

const HOOKS: Readonly<Record<string, (called: Called) => Promise<number>>> = {
  async "pre-commit"({ place, around, say }) {
    const refusal = await preCommit(place, around.env);
    if (refusal !== null) say(refusal);
    return refusal === null ? 0 : 1;
  },
  async "pre-receive"({ place, around, args, stdin, say }) {
    const { preReceive } = await import("./pre-receive.ts");
    return preReceive(place, around, Number(args[0]), await textOf(stdin), say);
  },
  async "post-receive"({ place, args }) {
    const { postReceive } = await import("./pre-receive.ts");
    await postReceive(place, Number(args[0]));
    return 0;
  },
  async "proc-receive"({ place, around, stdin, send, say }) {
    const { procReceive } = await import("./proc-receive.ts");
    return procReceive(place, around.env, { stdin, send, say });
  },
  async moved({ place }) {
    const { askDaemon } = await import("./ask-daemon.ts");
    await askDaemon(place, "/hooks/moved", {}, MOVED_WITHIN_MS);
    return 0;
  },
};

const MOVED_WITHIN_MS = 30_000;

/** @param args the hook's name and what it was called with @returns the hook's exit code */
export async function runHook(
  [name = "", ...args]: readonly string[],
  process: HookProcess,
): Promise<number> {
  const say = (text: string) => void process.stderr.write(text);
  const send = (text: string) => void process.stdout.write(text);
  const around: Surroundings = { env: process.env, cwd: process.cwd(), warn: say };
  try {
    const hook = Object.hasOwn(HOOKS, name) ? HOOKS[name] : undefined;
    if (!hook) throw new ProcessError("USAGE", `There is no hook ${JSON.stringify(name)} here.`);
    // The launcher lies in <gitdir>/notesd; Git's own folder may be a linked working tree's.
    const at = process.env["NOTESD_AT"];
    const repo = at === undefined ? around.cwd : resolve(around.cwd, at, "..");
    const place = await resolvePlace({ repo }, around);
    return await hook({ place, around, args, stdin: process.stdin, send, say });
  } catch (error) {
    say(`notesd: ${error instanceof Error ? error.message : String(error)}\n`);
    return error instanceof ProcessError ? error.exit : 1;
  }
}

async function textOf(stream: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  // Without an encoding set, chunks are buffers.
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
