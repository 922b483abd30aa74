/** What the daemon does in a walk: agents' writes, looks at what changed, time that passes, stops and starts. */
import { NotesError } from "../../../src/domain/errors.ts";
import type { NoteId } from "../../../src/domain/note.ts";
import { PERSON as PAT } from "../../support/open-notebook.ts";
import { tokensOf } from "./texts.ts";
import type { World } from "./world.ts";

type Deed = (world: World, a: number, b: number) => Promise<unknown>;

/** Only these refusals can happen to an agent here; nothing of a refused write is owed. */
const REFUSALS = new Set(["CONFLICT", "NOT_FOUND", "REPO_BUSY", "INVALID_NOTE"]);

const noteOf = ({ noteIds }: World, n: number) =>
  noteIds[n % Math.max(1, noteIds.length)] as NoteId | undefined;

/** An agent's write. What the note held is the write's to replace, on the branch and as its kept conflicts. */
async function write(world: World, id: NoteId | undefined, work: () => Promise<{ readonly noteId: NoteId }>) {
  const { notebook } = world.on;
  const path = id === undefined ? null : (notebook.metadata(id)?.path ?? null);
  try {
    const { tipFiles, diskFiles } = world.texts.look();
    // A person may have moved it since the notebook looked.
    const holds = (text: string) => id !== undefined && text.includes(id);
    const moved = [...diskFiles].flatMap(([name, text]) => (holds(text) ? [name] : []));
    for (const name of new Set([...(path === null ? [] : [path]), ...moved])) {
      const blob = tipFiles.get(name);
      const texts = [
        diskFiles.get(name) ?? "",
        blob === undefined ? "" : world.repo.git("cat-file", "blob", blob),
      ];
      for (const token of texts.flatMap(tokensOf)) world.replaced.add(token);
    }
    const { noteId } = await work();
    if (!world.noteIds.includes(noteId)) world.noteIds.push(noteId);
    world.story.push("    done");
  } catch (error) {
    if (!(error instanceof NotesError) || !REFUSALS.has(error.code)) throw error;
    world.story.push(`    ${error.code}: ${error.message}`);
  }
}

async function orRefused(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof NotesError) || !REFUSALS.has(error.code)) throw error;
  }
}

/** As the watchers report it: what lies under the roots, and that Git moved something. */
export async function look(world: World, how: number): Promise<void> {
  const { disk, driven } = world.on;
  const hint = () =>
    driven(
      disk.hint(["notes", ...world.texts.look().diskFiles.keys(), ...world.texts.look().tipFiles.keys()]),
    );
  const head = () => driven(disk.headMoved());
  const ways = [[], [head, hint], [hint, head], [hint], [head]];
  for (const way of ways[how % ways.length] ?? []) await way();
}

/**
 * `notesd commit`: what doesn't merge is committed as it lies on the disk, so what the branch has in an edited file is
 * the person's to replace (it stays in history). Every other step may take nothing of it off the branch.
 */
export async function commitAll({ on, replaced, repo, texts }: World, reason?: string): Promise<void> {
  const { tipFiles, diskFiles } = texts.look();
  for (const [path, blob] of tipFiles) {
    const disk = diskFiles.get(path);
    const text = disk === undefined ? "" : repo.git("cat-file", "blob", blob);
    if (disk?.trim() !== text.trim()) for (const token of tokensOf(text)) replaced.add(token);
  }
  await on.driven(on.notebook.settle(undefined, reason));
}

export const DAEMON: Readonly<Record<string, readonly [times: number, deed: Deed]>> = {
  create: [
    6,
    (world, a) =>
      write(world, undefined, () =>
        world.on.create(
          `Note ${a}`,
          `line\n\nagent ${world.fresh()}\n\nend`,
          a % 2 === 0 ? "notes/agents" : undefined,
        ),
      ),
  ],
  append: [
    6,
    (world, a) => {
      const noteId = noteOf(world, a);
      if (noteId === undefined) return Promise.resolve();
      return write(world, noteId, () =>
        world.on.change({ kind: "append", noteId, content: `agent ${world.fresh()}` }),
      );
    },
  ],
  update: [
    4,
    (world, a) => {
      const noteId = noteOf(world, a);
      if (noteId === undefined) return Promise.resolve();
      return write(world, noteId, () => world.on.update(noteId, `line\n\nagent ${world.fresh()}\n\nend`));
    },
  ],
  "update a page": [
    3,
    async (world, a) => {
      const { items } = world.on.notebook.list({
        filter: {},
        viewer: { kind: "person" },
        limit: 50,
        cursor: null,
      });
      const noteId = items[a % Math.max(1, items.length)]?.note_id as NoteId | undefined;
      if (noteId === undefined) return;
      await write(world, noteId, () =>
        world.on.change({ kind: "append", noteId, content: `agent ${world.fresh()}` }),
      );
    },
  ],
  delete: [
    2,
    (world, a) => {
      const noteId = noteOf(world, a);
      if (noteId === undefined) return Promise.resolve();
      return write(world, noteId, () => world.on.change({ kind: "delete", noteId }, PAT));
    },
  ],
  look: [6, (world, a) => look(world, 1 + (a % 4))],
  "look at everything": [3, (world) => world.on.driven(world.on.disk.scanAll("interval"))],
  "time passes": [6, (world) => world.on.settle()],
  "a door reads": [
    2,
    async (world, a) => {
      const noteId = noteOf(world, a);
      if (noteId !== undefined) await orRefused(() => world.on.driven(world.on.notebook.read(noteId, PAT)));
    },
  ],
  "notesd commit": [2, (world) => orRefused(() => commitAll(world, "because"))],
  restart: [
    2,
    async (world) => {
      world.on = await world.on.reopen();
      await world.on.driven(world.on.disk.scanAll("start"));
    },
  ],
};
