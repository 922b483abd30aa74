/**
 * `pre-receive`: whether a push may go on. What it brings is judged here, through native Git in the push's own
 * quarantine; then, for a push of the branch, the daemon lends the writer. Without a daemon the writer lock
 * is taken for the check, so that none begins to write meanwhile. Invariant: what is refused changed nothing.
 *
 * @see spec: storage, section 6
 */
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { CommitId } from "../../domain/note.ts";
import { type LeaseWish, PushRules } from "../../doors/hook.ts";
import type { GitPlace } from "../../lib/git-dir.ts";
import { pidSpace } from "../../lib/process-alive.ts";
import { takeProcessLock } from "../../lib/process-lock.ts";
import type { LeaseAnswer } from "../../notebook/push/push-side.ts";
import { type SecretGuard, secretGuard } from "../../notebook/secrets/secret-guard.ts";
import { isPurgeOpen } from "../../store/purge/plan-file.ts";
import { publishedIntents } from "../../store/recovery/published-intents.ts";
import { readHead } from "../../store/refs/refs.ts";
import { pushRules } from "../push-rules.ts";
import { proofKey } from "../read-proof-key.ts";
import { resolveSettings, type Surroundings } from "../resolve.ts";
import { askDaemon } from "./ask-daemon.ts";
import { type Fault, refusalOf } from "./fault.ts";
import { type HookGit, hookGit } from "./hook-git.ts";
import { broughtFiles, fileFaults } from "./pushed-files.ts";
import { type PushedNotes, readPushedNotes, takenId } from "./pushed-notes.ts";
import { purgedFaults } from "./pushed-purged.ts";
import { parseUpdates, type RefUpdate, refFaults } from "./pushed-refs.ts";
import { secretFaults, secretRefFaults } from "./pushed-secrets.ts";
import { takenIds } from "./taken-ids.ts";

const RULES_WITHIN_MS = 10_000;
/** A daemon that starts or stops is waited for. */
const START_WITHIN_MS = 15_000;
const AGAIN_MS = 200;
/** Another push may have the writer for a minute, and edits are committed first. */
const LEASE_WITHIN_MS = 120_000;
const END_WITHIN_MS = 60_000;
/** So many changed files are told of; nobody reads more. */
const MOST_DIRTY = 1_000;

interface Push {
  readonly place: GitPlace;
  readonly around: Surroundings;
  readonly git: HookGit;
  /** Of receive-pack. */
  readonly pid: number;
  readonly updates: readonly RefUpdate[];
  readonly guard: SecretGuard;
  /** For the pusher's terminal. */
  say(text: string): void;
}

/** @returns the hook's exit code */
export async function preReceive(
  place: GitPlace,
  around: Surroundings,
  pid: number,
  input: string,
  say: (text: string) => void,
): Promise<number> {
  const git = hookGit(place, around.env);
  const stateDir = join(place.gitDir, "notesd");
  const guard = secretGuard(stateDir, await proofKey(join(stateDir, "proof.key")), Date.now);
  const push: Push = { place, around, git, pid, updates: parseUpdates(input), guard, say };
  const faults = await check(push);
  if (faults.length > 0) say(refusalOf(faults));
  return faults.length > 0 ? 1 : 0;
}

/** By the daemon's rules, or under the writer lock; one of both can be had soon. */
async function check(push: Push): Promise<readonly Fault[]> {
  for (const startedMs = Date.now(); ; await pause(AGAIN_MS)) {
    const told = await askDaemon(push.place, "/hooks/rules", {}, RULES_WITHIN_MS);
    if (told !== null) return judge(push, PushRules.parse(told), true);
    const attempt = await takeProcessLock(join(push.place.gitDir, "notesd"));
    if (attempt.kind === "taken") {
      try {
        return await alone(push);
      } finally {
        attempt.lock.release();
      }
    }
    if (Date.now() - startedMs > START_WITHIN_MS)
      return [fault("", "notesd is starting, stopping or busy there", "Push again in a moment.")];
  }
}

/** Under the writer lock. */
async function alone(push: Push): Promise<readonly Fault[]> {
  if (isPurgeOpen(push.place.gitDir)) {
    const what = "notesd ended there in the middle of a purge";
    return [fault("", what, "Run notesd recover (or notesd start) there, then push again.")];
  }
  if ((await publishedIntents(push.place.gitDir)) > 0) {
    const what = "notesd ended there in the middle of a write";
    return [fault("", what, "Run notesd recover (or notesd start) there, then push again.")];
  }
  const { settings } = await resolveSettings({ repo: push.place.root }, push.around);
  return judge(push, pushRules(settings), false);
}

