/** What must hold of a notebook's own files after a fault: all of them can be lost, and nothing that was answered is. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { git } from "./scenarios.ts";
import { leftovers } from "./sound.ts";
import { type Answered, createNote, openWhole, PLANNER } from "./whole-notebook.ts";

let seed = 1_000;

/** Open the notebook again, look, ask the answered requests again, and write on. @returns what is wrong */
export async function notebookProblems(root: string, answered: readonly Answered[]): Promise<string[]> {
  const wrong: string[] = [];
  const opened = await openWhole(root, ++seed);
  const { notebook } = opened;
  try {
    wrong.push(...leftovers(root, true), ...unfinished(root));
    for (const one of answered) {
      const number = Number(one.key.split("-")[1]);
      const { commit, noteId } = await createNote(opened, number);
      if (commit !== one.commit || noteId !== one.noteId) wrong.push(`${one.key} was done twice`);
      const { content } = await notebook.read(one.noteId, PLANNER);
      if (content !== `Text ${number}.`) wrong.push(`${one.key} is not what was written`);
    }
    await createNote(opened, ++seed);
    const { equal, problems } = await notebook.verify();
    if (!equal) wrong.push("the index is not the one rebuilt");
    wrong.push(...problems.map((problem) => JSON.stringify(problem)));
  } finally {
    await notebook.close();
  }
  const titles = git(root, "log", "--format=%s", "main").split("\n");
  if (new Set(titles).size !== titles.length) wrong.push("a note is there twice");
  const status = git(root, "status", "--porcelain");
  if (status !== "") wrong.push(`git status: ${status}`);
  return wrong;
}

/** Unfinished files, in the Git directory and where a person sees them. */
function unfinished(root: string): string[] {
  return [root, join(root, ".git/notesd")].flatMap((folder) =>
    readdirSync(folder).filter((name) => name.endsWith(".tmp")),
  );
}
