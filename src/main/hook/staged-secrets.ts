/**
 * Secrets in the Markdown that a person is about to commit. A commit that ends a merge or a pick is let through: what
 * it brings is in history already. Invariant: the person reads where and of which kind, and no value.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { GitPlace } from "../../lib/git-dir.ts";
import { secretGuard } from "../../notebook/secrets/secret-guard.ts";
import { proofKey } from "../read-proof-key.ts";
import { hookGit } from "./hook-git.ts";
import { blobSizes, inParts, readBlobs } from "./read-blobs.ts";

/** Larger files hold data; a note has far less. */
const MOST_BYTES = 8 << 20;
const TAKEN_OVER = ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD"];

/**
 * @param env of the hook: it says which index
 * @returns why to refuse; null: none is staged
 */
export async function stagedSecrets(place: GitPlace, env: NodeJS.ProcessEnv): Promise<string | null> {
  if (TAKEN_OVER.some((name) => existsSync(join(place.gitDir, name)))) return null;
  const git = hookGit(place, env);
  const staged = stagedFiles(
    await git.text(["diff", "--cached", "--raw", "-z", "--no-renames", "--no-abbrev", "--diff-filter=AMT"]),
  );
  const sizes = await blobSizes(git, staged.flatMap(blobsOf));
  const wanted = (file: Staged) => blobsOf(file).filter((id) => (sizes.get(id) ?? Infinity) <= MOST_BYTES);
  const stateDir = join(place.gitDir, "notesd");
  const guard = secretGuard(stateDir, await proofKey(join(stateDir, "proof.key")), Date.now);
  const lines: string[] = [];
  for (const part of inParts(staged, wanted, sizes)) {
    const texts = await readBlobs(git, part.flatMap(wanted));
    const textOf = (id: string | null) => {
      const bytes = id === null ? undefined : texts.get(id);
      return bytes === undefined ? null : bytes.toString();
    };
    for (const { path, before, after } of part) {
      for (const match of await guard.find(textOf(after) ?? "", textOf(before))) {
        guard.allowed.noteRefusal(match, `commit: ${path}:${match.line}`);
        lines.push(
          `  ${path}:${match.line} holds what looks like a secret: ${match.kind} (fingerprint ${match.fingerprint})`,
        );
      }
    }
  }
  return lines.length === 0 ? null : refusalOf(lines);
}

interface Staged {
  readonly path: string;
  /** What HEAD has there; null: nothing. */
  readonly before: string | null;
  readonly after: string;
}

const blobsOf = ({ before, after }: Staged) => (before === null ? [after] : [after, before]);

function stagedFiles(raw: string): Staged[] {
  const fields = raw.split("\0");
  const found: Staged[] = [];
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const [, mode = "", before = "", after = "", status = ""] = (fields[i] ?? "").split(" ");
    const path = fields[i + 1] ?? "";
    if (mode.startsWith("100") && /\.md$/i.test(path))
      found.push({ path, before: status === "A" ? null : before, after });
  }
  return found;
}

const refusalOf = (lines: readonly string[]) =>
  [
    "notesd did not let this commit through: it would put a secret into history, where it stays.",
    ...lines,
    "  Take it out, git add the file and commit again. If it is none: notesd allow FINGERPRINT\n",
  ].join("\n");
