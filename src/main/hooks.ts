/**
 * Installs the hooks: copies into `<gitdir>/notesd/hooks`, `core.hooksPath` set to that absolute folder, the
 * earlier value remembered. Also the launcher `<gitdir>/notesd/bin` that hooks call.
 * Invariant: every hook that ran before runs afterwards.
 *
 * @see spec: storage, section 6
 */
import { chmod, copyFile, mkdir, readdir, rename } from "node:fs/promises";
import { isAbsolute, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { writeDurably } from "../lib/durable-file.ts";
import { readGitConfig, setGitConfig } from "../lib/git-config.ts";
import type { GitPlace } from "../lib/git-dir.ts";

const OURS = ["pre-commit", "pre-receive", "post-receive"];
/** They only tell that something moved. */
const TELLING = ["post-commit", "post-merge", "post-checkout", "post-rewrite"];
const PASSED_ON = [
  "applypatch-msg",
  "commit-msg",
  "post-applypatch",
  "post-update",
  "pre-applypatch",
  "pre-auto-gc",
  "pre-merge-commit",
  "pre-push",
  "pre-rebase",
  "prepare-commit-msg",
  "update",
];
// Their mere presence changes what Git does, or they run very often: passed on only where there is one.
const ONLY_IF_PRESENT = ["push-to-checkout", "reference-transaction", "fsmonitor-watchman"];
/** It answers Git, so there is one: a repository's own stays, and pushes to refs/for are its own to take then. */
const ANSWERING = "proc-receive";

const SOURCES = fileURLToPath(new URL("../../hooks", import.meta.url));

/** Where our hooks lie. */
export const hooksFolder = (place: GitPlace): string => join(place.gitDir, "notesd", "hooks");

/** Install or refresh the hooks. Safe to repeat. */
export async function installHooks(place: GitPlace): Promise<void> {
  const earlier = await refreshHooks(place);
  await setGitConfig(join(place.gitDir, "config"), {
    "notesd.hooksPath": earlier,
    "core.hooksPath": hooksFolder(place),
  });
}

/**
 * Write our hooks as this version has them, and nothing else: smart HTTP runs them whatever `core.hooksPath` says.
 * @returns the value of `core.hooksPath` that is not ours; null: none
 */
export async function refreshHooks(place: GitPlace): Promise<string | null> {
  const folder = hooksFolder(place);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const values = await readGitConfig(join(place.gitDir, "config"));
  const current = values.get("core.hookspath")?.at(-1) ?? null;
  const earlier = current === folder ? (values.get("notesd.hookspath")?.at(-1) ?? null) : current;
  const earlierFolder =
    earlier === null
      ? join(place.gitDir, "hooks")
      : isAbsolute(earlier)
        ? earlier
        : resolve(place.root, earlier);
  const present: string[] = await readdir(earlierFolder).catch(() => []);
  const answering = present.includes(ANSWERING) ? "run-earlier" : ANSWERING;
  await copy("run-earlier", join(folder, "run-earlier"));
  for (const name of OURS) await copy(name, join(folder, name));
  for (const name of TELLING) await copy("moved", join(folder, name));
  await copy(answering, join(folder, ANSWERING));
  for (const name of [...PASSED_ON, ...ONLY_IF_PRESENT.filter((one) => present.includes(one))]) {
    await copy("run-earlier", join(folder, name));
  }
  return earlier;
}

/** Put in place whole: a Git may be running it just now. */
async function copy(name: string, to: string): Promise<void> {
  const made = `${to}.new`;
  await copyFile(join(SOURCES, name), made);
  await chmod(made, 0o755);
  await rename(made, to);
}

/** A sentence when something else has taken `core.hooksPath` since `init`; null when all is well. */
export async function hooksChanged(place: GitPlace): Promise<string | null> {
  const values = await readGitConfig(join(place.gitDir, "config"));
  const current = values.get("core.hookspath")?.at(-1);
  if (current === hooksFolder(place)) return null;
  return `core.hooksPath is ${current ?? "unset"}, so the hooks of notesd don't run; notesd init sets it again.`;
}

/** The Git config under which hooks run as they did before `installHooks`; someone else's `core.hooksPath` stays. */
export async function earlierHooks(place: GitPlace): Promise<Record<string, string | null>> {
  const values = await readGitConfig(join(place.gitDir, "config"));
  const ours = values.get("core.hookspath")?.at(-1) === hooksFolder(place);
  const earlier = values.get("notesd.hookspath")?.at(-1) ?? null;
  return { ...(ours ? { "core.hooksPath": earlier } : {}), "notesd.hooksPath": null };
}

/** Write the launcher that hooks call: this Node and this program, by absolute path. */
export async function writeLauncher(place: GitPlace, node: string, program: string): Promise<void> {
  const quoted = [node, program].map((path) => `'${path.replaceAll("'", "'\\''")}'`).join(" ");
  await writeDurably(
    join(place.gitDir, "notesd", "bin"),
    `#!/bin/sh\nNOTESD_AT=\${0%/*} exec ${quoted} "$@"\n`,
    {
      mode: 0o755,
    },
  );
}
