/**
 * What the commits of a push bring: every file of every one of them, since history is for ever. Links, submodules,
 * names that some Git takes for its own folder, and files that are too large.
 */
import { dotGitIn, isNotePath } from "../../domain/note-path.ts";
import type { PushRules } from "../../doors/hook.ts";
import type { Fault } from "./fault.ts";
import type { HookGit } from "./hook-git.ts";
import { blobSizes } from "./read-blobs.ts";

const LINK = "120000";
const GITLINK = "160000";

/** One path of one commit. */
interface Brought {
  readonly commit: string;
  readonly path: string;
  readonly mode: string;
  readonly blob: string;
}

/**
 * @param tips what the push moves refs to
 * @cost a tree difference for each new commit, and the size of each new blob
 */
export async function fileFaults(git: HookGit, tips: readonly string[], rules: PushRules): Promise<Fault[]> {
  if (tips.length === 0) return [];
  const commits = await git.text(["rev-list", "--stdin", "--not", "--all"], `${tips.join("\n")}\n`);
  const brought = commits === "" ? [] : await broughtBy(git, commits);
  const faults = brought.flatMap(shapeFault);
  return [...faults, ...(await sizeFaults(git, brought, rules))];
}

async function broughtBy(git: HookGit, commits: string): Promise<Brought[]> {
  const listed = await git.text(
    ["diff-tree", "--stdin", "-r", "-m", "--root", "--raw", "-z", "--no-renames", "--no-abbrev"],
    commits,
  );
  const found = new Map<string, Brought>();
  const fields = listed.split("\0");
  let commit = "";
  for (let i = 0; i < fields.length; i++) {
    const field = fields[i] ?? "";
    if (!field.startsWith(":")) {
      commit = field.trim() || commit;
      continue;
    }
    const [, mode = "", , blob = "", status = ""] = field.split(" ");
    const path = fields[++i] ?? "";
    const key = `${mode} ${blob} ${path}`;
    if (status !== "D" && !found.has(key)) found.set(key, { commit, path, mode, blob });
  }
  return [...found.values()];
}

function shapeFault({ commit, path, mode }: Brought): Fault[] {
  const fault = (what: string): Fault[] => [
    {
      where: path,
      what: `${what} (commit ${commit.slice(0, 9)})`,
      remedy: "Take it out of every commit that is not pushed yet (git rebase -i helps), then push again.",
    },
  ];
  if (mode === LINK)
    return fault("is a symbolic link, and those are not taken: it could lead out of the repository");
  if (mode === GITLINK) return fault("is a submodule, and those are not taken");
  const own = dotGitIn(path);
  return own === null
    ? []
    : fault(`holds ${JSON.stringify(own)}, which Git takes for its own folder on some systems`);
}

async function sizeFaults(git: HookGit, brought: readonly Brought[], rules: PushRules): Promise<Fault[]> {
  const files = brought.filter(({ mode }) => mode !== GITLINK && mode !== LINK);
  if (files.length === 0) return [];
  const sizes = await blobSizes(
    git,
    files.map(({ blob }) => blob),
  );
  return files.flatMap(({ commit, path, blob }) => sizeFault(path, sizes.get(blob) ?? 0, rules, commit));
}

/** @param commit that brought the file */
export function sizeFault(path: string, bytes: number, rules: PushRules, commit: string): Fault[] {
  const isNote = isNotePath(path, rules.roots);
  const [most, setting, advice] = isNote
    ? [rules.note_bytes, "limits.note_bytes", "Split the note"]
    : [rules.file_bytes, "limits.file_bytes", "Keep it outside of the repository"];
  if (bytes <= most) return [];
  return [
    {
      where: path,
      what: `has ${bytes} bytes, and ${most} are the most that a ${isNote ? "note" : "file"} may have (commit ${commit.slice(0, 9)})`,
      remedy: `${advice}, also in the commits that brought it (git rebase -i), or raise the setting ${setting}; then push again.`,
    },
  ];
}
