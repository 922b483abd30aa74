/**
 * `notesd doctor`: what a person would look at one by one when something seems wrong. It looks only: nothing is
 * changed, repaired or started, and a daemon is asked only when one answers.
 */
import { execFile } from "node:child_process";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { z } from "zod";
import { addressOf, runningDaemon } from "../client/discover.ts";
import { callOverHttp } from "../client/http-call.ts";
import type { Finding, Flags } from "../doors/cli/host.ts";
import { readGitConfig } from "../lib/git-config.ts";
import type { GitPlace } from "../lib/git-dir.ts";
import { processLockHolder } from "../lib/process-lock.ts";
import { matchWords, WAYS_OUT } from "../notebook/reconcile/held-edits.ts";
import { readIndex } from "../store/git-index/git-index.ts";
import { readShared } from "../store/git-index/shared-index.ts";
import { isPurgeOpen } from "../store/purge/plan-file.ts";
import { purgedIds } from "../store/purge/purged-list.ts";
import { listRefs } from "../store/refs/refs.ts";
import { holdsPassword, PASSWORD_REMEDY, scrub } from "../store/remote/remote-url.ts";
import { hooksChanged } from "./hooks.ts";
import { mergedByLines } from "./merge-driver.ts";
import { checkRepository } from "./preflight.ts";
import { program } from "./program-file.ts";
import { resolveSettings, type Surroundings } from "./resolve.ts";

/** Files that open a door or prove who wrote: for their owner's eyes alone. */
const SECRETS = [
  "",
  "token",
  "proof.key",
  "proof.key.earlier",
  "agents.json",
  "persons.json",
  "daemon.json",
  "agent-tokens",
];

const Status = z.object({
  notes: z.number(),
  state: z.string(),
  quarantined: z.array(z.object({ path: z.string(), line: z.number().nullable(), reason: z.string() })),
  reported: z.array(z.object({ path: z.string(), reason: z.string() })).default([]),
  held: z
    .array(
      z.object({
        path: z.string(),
        matches: z.array(z.object({ kind: z.string(), line: z.number(), fingerprint: z.string() })),
      }),
    )
    // A daemon of an earlier version tells of none.
    .default([]),
});

const ok = (name: string, text: string): Finding => ({ name, state: "ok", text });
const note = (name: string, text: string): Finding => ({ name, state: "note", text });
const bad = (name: string, text: string): Finding => ({ name, state: "bad", text });

/**
 * Look at everything that a start or a write depends on.
 * @throws ProcessError USAGE no repository, or settings that can't be read
 */
export async function doctor(flags: Flags, around: Surroundings): Promise<Finding[]> {
  const warnings: string[] = [];
  const { place, settings } = await resolveSettings(flags, {
    ...around,
    warn: (text) => warnings.push(text),
  });
  const branch = settings.branch ?? "main";
  const refused = await checkRepository(place, branch, settings.roots ?? []).then(
    () => null,
    (error: unknown) => messageOf(error),
  );
  const hooks = await hooksChanged(place);
  const merging = await mergedByLines(place);
  return [
    ok("program", `notesd ${program.version}, Node ${process.version}`),
    await git(around.env),
    refused ? bad("repository", refused) : ok("repository", `${place.root}, branch ${branch}`),
    ...(warnings.length > 0 ? warnings.map((text) => note("settings", text)) : [ok("settings", "readable")]),
    ...index(place),
    hooks ? bad("hooks", hooks) : ok("hooks", "installed"),
    merging ? bad("merges", merging) : ok("merges", "notes are merged as notes"),
    ...(await remotes(place)),
    ...(await secrets(place)),
    ...purged(place),
    ...(await daemon(place)),
  ];
}

async function git(env: Surroundings["env"]): Promise<Finding> {
  try {
    const { stdout } = await promisify(execFile)("git", ["--version"], { env: { ...env }, timeout: 5_000 });
    return ok("git", stdout.trim());
  } catch {
    return note("git", "There is no git on the path; the daemon does without.");
  }
}