async function judge(push: Push, rules: PushRules, daemon: boolean): Promise<readonly Fault[]> {
  const { git, updates, guard } = push;
  // Set by the daemon's own door alone.
  const refs = await refFaults(git, updates, rules, push.around.env["REMOTE_USER"] || null);
  const faultyRefs = [...refs, ...(await secretRefFaults(updates, guard))];
  if (faultyRefs.length > 0) return faultyRefs;
  const tips = updates.flatMap(({ to }) => to ?? []);
  const purged = await purgedFaults(git, push.place.gitDir, tips);
  if (purged.length > 0) return purged;
  const looked = await broughtFiles(git, tips);
  const files = [
    ...(await fileFaults(git, looked, rules)),
    ...(await secretFaults(git, tips, looked, rules, guard)),
  ];
  const brought = updates.find(
    ({ ref }) => ref === `refs/heads/${rules.branch}` || ref === `refs/for/${rules.branch}`,
  );
  if (brought === undefined || brought.to === null) return files;
  const own = brought.ref.startsWith("refs/heads/");
  const base = own ? brought.from : await mergeBase(git, rules.branch, brought.to);
  const notes = await readPushedNotes(git, base, brought.to, rules);
  // The size of a note is seen by both.
  const told = new Set(files.map(({ where }) => where));
  const faults = [...files, ...notes.faults.filter(({ where }) => !told.has(where))];
  if (faults.length > 0) return faults;
  for (const text of notes.warnings) push.say(`notesd: ${text}\n`);
  const wish = { from: brought.from, to: brought.to, ids: notes.ids };
  if (!own) return [];
  return daemon ? lease(push, rules, wish) : withoutDaemon(push, rules, wish);
}

async function mergeBase(git: HookGit, branch: string, tip: CommitId): Promise<string | null> {
  // Exit 1: no common history.
  const found = await git.found(["merge-base", `refs/heads/${branch}`, tip]);
  return found === null ? null : found.trim();
}

interface Wish {
  readonly from: CommitId | null;
  readonly to: CommitId;
  readonly ids: PushedNotes["ids"];
}

async function lease(push: Push, rules: PushRules, wish: Wish): Promise<readonly Fault[]> {
  const { place, pid } = push;
  const dirty = await changedFiles(push, rules);
  const asked: LeaseWish = {
    ...wish,
    ids: [...wish.ids],
    pid,
    space: pidSpace(),
    dirty: dirty.slice(0, MOST_DIRTY),
  };
  // The daemon's own words, from its own types.
  const answer = (await askDaemon(place, "/hooks/pre-receive", asked, LEASE_WITHIN_MS)) as LeaseAnswer | null;
  if (answer === null) return [fault("", "notesd stopped there just now", "Push again in a moment.")];
  if (answer.kind !== "granted") return faultsOf(answer, rules);
  // What lay changed before may be adopted by now; what still does, Git would refuse without naming it.
  const left = dirty.length === 0 ? [] : await changedFiles(push, rules);
  if (left.length === 0) return [];
  await askDaemon(place, "/hooks/post-receive", { pid }, END_WITHIN_MS);
  return left.map(changedFault);
}

/** Nobody else writes: what the daemon would ask, as far as it can be seen without an index. */
async function withoutDaemon(
  push: Push,
  rules: PushRules,
  { from, to, ids }: Wish,
): Promise<readonly Fault[]> {
  const now = await push.git.found(["rev-parse", "--verify", "--quiet", `refs/heads/${rules.branch}`]);
  if ((now ?? "").trim() !== (from ?? "")) return [behind(rules)];
  const left = await changedFiles(push, rules);
  if (left.length > 0) return left.map(changedFault);
  return takenIds(push.git, to, ids, rules);
}

/** Tracked files that differ from HEAD where HEAD is the branch: Git brings none of those forward. */
async function changedFiles({ place, git }: Push, { branch }: PushRules): Promise<string[]> {
  const head = readHead(place.gitDir);
  if (head.kind !== "branch" || head.ref !== `refs/heads/${branch}`) return [];
  const listed = await git.text(["status", "--porcelain=v1", "-z", "--untracked-files=no", "--no-renames"]);
  return listed.split("\0").flatMap((line) => (line === "" ? [] : [line.slice(3)]));
}

const fault = (where: string, what: string, remedy: string): Fault => ({
  where: where || "this repository",
  what,
  remedy,
});

const changedFault = (path: string) =>
  fault(
    path,
    "holds changes there that are not committed",
    "Commit or stash them in the repository that you push to, then push again.",
  );

const behind = ({ branch }: PushRules) =>
  fault(
    `refs/heads/${branch}`,
    "has newer commits by now",
    `Fetch and push again (git pull --rebase && git push), or let the daemon merge: git push origin HEAD:refs/for/${branch}`,
  );

const COMMIT_THERE = "Commit it in the repository that you push to, then push again.";

/** Whoever pushes may not be who edited. */
const past = ({ branch }: PushRules) =>
  `Whose edit it is takes the value out, or lets it pass with notesd allow FINGERPRINT. Until then the daemon merges past it: git push origin HEAD:refs/for/${branch}`;

function faultsOf(answer: Exclude<LeaseAnswer, { kind: "granted" }>, rules: PushRules): Fault[] {
  switch (answer.kind) {
    case "behind":
      return [behind(rules)];
    case "busy":
      return [fault("", answer.why, "Push again in a moment.")];
    case "taken":
      return answer.ids.map(({ id, path, at }) => takenId(path, id, at));
    case "held":
      return answer.files.map(({ path, why, secret }) =>
        fault(path, why, secret ? past(rules) : COMMIT_THERE),
      );
  }
}

/** `post-receive`: the lease has done its service. */
export async function postReceive(place: GitPlace, pid: number): Promise<void> {
  await askDaemon(place, "/hooks/post-receive", { pid }, END_WITHIN_MS);
}
