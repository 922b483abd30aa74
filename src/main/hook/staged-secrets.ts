/**
 * Secrets in the Markdown that a person is about to commit, in its text and in names of files that it adds. What a merge,
 * a pick or a revert brings is in history already, what is typed beside it is not. Invariant: the person reads where
 * and of which kind, and no value.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { SecretMatch } from "../../domain/secrets/secrets.ts";
import type { GitPlace } from "../../lib/git-dir.ts";
import { type SecretGuard, secretGuard } from "../../notebook/secrets/secret-guard.ts";
import { proofKey } from "../read-proof-key.ts";
import { type HookGit, hookGit } from "./hook-git.ts";
import { blobSizes, inParts, readBlobs } from "./read-blobs.ts";

/** Larger files hold data; a note has far less. */
const MOST_BYTES = 8 << 20;

/**
 * @param env of the hook: it says which index
 * @returns why to refuse; null: none is staged
 */
export async function stagedSecrets(place: GitPlace, env: NodeJS.ProcessEnv): Promise<string | null> {
  const git = hookGit(place, env);
  const staged = await stagedFiles(git, await takenFrom(git, place));
  const sizes = await blobSizes(git, staged.flatMap(blobsOf));
  const wanted = (file: Staged) => blobsOf(file).filter((id) => (sizes.get(id) ?? Infinity) <= MOST_BYTES);
  const stateDir = join(place.gitDir, "notesd");
  const guard = secretGuard(stateDir, await proofKey(join(stateDir, "proof.key")), Date.now);
  const lines: string[] = [];
  const refuse = (match: SecretMatch, where: string) => {
    guard.allowed.noteRefusal(match, `commit: ${where}`);
    lines.push(`  ${where} holds what looks like a secret: ${match.kind} (fingerprint ${match.fingerprint})`);
  };
  for (const part of inParts(staged, wanted, sizes)) {
    const texts = await readBlobs(git, part.flatMap(wanted));
    for (const { path, before, after } of part) {
      const named = await guard.find(path, null);
      if (before.length === 0) for (const match of named) refuse(match, "the name of a staged file");
      const old = before.flatMap((id) => texts.get(id)?.toString() ?? []);
      const place = named.length === 0 ? path : "a staged file";
      for (const match of await newIn(guard, texts.get(after)?.toString() ?? "", old))
        refuse(match, `${place}:${match.line}`);
    }
  }
  return lines.length === 0 ? null : refusalOf(lines);
}

/** Those of a text that none of the old ones has. */
async function newIn(guard: SecretGuard, text: string, old: readonly string[]): Promise<SecretMatch[]> {
  let kept = [...(await guard.find(text, null))];
  for (const before of kept.length === 0 ? [] : old) {
    const added = new Set((await guard.find(text, before)).map(({ fingerprint }) => fingerprint));
    kept = kept.filter(({ fingerprint }) => added.has(fingerprint));
  }
  return kept;
}

interface Staged {
  readonly path: string;
  /** What HEAD has there, and each commit that this one takes from; empty: a new file. */
  readonly before: readonly string[];
  readonly after: string;
}

const blobsOf = ({ before, after }: Staged) => [after, ...before];

/** Commits beside HEAD whose content this commit brings: of a merge, a pick or a revert that goes on. */
async function takenFrom(git: HookGit, place: GitPlace): Promise<string[]> {
  const named = async (name: string, suffix: string) => {
    // What Node throws for a file has a code.
    const text = await readFile(join(place.gitDir, name), "utf8").catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
      throw error;
    });
    return text.split("\n").flatMap((id) => (id === "" ? [] : [`${id}${suffix}`]));
  };
  // A revert brings back what the commit before had; of a merge any of them may be meant.
  const wished = [
    ...(await named("MERGE_HEAD", "")),
    ...(await named("CHERRY_PICK_HEAD", "")),
    ...(await named("REVERT_HEAD", "^@")),
  ];
  if (wished.length === 0) return [];
  return (await git.text(["rev-parse", ...wished])).split("\n").filter((id) => id !== "");
}

/** Markdown that differs from HEAD and from every commit that is taken from. */
async function stagedFiles(git: HookGit, taken: readonly string[]): Promise<Staged[]> {
  const options = ["--cached", "--raw", "-z", "--no-renames", "--no-abbrev", "--diff-filter=AMT"];
  let found = changedIn(await git.text(["diff", ...options]));
  for (const commit of taken) {
    const there = changedIn(await git.text(["diff", ...options, commit]));
    const both: typeof found = new Map();
    for (const [path, { before, after }] of found) {
      const other = there.get(path);
      if (other !== undefined) both.set(path, { path, before: [...before, ...other.before], after });
    }
    found = both;
  }
  return [...found.values()];
}

function changedIn(raw: string): Map<string, Staged> {
  const fields = raw.split("\0");
  const found = new Map<string, Staged>();
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const [, mode = "", before = "", after = "", status = ""] = (fields[i] ?? "").split(" ");
    const path = fields[i + 1] ?? "";
    if (mode.startsWith("100") && /\.md$/i.test(path))
      found.set(path, { path, before: status === "A" ? [] : [before], after });
  }
  return found;
}

const refusalOf = (lines: readonly string[]) =>
  [
    "notesd did not let this commit through: it would put a secret into history, where it stays.",
    ...lines,
    "  Take it out, git add the file and commit again. If it is none: notesd allow FINGERPRINT\n",
  ].join("\n");