/** What can't be read is the repository's finding already. */
function index({ gitDir }: GitPlace): Finding[] {
  try {
    const { image, count } = readIndex(gitDir, (name) => readShared(gitDir, name)).index;
    if (image.shared === null) return [ok("index", `${count} entries, whole`)];
    const text = `${count} entries, split: Git reads it, programs that are not Git may not. To make it whole, stop the daemon and run git config notesd.splitIndex false, then git update-index --no-split-index`;
    return [ok("index", text)];
  } catch {
    return [];
  }
}

async function remotes({ gitDir }: GitPlace): Promise<Finding[]> {
  const values = await readGitConfig(join(gitDir, "config"));
  return [...values].flatMap(([key, urls]) =>
    /^remote\..+\.(?:push)?url$/.test(key) && urls.some(holdsPassword)
      ? [note("remotes", `${scrub(key)} in Git's config holds a password in clear: ${PASSWORD_REMEDY}.`)]
      : [],
  );
}

async function secrets(place: GitPlace): Promise<Finding[]> {
  const open: string[] = [];
  for (const name of SECRETS) {
    const path = join(place.gitDir, "notesd", name);
    const found = await stat(path).catch(() => null);
    if (found && (found.mode & 0o077) !== 0) open.push(path);
  }
  if (open.length === 0) return [ok("secrets", "readable by their owner alone")];
  return open.map((path) => bad("secrets", `${path} is open to other users; take that away: chmod go= PATH`));
}

/** Nothing where nothing was ever purged. */
function purged({ gitDir }: GitPlace): Finding[] {
  if (isPurgeOpen(gitDir))
    return [bad("purge", "One was cut short. Run notesd recover, or purge the same value again.")];
  const ids = purgedIds(gitDir);
  if (ids.size === 0) return [];
  const back = listRefs(gitDir, "refs").filter(({ id }) => ids.has(id));
  if (back.length === 0) return [ok("purge", "no ref holds what was purged")];
  return back.map(({ name }) =>
    bad(
      "purge",
      `${name} holds the purged history again; a fetch brings it back for as long as its remote has it. Have it replaced there, then purge the same value again.`,
    ),
  );
}

async function daemon(place: GitPlace): Promise<Finding[]> {
  const running = await runningDaemon(place).catch(() => null);
  if (!running) {
    const holder = await processLockHolder(join(place.gitDir, "notesd"));
    if (!holder) return [note("daemon", "None runs; the first command that needs one starts it.")];
    return [
      bad(
        "daemon",
        `Process ${holder.pid ?? "of another kind"} serves this repository but doesn't answer. See: notesd logs`,
      ),
    ];
  }
  const found = ok("daemon", `process ${running.pid} at ${running.url}, version ${running.version}`);
  try {
    const { url, token } = await addressOf(place, null);
    const { notes, state, quarantined, reported, held } = Status.parse(
      await callOverHttp(url, token, "daemon.status", {}),
    );
    return [
      found,
      stateOf(notes, state),
      ...quarantined.map(({ path, line, reason }) =>
        bad("notes", `${path}${line === null ? "" : `, line ${line}`} is no note: ${reason}`),
      ),
      ...held.map(({ path, matches }) =>
        bad("notes", `${path} is not committed, for it holds a secret: ${matchWords(matches)}; ${WAYS_OUT}`),
      ),
      // Those that are held are reported too, in fewer words.
      ...reported
        .filter(({ path }) => !held.some((edit) => edit.path === path))
        .map(({ path, reason }) => note("notes", `${path}: ${reason}`)),
    ];
  } catch (error) {
    return [found, bad("notes", messageOf(error))];
  }
}

const WORDS: Readonly<Record<string, string>> = {
  // Not in anybody's way: the branch gains notes, the files here stay another branch's.
  elsewhere: "another branch is checked out here",
  unborn: "the branch has no commit yet",
  locked: "another Git command holds a lock, and writes wait for it",
  diverged: "the remote's branch was rewritten; notesd sync tells the ways out",
  unsupported: "the repository was given a form in which nothing is written; daemon.status says which",
};

function stateOf(notes: number, state: string): Finding {
  if (state === "ok") return ok("notes", `${notes} can be read`);
  return note("notes", `${notes} can be read; ${WORDS[state] ?? `writes wait for the ${state}`}`);
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
