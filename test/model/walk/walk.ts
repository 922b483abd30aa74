/**
 * One walk over three trees: what a person does and what the daemon does, one after the other, and after each of them
 * what must hold. Steps are numbers, so that a walk that fails can be made shorter and said again.
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { repoState } from "../../../src/store/refs/repo-state.ts";
import { standingLocks } from "../../support/notebook-on-git.ts";
import { commitAll, DAEMON, look } from "./daemon.ts";
import { comeHome, commitStaged, PERSON, REF_ALONE } from "./person.ts";
import type { Places } from "./texts.ts";
import { openWorld, type World } from "./world.ts";

export interface Step {
  readonly name: string;
  readonly a: number;
  readonly b: number;
}

const DEEDS = { ...PERSON, ...DAEMON };
/** Every step's name, as often as it is to be taken. */
export const STEP_NAMES = Object.entries(DEEDS).flatMap(([name, [times]]) =>
  Array.from({ length: times }, () => name),
);

const minus = (from: ReadonlySet<string>, ...others: ReadonlySet<string>[]) =>
  [...from].filter((token) => !others.some((other) => other.has(token)));

class WalkFailure extends Error {}

function must(holds: boolean, what: string, detail: unknown): void {
  if (!holds) throw new WalkFailure(`${what}: ${JSON.stringify(detail)}`);
}

/** What is known of texts beyond where they are. */
interface Books {
  /** Texts that a person took off the disk, and that aren't there again: they may leave the branch. */
  readonly takenOff: Set<string>;
  /** Texts that a person's own command took out of every ref: reflogs have them, unless they were in a stash or nowhere. */
  readonly dropped: Set<string>;
  /** Paths whose Git index entry differs from the branch by something that a person did to it. */
  readonly staged: Set<string>;
}

/** For people: where a text was. */
const placesOf = (token: string, places: Places) => [
  ...[...places.diskFiles].flatMap(([path, text]) => (text.includes(token) ? [path] : [])),
  ...(["refs", "firm", "tip", "index"] as const).filter((place) => places[place].has(token)),
];

/** The daemon loses nothing, moves nothing of a person's, and takes nothing off the branch that nobody removed. */
function checkDaemon(world: World, before: Places, after: Places, { takenOff }: Books): void {
  must(before.others === after.others, "the daemon moved what is a person's", [before.others, after.others]);
  const gone = minus(
    new Set([...before.disk, ...before.index, ...before.refs]),
    after.refs,
    after.disk,
    after.index,
  );
  const replaced = (token: string) => world.replaced.has(token);
  // A save of theirs that was kept as a conflict is resolved by what they did to it since.
  const undone = (token: string) => takenOff.has(token) && !before.firm.has(token);
  must(
    gone.every((token) => replaced(token) || undone(token)),
    "the daemon lost texts",
    gone.map((token) => [token, placesOf(token, before)]),
  );
  const offTip = minus(before.tip, after.tip).filter((token) => !takenOff.has(token) && !replaced(token));
  must(offTip.length === 0, "the daemon took texts off the branch", offTip);
  checkStaged(before, after);
}

/** An edit that is adopted in the very moment in which it is staged is level after it. */
function checkStaged(before: Places, after: Places): void {
  for (const [key, blob] of before.entries) {
    const path = key.slice(0, -2);
    if (key.endsWith(":0") && before.tipFiles.get(path) === blob) continue;
    const now = after.entries.get(key);
    const nowLevel = key.endsWith(":0") && now === after.tipFiles.get(path);
    must(now === blob || nowLevel, "what a person staged is no longer staged", [key, blob, now]);
  }
}

/** While the files are not the branch's the daemon touches neither them nor the Git index. */
function checkAway(before: Places, after: Places): void {
  const differing = [...new Set([...before.diskFiles.keys(), ...after.diskFiles.keys()])].filter(
    (path) => before.diskFiles.get(path) !== after.diskFiles.get(path),
  );
  must(differing.length === 0, "files changed that were not the branch's", differing);
  const entries = JSON.stringify([...before.entries]);
  must(entries === JSON.stringify([...after.entries]), "the Git index changed that was not the branch's", []);
}

function noteDrops(before: Places, after: Places, { takenOff, dropped }: Books, refAlone = false): void {
  for (const token of minus(before.disk, after.disk)) takenOff.add(token);
  // Who takes the branch back and leaves the files has taken off what they don't hold.
  const moved = before.main !== after.main && !refAlone;
  for (const token of moved ? minus(after.tip, after.disk) : []) takenOff.add(token);
  for (const token of after.disk) takenOff.delete(token);
  for (const token of minus(before.refs, after.refs)) dropped.add(token);
  for (const token of after.refs) dropped.delete(token);
}

const entryAt = (places: Places, path: string) => places.entries.get(`${path}:0`);
const isLevel = (places: Places, path: string) => entryAt(places, path) === places.tipFiles.get(path);
const pathsOf = (places: Places) => [
  ...new Set([...[...places.entries.keys()].map((key) => key.slice(0, -2)), ...places.tipFiles.keys()]),
];

/** An entry is staged by who changed it or moved HEAD; an entry that a branch moved alone leaves behind is nobody's. */
function noteStaged(before: Places, after: Places, { staged }: Books, refAlone: boolean): void {
  for (const path of pathsOf(after)) {
    const theirs = before.head !== after.head || entryAt(before, path) !== entryAt(after, path);
    if (isLevel(after, path)) staged.delete(path);
    else if (!refAlone && (theirs || isLevel(before, path))) staged.add(path);
  }
}

