/** What happened to the notes, as Git tells it: one step for each change of a file on the branch, oldest first. */
import { git } from "../daemon.ts";
import type { Step } from "./violations.ts";

/** The line of a commit's body that names its operation; given as `reason`. */
export const reasonOf = (id: string): string => `operation ${id}`;

const NONE = "0".repeat(40);

/** @throws Error  the branch has a merge: nobody asked for one */
export function stepsOf(repo: string): Step[] {
  const merges = git(repo, "rev-list", "--merges", "HEAD");
  if (merges !== "") throw new Error(`there are merges: ${merges}`);
  const log = git(
    repo,
    "log",
    "--reverse",
    "--raw",
    "--no-abbrev",
    "--no-renames",
    "--format=%x01%H%n%B%x02",
  );
  const now = new Map<string, string | null>();
  const steps: Step[] = [];
  for (const entry of log.split("\u0001")) {
    const [message = "", files = ""] = entry.split("\u0002");
    const commit = message.slice(0, 40);
    const operation = /^operation (\S+)$/m.exec(message)?.[1] ?? null;
    const changed = [...files.matchAll(/^:\d+ \d+ ([0-9a-f]{40}) ([0-9a-f]{40}) \w\t(.*)$/gm)];
    for (const [, from = "", to = "", path = ""] of changed) {
      const note = /([^/]+)\.md$/.exec(path)?.[1];
      if (note === undefined) continue;
      const blob = (id: string) => (id === NONE ? null : id);
      steps.push({ note, commit, operation, before: blob(from), after: blob(to) });
      now.set(note, blob(to));
    }
    const named = /^Note-Id: (\S+)$/m.exec(message)?.[1];
    if (changed.length > 0 || named === undefined) continue;
    const stays = now.get(named) ?? null;
    steps.push({ note: named, commit, operation, before: stays, after: stays });
  }
  return steps;
}

/** How many commits name each operation, those that change no file too. */
export function commitsOf(repo: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const [, id = ""] of git(repo, "log", "--format=%B").matchAll(/^operation (\S+)$/gm))
    counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
}
