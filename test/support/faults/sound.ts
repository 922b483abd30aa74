/**
 * What must hold of a repository whatever happened to the process that wrote it: everything that was answered is
 * there once, a group is there whole or not at all, Git finds nothing wrong, and nothing of ours is left lying about.
 */
import { spawnSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { CommitId } from "../../../src/domain/note.ts";
import { createNoteIndex } from "../../../src/index/create.ts";
import type { GitStore } from "../../../src/store/git-store.ts";
import { committed, draft, message } from "../drafts.ts";
import { GIT_ENV } from "../git-env.ts";
import { allPlaced } from "../intents-on-disk.ts";
import { act, git, openFor, type Scenario } from "./scenarios.ts";

interface Aftermath {
  readonly scenario: Scenario;
  readonly root: string;
  /** The branch before; null: unborn. */
  readonly base: string | null;
  /** Ids of the commits that were answered. */
  readonly answered: readonly string[];
}

/** Files of ours that no repository at rest has. @param open  a store is at work: intents may wait for their files to be synced */
export function leftovers(root: string, open = false): string[] {
  const gitdir = join(root, ".git");
  const all = readdirSync(gitdir, { recursive: true, encoding: "utf8" });
  const named = all.filter((f) => /\.lock$|\.tmp$|objects\/pack\/(?!pack-)|notesd\/replaced$/.test(f));
  // An empty one may be a person's.
  const keeps = all.filter((f) => f.endsWith(".keep") && statSync(join(gitdir, f)).size > 0);
  const kept = ["intents", "prepared", "aside", "locks"].flatMap((f) =>
    readdirSync(join(gitdir, "notesd", f))
      .filter((name) => !(open && name.endsWith(".log") && allPlaced(gitdir)))
      .map((name) => `${f}/${name}`),
  );
  const copies = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((f) =>
    /conflicted copy/.test(f),
  );
  return [...named, ...keeps, ...kept, ...copies];
}

/** What native Git says of the objects; empty: nothing is wrong. */
export function gitProblems(root: string): string[] {
  const run = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync("git", args, { cwd: root, env: GIT_ENV, encoding: "utf8" });
    // A branch that isn't born yet is worth a notice to Git.
    const said = stderr.replace(/^notice: .*\n/gm, "");
    return status === 0 && said === "" ? [] : [`git ${args[0]}: ${status} ${stdout}${stderr}`];
  };
  const packs = join(root, ".git/objects/pack");
  const idx = readdirSync(packs)
    .filter((f) => f.endsWith(".idx"))
    .map((f) => join(packs, f));
  return [...run("fsck", "--strict", "--no-dangling"), ...(idx.length > 0 ? run("verify-pack", ...idx) : [])];
}

/** Commits of ours on the branch that were not there before, those that `writeOn` made left out. */
export function ownCommits(root: string, base: string | null): string[] {
  const range = base === null ? ["main"] : ["main", `^${base}`];
  const which = ["--committer=notesd", "--invert-grep", `--grep=${WRITTEN_ON}`];
  const { status, stdout } = spawnSync("git", ["rev-list", ...which, ...range], {
    cwd: root,
    env: GIT_ENV,
    encoding: "utf8",
  });
  // No branch yet: no commits.
  return status === 0 ? stdout.split("\n").filter((line) => line !== "") : [];
}

async function indexProblems(store: GitStore, base: string | null): Promise<string[]> {
  const tip = await store.tip();
  if (tip === null) return [];
  const read = (id: Parameters<GitStore["readBlob"]>[0]) => store.readBlob(id);
  const rebuilt = createNoteIndex();
  await rebuilt.rebuild(store.history(null, tip), read);
  const folded = createNoteIndex();
  // The branch's tip of before, as Git said it.
  const before = base as CommitId | null;
  if (before !== null) await folded.rebuild(store.history(null, before), read);
  const commits = [];
  for await (const events of store.history(before, tip)) commits.push(events);
  if (before === null) await folded.rebuild(store.history(null, tip), read);
  else if (before !== tip) await folded.apply(commits, read, tip);
  return folded.digest() === rebuilt.digest() ? [] : ["the index that followed is not the one rebuilt"];
}

type Say = (what: string, found: unknown, expected: unknown) => void;

const sayTo =
  (wrong: string[]): Say =>
  (what, found, expected) => {
    const [a, b] = [JSON.stringify(found), JSON.stringify(expected)];
    if (a !== b) wrong.push(`${what}: ${a}, not ${b}`);
  };

/**
 * Go on with a store whose last operation was refused, or stands: what was refused is not there, the same again is
 * taken, and so is the next write.
 * @param refused the operation failed
 */
export async function goOn(store: GitStore, after: Aftermath, refused: boolean): Promise<string[]> {
  const { scenario, root, base } = after;
  const wrong: string[] = [];
  const say = sayTo(wrong);
  const stands = ownCommits(root, base).length > 0;
  // One that goes on after its group may fail there.
  if (refused && scenario.act === undefined) say("refused and there all the same", stands, false);
  await again(scenario, store, root, stands || scenario.commits === 0, say);
  await writeOn(store);
  return wrong;
}

/**
 * Open the repository again as a new process would, look at everything, do the same again, and write on.
 * @returns what is wrong; empty when all holds
 */
export async function problemsAfter({ scenario, root, base, answered }: Aftermath): Promise<string[]> {
  const wrong: string[] = [];
  const say = sayTo(wrong);
  const { onStep: _, ...still } = scenario;
  const store = await openFor(still, root);
  try {
    const { owed, stuck } = store.recovery;
    say("owed by the start", [...owed, ...stuck], []);
    say("left behind", leftovers(root, true), []);
    const own = ownCommits(root, base);
    say("commits, no two alike", own.length, new Set(own).size);
    const stands = own.length > 0 || scenario.commits === 0;
    say("commits of the group", own.length, stands ? scenario.commits : 0);
    say(
      "answered and not there",
      answered.filter((id) => !own.includes(id)),
      [],
    );
    const expected = (own.length > 0 ? undefined : scenario.unfinished) ?? [""];
    const status = git(root, "status", "--porcelain");
    if (!expected.includes(status)) wrong.push(`git status: ${JSON.stringify(status)}`);
    wrong.push(...gitProblems(root), ...(await indexProblems(store, base)));
    await again(scenario, store, root, stands, say);
    say("commits after doing it again", ownCommits(root, base).length, scenario.commits);
    await writeOn(store);
    if (git(root, "symbolic-ref", "HEAD") !== "refs/heads/main") git(root, "checkout", "-q", "main");
    say("git status at the end", git(root, "status", "--porcelain"), "");
  } finally {
    await store.close();
  }
  say("left behind at the end", leftovers(root), []);
  wrong.push(...gitProblems(root));
  return wrong;
}

/** The same once more: it takes what was not done, and changes nothing that was. */
async function again(
  scenario: Scenario,
  store: GitStore,
  root: string,
  stands: boolean,
  say: Say,
): Promise<void> {
  const publication = await act(scenario, store, root);
  if (publication === null) return;
  const kinds = publication.outcomes.filter(({ kind }) => kind === "committed").length;
  say("committed when done again", kinds, stands ? 0 : scenario.commits);
}

const WRITTEN_ON = "Written on";
let writes = 0;
/** One more write, which no scenario knows of. */
export async function writeOn(store: GitStore): Promise<void> {
  const next = draft(`notes/on/${++writes}.md`, "on\n", null, { message: message({ title: WRITTEN_ON }) });
  const { outcomes } = await store.commit([next]);
  committed(outcomes[0]);
}
