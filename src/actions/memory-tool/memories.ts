/**
 * One call of the memory tool: whose notebook it is about, the files in it, and its writes. Every write is a commit
 * of its own. Of a call that makes several only the last bears the caller's key and the others keys made from
 * it, so that a call sent again after a kill goes on where it ended, and is told as done only once it is.
 */
import type { Change } from "../../domain/change.ts";
import { agentIdOf } from "../../domain/identity.ts";
import { isFileName, type MemoryPath, memoryName } from "../../domain/memory-tool/memory-path.ts";
import { byName, type MemoryFile, pathOf } from "../../domain/memory-tool/memory-tree.ts";
import { MemoryRefusal } from "../../domain/memory-tool/refusal.ts";
import type { NoteId } from "../../domain/note.ts";
import type { NoteText, WriteOutcome } from "../../notebook/notebook.ts";
import type { Context } from "../action.ts";
import { notebookNamed } from "../memory/memory-inputs.ts";
import { authoriseNotebook } from "../rights.ts";
import { write } from "../write.ts";
import type { MemoryCommand } from "./command.ts";

interface Params {
  readonly command: MemoryCommand["command"];
  readonly reason?: string | undefined;
  readonly idempotency_key?: string | undefined;
  readonly target_agent_id?: string | number | undefined;
}

export interface Memories {
  /** The name of the notebook that the files lie in. */
  readonly owner: string;
  /** The file at a path; null: none. @cost a look-up */
  find(path: MemoryPath): NoteId | null;
  /** Files at any depth below a path, by name; none where there is no such directory. @cost a look at each file of the notebook */
  below(path: MemoryPath): readonly MemoryFile[];
  /** The name of a file that stands where this path needs a directory; null: none does. @cost a look-up a level */
  fileAbove(key: string): string | null;
  /** A person's unsettled save is committed first. */
  read(id: NoteId): Promise<NoteText>;
  /** @param step  names this write within the call; absent: it is the last one */
  write(change: Change, step?: string): Promise<WriteOutcome>;
  /** Whether this call, sent before with the same key, took this step; absent: its last one. */
  took(step?: string): boolean;
}

/** @throws NotesError INVALID_PARAMS a person named no notebook, or it is none; FORBIDDEN a write in another agent's */
export function openMemories(params: Params, context: Context): Memories {
  const { notebook, caller } = context;
  const owner = notebookNamed("memory.run", "a person's call", params.target_agent_id, context, (id) => {
    // Before anything is looked up: whoever may not write there is told that, and not what is there.
    if (params.command !== "view") authoriseNotebook(id, caller.principal);
  });
  const { idempotency_key: key } = params;
  const stepped = (step?: string) => {
    if (key === undefined || step === undefined) return key;
    return `${key}\0${step}`;
  };
  const agentId = agentIdOf(owner);
  const files = (keyPrefix: string): MemoryFile[] =>
    notebook
      .memoryFiles({ agentId, keyPrefix })
      .map(({ key, noteId, bodyBytes }) => ({ name: memoryName(key, noteId), noteId, bytes: bodyBytes }));

  function find({ key, isDirectory }: MemoryPath): NoteId | null {
    if (isDirectory) return null;
    if (!isFileName(key)) return files("").find(({ name }) => name === key)?.noteId ?? null;
    const found = notebook.memory({ scope: "agent", ref: null, agent: owner, key });
    // An index gives the ids it knows.
    return found === null ? null : (found.note_id as NoteId);
  }

  return {
    owner,
    find,
    below({ key }) {
      const inside = key === "" ? "" : `${key}/`;
      return byName(files(inside).filter(({ name }) => name.startsWith(inside)));
    },
    fileAbove(key) {
      for (let slash = key.indexOf("/"); slash > 0; slash = key.indexOf("/", slash + 1)) {
        const above = key.slice(0, slash);
        if (find({ key: above, isDirectory: false, text: pathOf(above) }) !== null) return above;
      }
      return null;
    },
    read: (id) => notebook.read(id, caller),
    // Without `entered`: what the next request of the connection reads shall hold all that this one writes.
    write: (change, step) =>
      write(change, { ...params, idempotency_key: stepped(step) }, { ...context, entered: () => {} }),
    took(step) {
      const named = stepped(step);
      if (named === undefined || context.requestHash === null) return false;
      return notebook.replay({ key: named, hash: context.requestHash }, caller) !== null;
    },
  };
}

/**
 * Carry out a command; where it can't be carried out because it was already, by this very call sent before, say so.
 *
 * @param reply  what was answered then
 * @throws MemoryRefusal
 */
export async function orDoneBefore(
  memories: Memories,
  reply: string,
  run: () => Promise<string>,
): Promise<string> {
  if (memories.took()) return reply;
  try {
    return await run();
  } catch (error) {
    if (error instanceof MemoryRefusal && memories.took()) return reply;
    throw error;
  }
}
