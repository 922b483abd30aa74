/**
 * `notesd init`: make a note repository, or adopt one that is there. Works without Git, and again and again.
 * Which folder it becomes is `init-place.ts`; what the person is asked is the command line's.
 * Invariant: nothing that is tracked or that a person wrote is changed.
 *
 * @see spec: protocol, section 6 · storage, sections 1, 3.3 and 6
 */
import { randomBytes } from "node:crypto";
import { chmod, mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { COMMITTER } from "../domain/commit-message.ts";
import { ProcessError } from "../domain/process-error.ts";
import type { InitReport } from "../doors/cli/host.ts";
import { errnoOf, writeDurably } from "../lib/durable-file.ts";
import { readGitConfig, setGitConfig } from "../lib/git-config.ts";
import { type GitPlace, gitPlaceAt } from "../lib/git-dir.ts";
import { createRepository } from "../store/create-repository.ts";
import { readHead } from "../store/refs/refs.ts";
import { ATTRIBUTES_FILE, allRoots, attributeLines } from "./attributes.ts";
import { changeConfig, readConfig } from "./config-file.ts";
import { countMarkdownOutside } from "./count-markdown.ts";
import { GIT_ALIASES } from "./git-aliases.ts";
import { addLines } from "./git-dir-lines.ts";
import { installHooks, writeLauncher } from "./hooks.ts";
import { openIdentities } from "./identities/identities.ts";
import { mergeDriverConfig } from "./merge-driver.ts";
import { personOf } from "./person.ts";
import { checkRepository } from "./preflight.ts";
import { program } from "./program-file.ts";
import { parseSettings } from "./read-settings.ts";

interface InitWish {
  /** Absolute folder of the working tree to be; made when absent. */
  readonly dir: string;
  /** Null: as they are set already, else only notes and memory. */
  readonly roots: readonly string[] | null;
  readonly branch: string | null;
  readonly remote: string | null;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly nowMs: number;
}

/** Of `--remote`. */
const REMOTE = "origin";

/** Of `info/exclude`: no file of a person's, and none to commit. */
export const INDEX_EXCLUDED = "/notes_index.json";

/** What `init` sets, beside hooks and the mark. */
export const GIT_CONFIG = {
  "core.fsync": "committed,reference",
  "core.trustctime": "false",
  "index.version": "2",
  "gc.autoPackLimit": "1000",
  "uploadpack.allowFilter": "true",
  "receive.denyCurrentBranch": "updateInstead",
  "receive.denyDeletes": "true",
  "receive.denyNonFastForwards": "true",
  "receive.fsckObjects": "true",
  // pre-receive refuses it, and says in which file and what to do.
  "receive.fsck.hasDotgit": "warn",
  "receive.procReceiveRefs": "refs/for",
} as const;

/** @throws ProcessError USAGE what can't become a note repository; NotesError STORAGE */
export async function init(wish: InitWish): Promise<InitReport> {
  const wanted = parseSettings(wish.roots === null ? {} : { roots: [...wish.roots] }, "--roots").roots;
  if (wish.remote !== null) parseSettings({ sync: { remote: wish.remote } }, "--remote");
  const before = await gitPlaceAt(wish.dir);
  if (before) await checkBefore(before, wish, wanted);
  const place = before ?? (await make(wish, wanted ?? []));
  const config = join(place.gitDir, "config");
  const values = await readGitConfig(config);
  const again = values.get("notesd.marked")?.at(-1) === "true";
  const folder = join(place.gitDir, "notesd");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await chmod(folder, 0o700);

  const set = await changeConfig(place, (now) => ({
    ...now,
    branch: wish.branch ?? now.branch ?? branchOf(place),
    ...(wanted ? { roots: wanted } : {}),
    ...(wish.remote === null ? {} : { sync: { ...now.sync, remote: REMOTE } }),
  }));
  const roots = allRoots(set.roots ?? []);
  await ensureAttributes(place, roots);
  await addLines(place, "info/exclude", `${INDEX_EXCLUDED}\n`);
  await ensureFile(join(folder, "proof.key"), `${randomBytes(32).toString("hex")}\n`);
  await openIdentities(folder, () => wish.nowMs).ownerToken(await personOf(place, wish.env));
  if (wish.remote !== null) await setRemote(config, wish.remote);
  await installHooks(place);
  await writeLauncher(place, process.execPath, program.bin);
  // Who has turned it off keeps it so.
  const splitIndex = values.get("notesd.splitindex")?.at(-1) ?? "true";
  await setGitConfig(config, {
    ...GIT_CONFIG,
    ...ownAliases(values),
    ...mergeDriverConfig(place),
    "notesd.splitIndex": splitIndex,
    "notesd.marked": "true",
  });
  return {
    repo: place.root,
    branch: set.branch ?? branchOf(place),
    roots,
    made: before === null,
    again,
    markdown_outside_roots: await countMarkdownOutside(place.root, roots),
  };
}

/** The aliases that are not there yet: one that a person made or changed is theirs. */
function ownAliases(values: ReadonlyMap<string, readonly string[]>): Record<string, string> {
  return Object.fromEntries(Object.entries(GIT_ALIASES).filter(([key]) => !values.has(key)));
}

/** @throws ProcessError USAGE what can't be served is not adopted either, and nothing in it is changed */
async function checkBefore(
  place: GitPlace,
  wish: InitWish,
  roots: readonly string[] | undefined,
): Promise<void> {
  const now = await readConfig(place);
  const branch = wish.branch ?? now.branch ?? branchOf(place);
  await checkRepository(place, branch, roots ?? now.roots ?? []);
}

async function make(wish: InitWish, roots: readonly string[]): Promise<GitPlace> {
  await mkdir(wish.dir, { recursive: true }).catch((error: unknown) => {
    if (!["EEXIST", "ENOTDIR"].includes(errnoOf(error) ?? "")) throw error;
    throw new ProcessError("USAGE", `${wish.dir} is a file, or lies below one. Name a folder.`, error);
  });
  const author = await personOf(null, wish.env);
  const ownAttributes = await stat(join(wish.dir, ".gitattributes")).catch(() => null);
  await createRepository({
    dir: wish.dir,
    branch: wish.branch ?? "main",
    // A person's own file stays theirs; ours then go to info/attributes, as in an adopted repository.
    files: ownAttributes ? {} : { ".gitattributes": attributeLines(roots) },
    subject: "init: notes keep their bytes",
    author,
    committer: COMMITTER,
    atMs: wish.nowMs,
  });
  const place = await gitPlaceAt(wish.dir);
  if (!place)
    throw new ProcessError("STORAGE", `${wish.dir}: the repository that was just made is not there.`);
  return place;
}

/** The branch HEAD is on. @throws ProcessError USAGE a detached HEAD */
function branchOf(place: GitPlace): string {
  const head = readHead(place.gitDir);
  if (head.kind === "branch" && head.ref.startsWith("refs/heads/"))
    return head.ref.slice("refs/heads/".length);
  throw new ProcessError("USAGE", `${place.root} is on no branch. Check one out, or name it: --branch NAME.`);
}

/**
 * See that Git converts no note of these roots. The tracked .gitattributes tells clones; here our lines stand in the
 * Git directory too, where no .gitattributes that a push brings is stronger.
 */
export const ensureAttributes = (place: GitPlace, roots: readonly string[]): Promise<void> =>
  addLines(place, ATTRIBUTES_FILE, attributeLines(roots));

/** Write a file, readable by its owner alone, unless it is there. */
async function ensureFile(file: string, text: string): Promise<void> {
  if (await stat(file).catch(() => null)) return;
  await writeDurably(file, text, { mode: 0o600 });
}

async function setRemote(config: string, url: string): Promise<void> {
  await setGitConfig(config, {
    [`remote.${REMOTE}.url`]: url,
    [`remote.${REMOTE}.fetch`]: `+refs/heads/*:refs/remotes/${REMOTE}/*`,
  });
}
