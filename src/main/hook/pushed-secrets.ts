/**
 * Secrets in what a push brings: in every new file of every new commit, in names of files, and in commits and tags
 * themselves; history is for ever. Invariant: the pusher reads where and of which kind, and no value.
 */
import { decodeNote } from "../../domain/note-text.ts";
import type { SecretMatch } from "../../domain/secrets/secrets.ts";
import type { PushRules } from "../../doors/hook.ts";
import type { SecretGuard } from "../../notebook/secrets/secret-guard.ts";
import type { Fault } from "./fault.ts";
import type { HookGit } from "./hook-git.ts";
import type { Brought } from "./pushed-files.ts";
import type { RefUpdate } from "./pushed-refs.ts";
import { blobSizes, inParts, readBlobs } from "./read-blobs.ts";

interface Judging {
  readonly git: HookGit;
  readonly guard: SecretGuard;
  readonly rules: PushRules;
  /** Every path that the push's commits bring. */
  readonly brought: readonly Brought[];
  /** Objects that are nowhere in our history, with their sizes in bytes. */
  readonly fresh: ReadonlyMap<string, number>;
}

interface Told extends SecretMatch {
  /** That brought it; of a commit's or tag's own text its id. */
  readonly commit: string;
  /** Null: it is no file's. */
  readonly path: string | null;
  /** It is in the path itself. */
  readonly isName: boolean;
}

/**
 * Look through everything that is new to our history.
 * @param tips     what the push moves refs to
 * @param brought  what its commits bring
 * @cost each new blob, commit and tag is read once
 */
export async function secretFaults(
  git: HookGit,
  tips: readonly string[],
  brought: readonly Brought[],
  rules: PushRules,
  guard: SecretGuard,
): Promise<Fault[]> {
  if (tips.length === 0) return [];
  const judging = { git, guard, rules, brought, fresh: await freshObjects(git, tips, rules) };
  const named = await inNames(judging);
  const hidden = new Set(named.map(({ path }) => path));
  const faults = new Map<string, Fault>();
  for (const match of [...named, ...(await inObjects(judging))]) {
    const where = placeOf(match, hidden);
    const key = `${where} ${match.fingerprint}`;
    if (faults.has(key)) continue;
    guard.allowed.noteRefusal(match, `push: ${where}`);
    faults.set(key, faultOf(match, where));
  }
  return [...faults.values()];
}

/** Names of branches and tags that are new here: they are files of ours, and every later clone has them. */
export async function secretRefFaults(updates: readonly RefUpdate[], guard: SecretGuard): Promise<Fault[]> {
  const where = "the name of a branch or tag";
  const faults: Fault[] = [];
  for (const { from, to, ref } of updates) {
    if (from !== null || to === null) continue;
    for (const match of await guard.find(ref, null)) {
      guard.allowed.noteRefusal(match, `push: ${where}`);
      const { kind, fingerprint } = match;
      faults.push({
        where,
        what: `holds what looks like a secret: ${kind} (fingerprint ${fingerprint})`,
        remedy: `Push it under another name. If it is none, allow it in the repository that you push to: notesd allow ${fingerprint}`,
      });
    }
  }
  return faults;
}

/** Blobs, commits and tags; what is larger than a file may be is refused for that, unread. */
async function freshObjects(
  git: HookGit,
  tips: readonly string[],
  { file_bytes }: PushRules,
): Promise<Map<string, number>> {
  const listed = await git.text(
    ["rev-list", "--objects", "--no-object-names", "--stdin", "--not", "--all"],
    `${tips.join("\n")}\n`,
  );
  if (listed === "") return new Map();
  const format = "--batch-check=%(objectname) %(objecttype) %(objectsize)";
  const found = new Map<string, number>();
  for (const line of (await git.text(["cat-file", format], listed)).split("\n")) {
    const [id = "", type = "", size = ""] = line.split(" ");
    if (/^(?:blob|commit|tag)$/.test(type) && Number(size) <= file_bytes) found.set(id, Number(size));
  }
  return found;
}

async function inNames({ guard, brought }: Judging): Promise<Told[]> {
  const files = new Map(brought.filter(({ before }) => before.size === 0).map((file) => [file.path, file]));
  if ((await guard.find([...files.keys()].join("\n"), null)).length === 0) return [];
  const found: Told[] = [];
  for (const { path, commit } of files.values()) {
    // One by one: a name may hold line breaks.
    for (const match of await guard.find(path, null)) found.push({ ...match, commit, path, isName: true });
  }
  return found;
}

async function inObjects(judging: Judging): Promise<Told[]> {
  const { git, guard, brought, fresh } = judging;
  const filesOf = new Map<string, Brought[]>();
  for (const file of brought) filesOf.set(file.blob, [...(filesOf.get(file.blob) ?? []), file]);
  const found: Told[] = [];
  for (const part of inParts([...fresh.keys()], (id) => [id], fresh)) {
    for (const [id, bytes] of await readBlobs(git, part)) {
      const { text } = decodeNote(bytes);
      const matches = await guard.find(text, null);
      if (matches.length === 0) continue;
      const files = filesOf.get(id);
      if (files === undefined)
        found.push(...matches.map((match) => ({ ...match, commit: id, path: null, isName: false })));
      for (const file of files ?? []) {
        const { path, commit } = file;
        const kept = await newThere(judging, file, text, matches);
        found.push(...kept.map((match) => ({ ...match, commit, path, isName: false })));
      }
    }
  }
  return found;
}

/** Those whose value this path did not hold in our history, where each of the push's commits took it up. */
async function newThere(
  { git, guard, rules, fresh }: Judging,
  { before }: Brought,
  text: string,
  matches: readonly SecretMatch[],
): Promise<readonly SecretMatch[]> {
  const old = [...before].filter((id) => !fresh.has(id));
  const sizes = await blobSizes(git, old);
  let kept = matches;
  for (const id of old) {
    if ((sizes.get(id) ?? Number.POSITIVE_INFINITY) > rules.file_bytes) continue;
    const [bytes] = (await readBlobs(git, [id])).values();
    if (bytes === undefined) continue;
    const added = new Set(
      (await guard.find(text, decodeNote(bytes).text)).map(({ fingerprint }) => fingerprint),
    );
    kept = kept.filter(({ fingerprint }) => added.has(fingerprint));
  }
  return kept;
}

/** @param hidden paths that are not told, for the value is in them */
function placeOf({ path, isName, line, commit }: Told, hidden: ReadonlySet<string | null>): string {
  const short = commit.slice(0, 9);
  if (path === null) return `the commit or tag ${short} itself`;
  if (isName) return `the name of a file in commit ${short}`;
  return hidden.has(path) ? `a file in commit ${short}, line ${line}` : `${path}:${line}`;
}

function faultOf({ kind, fingerprint, commit, path }: Told, where: string): Fault {
  const brought = path === null || where.includes(commit.slice(0, 9)) ? "" : `commit ${commit.slice(0, 9)}, `;
  return {
    where,
    what: `holds what looks like a secret: ${kind} (${brought}fingerprint ${fingerprint})`,
    remedy: `Take it out of every commit that is not pushed yet (git commit --amend, or git rebase -i), and push again. If it is none, allow it in the repository that you push to: notesd allow ${fingerprint}`,
  };
}