async function daemonStep(world: World, books: Books, work: () => Promise<unknown>): Promise<void> {
  const state = () => repoState(world.repo.gitdir, "refs/heads/main").state;
  const before = world.texts.look();
  const was = state();
  world.replaced.clear();
  await work();
  const after = world.texts.look();
  checkDaemon(world, before, after, books);
  if (was !== "ok" && was !== "unborn") checkAway(before, after);
  for (const token of after.refs) books.dropped.delete(token);
  // Of a text that lies in copies an agent may replace the last one, after a person removed the others.
  for (const token of minus(before.disk, after.disk))
    if (world.replaced.has(token)) books.takenOff.add(token);
}

async function take(world: World, books: Books, { name, a, b }: Step): Promise<void> {
  world.story.push(`${name} (${a}, ${b})`);
  const own = DAEMON[name]?.[1];
  if (own !== undefined) return daemonStep(world, books, () => own(world, a, b));
  const before = world.texts.look();
  world.kept.clear();
  PERSON[name]?.[1](world, a, b);
  const after = world.texts.look();
  noteDrops(before, after, books, name === REF_ALONE);
  noteStaged(before, after, books, name === REF_ALONE);
  if (b % 5 === 0) return;
  world.story.push(`    looked at, way ${b % 5}`);
  await daemonStep(world, books, () => look(world, b % 5));
  const { diskFiles } = world.texts.look();
  const changed = [...world.kept].filter(([path, text]) => diskFiles.get(path) !== text);
  must(changed.length === 0, "the daemon undid what a person did right after their commit", changed);
}

/** Everything ended, committed and settled: branch, index and files agree, and every text is somewhere. */
async function checkEnd(world: World, books: Books, written: ReadonlySet<string>): Promise<void> {
  const { repo } = world;
  const before = world.texts.look();
  comeHome(world);
  const home = world.texts.look();
  noteDrops(before, home, books);
  noteStaged(before, home, books, false);
  const settle = async () => {
    await world.on.driven(world.on.disk.headMoved());
    await world.on.settle();
    await world.on.settle();
  };
  await daemonStep(world, books, settle);
  const still = world.texts.look();
  const kept = new Set((await world.on.notebook.conflicts()).map(({ path }) => path as string));
  const lagging = pathsOf(still).filter(
    (path) => !isLevel(still, path) && !books.staged.has(path) && !kept.has(path),
  );
  must(
    lagging.length === 0,
    "the Git index lags, and the person's next commit would undo what the branch has",
    lagging,
  );
  commitStaged(world);
  noteDrops(still, world.texts.look(), books);
  await daemonStep(world, books, settle);
  const status = await world.on.notebook.status();
  const conflicts = new Set((await world.on.notebook.conflicts()).map(({ path }) => path as string));
  const free = status.unsettled.filter((path) => !conflicts.has(path));
  must(free.length === 0, "edits stay unsettled that nothing holds", free);
  must(status.pending.length === 0, "files stay pending", status.pending);
  const dirty = repo
    .git("status", "--porcelain", "-z", "--no-renames", "--", "notes")
    .split("\0")
    .filter((line) => line !== "");
  const unexpected = dirty.filter((line) => !conflicts.has(line.slice(3)));
  must(unexpected.length === 0, "git status is not clean", [status.state, unexpected]);
  // Who commits a conflict as it lies on the disk resolves it so.
  await daemonStep(world, books, () => commitAll(world));
  const left = repo.git("status", "--porcelain", "--", "notes");
  must(left === "", "git status is not clean after notesd commit", left);
  const { equal, digest, rebuilt, problems } = await world.on.notebook.verify();
  must(equal && digest === rebuilt, "the index is not what a rebuild makes", { digest, rebuilt, problems });
  const real = problems.filter(({ kind }) => kind !== "duplicate_id");
  must(real.length === 0, "daemon.verify finds problems", real);
  await world.on.close();
  must(standingLocks(repo.gitdir).length === 0, "locks are left", standingLocks(repo.gitdir));
  const intents = join(repo.gitdir, "notesd/intents");
  must(!existsSync(intents) || readdirSync(intents).length === 0, "intents are left", []);
  const fsck = repo.tryGit("fsck", "--strict", "--no-dangling");
  must(fsck.status === 0 && fsck.stdout === "", "fsck complains", [fsck.stdout, fsck.stderr]);
  const now = world.texts.look();
  const nowhere = minus(written, now.refs, now.disk);
  must(
    nowhere.every((token) => books.dropped.has(token)),
    "texts that were on a ref are nowhere, though no command of a person's dropped them",
    nowhere,
  );
  must(world.on.warnings.length === 0, "the notebook warns", world.on.warnings);
}

/**
 * Take a walk.
 * @throws Error with the whole story when something doesn't hold
 */
export async function walk(steps: readonly Step[]): Promise<void> {
  const world = await openWorld();
  const books: Books = { takenOff: new Set(), dropped: new Set(), staged: new Set() };
  const onRefs = new Set<string>();
  let over = false;
  try {
    for (const step of steps) {
      await take(world, books, step);
      for (const token of world.texts.look().refs) onRefs.add(token);
    }
    await checkEnd(world, books, onRefs);
    over = true;
  } catch (error) {
    const message = error instanceof WalkFailure ? error.message : (error as Error).stack;
    throw new Error(`${message}\n${world.story.map((line) => `  ${line}`).join("\n")}`);
  } finally {
    if (!over) await world.on.close().catch(() => {});
    world.remove();
  }
}
