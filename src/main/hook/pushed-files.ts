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
export interface Brought {
  /** The earliest that brought this. */
  readonly commit: string;
  readonly path: string;
  readonly mode: string;
  readonly blob: string;
  /** What the path was before any of the push's commits that changed it. */
  readonly before: ReadonlySet<string>;
}

/**
 * Every file that the commits of a push bring.
 * @param tips what the push moves refs to
 * @cost a tree difference for each new commit
 */
export async function broughtFiles(git: HookGit, tips: readonly string[]): Promise<readonly Brought[]> {
  if (tips.length === 0) return [];
  const commits = await git.text(["rev-list", "--stdin", "--not", "--all"], `${tips.join("\n")}\n`);
  if (commits === "") return [];
  const listed = await git.text(
    ["diff-tree", "--stdin", "-r", "-m", "--root", "--raw", "-z", "--no-renames", "--no-abbrev"],
    commits,
  );
  const found = new Map<string, Brought>();
  const befores = new Map<string, Set<string>>();
  const fields = listed.split("\0");
  let commit = "";
  for (let i = 0; i < fields.length; i++) {
    const field = fields[i] ?? "";
    if (!field.startsWith(":")) {
      commit = field.trim() || commit;
      continue;
    }
    const [, mode = "", was = "", blob = "", status = ""] = field.split(" ");
    const path = fields[++i] ?? "";
    const before = befores.get(path) ?? new Set();
    befores.set(path, before);
    if (status !== "A") before.add(was);
    // They come newest first.
    if (status !== "D") found.set(`${mode} ${blob} ${path}`, { commit, path, mode, blob, before });
  }
  return [...found.values()];
}

/** What is wrong with them. @cost the size of each new blob */
export async function fileFaults(
  git: HookGit,
  brought: readonly Brought[],
  rules: PushRules,
): Promise<Fault[]> {
  return [...brought.flatMap(shapeFault), ...(await sizeFaults(git, brought, rules))];
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
