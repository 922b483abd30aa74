/**
 * Native Git's part: it looks for deltas among the objects of chosen packs and writes one pack of them into a folder that
 * nobody reads. It never touches the repository, so it may be killed at any moment; what becomes of its pack
 * is `replace-packs.ts`.
 * @see git-pack-objects(1), `--stdin-packs` (Git 2.32 and later)
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { setPriority } from "node:os";
import { join } from "node:path";
import { errnoOf } from "../../lib/durable-file.ts";
import { REPACK_FOLDER } from "./pack-leftovers.ts";

export type Repacked =
  /** `folder` holds one pack and its idx; remove it when they are taken. */
  | { readonly kind: "packed"; readonly folder: string; remove(): void }
  /** No Git on PATH, or one that can't. */
  | { readonly kind: "unable" }
  /** It was stopped, or a pack was taken away meanwhile. */
  | { readonly kind: "failed"; readonly why: string };

export interface GitRepack {
  /** One at a time. @throws Node errors when the folder can't be made */
  run(gitdir: string, packs: readonly string[]): Promise<Repacked>;
  /** Kill it and wait until it is gone. */
  stop(): Promise<void>;
}

/** How Git says that it doesn't know an option. */
const USAGE = 129;
const NICEST = 19;
const LONGEST_WORD_BYTES = 2_000;

/** A person's settings for packs are for their packs: these decide whether ours can be read and merged. */
const SETTINGS = [
  "pack.packSizeLimit=0",
  "pack.indexVersion=2",
  "pack.writeReverseIndex=false",
  "pack.deltaCacheSize=64m",
  "core.fsync=none",
].flatMap((setting) => ["-c", setting]);

/**
 * One thread and 64 MiB of candidates: a repack has all the time that it needs. Deltas are looked for anew, since Git
 * doesn't look between two objects that lie whole in one pack already, as they do after a merge in process.
 */
const ARGUMENTS = [
  ...SETTINGS,
  "pack-objects",
  "-q",
  "--stdin-packs",
  "--delta-base-offset",
  "--no-reuse-delta",
  "--threads=1",
  "--window=10",
  "--depth=50",
  "--window-memory=64m",
];

export function gitRepack(): GitRepack {
  let child: ChildProcess | null = null;
  let gone: Promise<unknown> = Promise.resolve();
  let stopped = false;

  async function run(gitdir: string, packs: readonly string[]): Promise<Repacked> {
    if (stopped) return { kind: "failed", why: "stopped" };
    const objects = mkdtempSync(join(gitdir, "notesd", REPACK_FOLDER));
    const folder = join(objects, "pack");
    const remove = () => rmSync(objects, { recursive: true, force: true });
    for (const name of ["pack", "info"]) mkdirSync(join(objects, name));
    // Relative, so that no letter of the repository's path can be taken for a separator.
    writeFileSync(join(objects, "info/alternates"), "../../objects\n");
    const env = environment(gitdir, objects);
    const ending = packObjects(
      spawn("git", [...ARGUMENTS, join(folder, "pack")], {
        cwd: gitdir,
        env,
        stdio: ["pipe", "ignore", "pipe"],
      }),
      packs,
    );
    gone = ending;
    const { code, why } = await ending;
    child = null;
    if (code === 0) return { kind: "packed", folder, remove };
    remove();
    return code === USAGE || code === null ? { kind: "unable" } : { kind: "failed", why };
  }

  async function packObjects(
    git: ChildProcess,
    packs: readonly string[],
  ): Promise<{ readonly code: number | null; readonly why: string }> {
    child = git;
    let why = "";
    git.stderr?.setEncoding("utf8").on("data", (text: string) => {
      why = (why + text).slice(-LONGEST_WORD_BYTES);
    });
    // It may end before it has read its input; why, its code says.
    git.stdin?.on("error", () => {}).end(packs.map((name) => `pack-${name}.pack\n`).join(""));
    return new Promise((resolve) => {
      git.once("spawn", () => beNice(git.pid));
      git.once("error", (error) =>
        resolve({ code: errnoOf(error) === "ENOENT" ? null : 1, why: String(error) }),
      );
      git.once("close", (code, signal) => resolve({ code: code ?? 1, why: why || String(signal) }));
    });
  }

  return {
    run,
    async stop() {
      stopped = true;
      child?.kill("SIGKILL");
      await gone;
    },
  };
}

/** Our repository is read as an alternate of an empty one, so that even Git's temporary files stay out of it. */
function environment(gitdir: string, objects: string): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_"));
  return {
    ...Object.fromEntries(own),
    GIT_DIR: gitdir,
    GIT_OBJECT_DIRECTORY: objects,
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_OPTIONAL_LOCKS: "0",
    LC_ALL: "C",
  };
}

function beNice(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    setPriority(pid, NICEST);
  } catch (error) {
    // It has ended, or the system doesn't let us: it works as well, only less politely.
    if (errnoOf(error) !== "ERR_SYSTEM_ERROR") throw error;
  }
}
