/** Whether ids that a push brings are other notes' already, asked of the pushed tip where no daemon has an index. */
import { readNoteFile } from "../../domain/note-file.ts";
import { isNotePath } from "../../domain/note-path.ts";
import type { PushRules } from "../../doors/hook.ts";
import type { Fault } from "./fault.ts";
import type { HookGit } from "./hook-git.ts";
import { type PushedNotes, takenId } from "./pushed-notes.ts";
import { blobSizes, inParts, readBlobs } from "./read-blobs.ts";

/** For more of them a search would take longer than reading every note. */
const MOST_SEARCHED = 200;

/** @cost for few ids one search through the tip, for many each of its notes once */
export async function takenIds(
  git: HookGit,
  tip: string,
  ids: PushedNotes["ids"],
  rules: PushRules,
): Promise<Fault[]> {
  if (ids.length === 0) return [];
  const own = new Set(ids.map(({ path }) => path));
  const wanted = new Map(ids.map(({ id, path }) => [id, path]));
  const notes = (await notesOf(git, tip, rules)).filter(({ path }) => !own.has(path));
  const named = ids.length > MOST_SEARCHED ? null : await naming(git, tip, [...wanted.keys()]);
  const others = named === null ? notes : notes.filter(({ path }) => named.has(path));
  const sizes = await blobSizes(
    git,
    others.map(({ blob }) => blob),
  );
  const readable = others.filter(({ blob }) => (sizes.get(blob) ?? Infinity) <= rules.note_bytes);
  const types = new Set(rules.types);
  const faults: Fault[] = [];
  for (const part of inParts(readable, ({ blob }) => [blob], sizes)) {
    const texts = await readBlobs(
      git,
      part.map(({ blob }) => blob),
    );
    for (const { path: at, blob } of part) {
      const bytes = texts.get(blob);
      const note = bytes === undefined ? null : readNoteFile(at, bytes, types);
      if (note?.kind !== "note" || note.fields.id === null) continue;
      const path = wanted.get(note.fields.id);
      if (path !== undefined) faults.push(takenId(path, note.fields.id, at));
    }
  }
  return faults;
}

async function notesOf(git: HookGit, tip: string, { roots }: PushRules) {
  const listed = await git.text(["ls-tree", "-r", "-z", tip]);
  return listed.split("\0").flatMap((line) => {
    const [head = "", path = ""] = line.split(/\t(.*)/s);
    const [mode = "", , blob = ""] = head.split(" ");
    return mode.startsWith("100") && isNotePath(path, roots) ? [{ path, blob }] : [];
  });
}

/** Files of the tip whose text holds one of the ids. */
async function naming(git: HookGit, tip: string, ids: readonly string[]): Promise<Set<string>> {
  // Arguments would not hold many, and end with an error that is not "none".
  const found = await git.found(["grep", "-z", "-l", "-F", "-f", "-", tip], `${ids.join("\n")}\n`);
  return new Set((found ?? "").split("\0").map((name) => name.slice(tip.length + 1)));
}
