/** Agents and people writing on several notebooks with one remote, which comes and goes; run small and large. */
import { renameSync } from "node:fs";
import { expect } from "vitest";
import { repoAt, temporaryFolder } from "../../support/git-repo.ts";
import { wholeFrom } from "../../support/random.ts";
import { openSynced, type SyncedNotebook } from "../../support/synced-notebook.ts";

interface Written {
  /** A line that occurs nowhere else. */
  readonly line: string;
  readonly by: number;
}

/**
 * Rounds of writes on all of them at once, syncs in between; at the end all are level and every line that was
 * acknowledged is in the result, or on one side of a conflict that is kept or was resolved.
 */
export async function converge({
  rounds,
  daemons = 3,
  seed,
}: {
  rounds: number;
  daemons?: number;
  seed: number;
}) {
  const bare = repoAt(temporaryFolder());
  bare.git("init", "-q", "--bare", "-b", "main", ".");
  const all: SyncedNotebook[] = [];
  const below = wholeFrom(seed);
  const written: Written[] = [];
  let count = 0;
  const lineOf = (by: number) => {
    const line = `line ${++count} of ${by} x${below(1_000_000)}`;
    written.push({ line, by });
    return line;
  };
  try {
    for (let i = 0; i < daemons; i++) all.push(await openSynced(bare.root, seed * 10 + i));
    const [first] = all;
    if (first === undefined) throw new Error("no daemon");
    const shared: { readonly noteId: string }[] = [];
    for (let i = 0; i < 4; i++)
      shared.push(
        await first.create(
          `Shared ${i}`,
          `top ${i}\n\n${lineOf(0)}\n\nmiddle ${i}\n\n${lineOf(0)}\n\nend ${i}\n`,
        ),
      );
    for (const one of all) await one.run();

    const agentWrites = async (on: SyncedNotebook, by: number) => {
      if (below(3) === 0) return void (await on.create(`Of ${by}`, `${lineOf(by)}\n`));
      const note = shared[below(shared.length)];
      if (note === undefined) return;
      // Also where a conflict is kept: the update resolves it without a look at the other side.
      const text = await textOf(on, note.noteId);
      if (text === null) return;
      // An agent appends or inserts; it takes nobody's line away.
      const lines = text.split("\n");
      lines.splice(below(lines.length), 0, "", lineOf(by), "");
      await on.update(note.noteId, lines.join("\n"));
    };
    const personWrites = async (on: SyncedNotebook, by: number) => {
      const note = shared[below(shared.length)];
      if (note === undefined) return;
      const path = on.notebook.metadata(note.noteId)?.path;
      if (path === undefined || below(4) === 0)
        return on.save(`notes/by-hand-${by}-${++count}.md`, `# By hand\n\n${lineOf(by)}\n`);
      const bytes = await on.store.workTree.read(path as never);
      const text = bytes === null ? "" : Buffer.from(bytes).toString();
      await on.save(path, `${text.trimEnd()}\n\n${lineOf(by)}\n`);
    };

    for (let round = 0; round < rounds; round++) {
      if (round === Math.floor(rounds / 3)) renameSync(bare.root, `${bare.root}-away`);
      if (round === Math.floor((2 * rounds) / 3)) renameSync(`${bare.root}-away`, bare.root);
      await Promise.all(
        all.map(async (on, by) => {
          await agentWrites(on, by);
          await personWrites(on, by);
          if (below(2) === 0) await on.run();
        }),
      );
    }
    for (const one of all) await one.notebook.settle();
    for (let pass = 0; pass < 2; pass++)
      for (const one of all) expect(await one.run()).toMatchObject({ state: "ok", message: null });
    const digests = await Promise.all(all.map((one) => one.digest()));
    expect(new Set(digests).size).toBe(1);
    for (const one of all) expect(one.repo.git("status", "--porcelain")).toBe("");

    const texts = await everything(all);
    const lost = written.filter(({ line }) => !texts.includes(line));
    expect(lost).toEqual([]);
    expect(texts).not.toMatch(/^(?:<{7}|>{7}|={7})(?: |$)/m);
    return { writes: written.length, commits: Number(bare.git("rev-list", "--count", "main")) };
  } finally {
    for (const one of all) await one.dispose();
  }
}

const PERSON = { principal: { kind: "person", name: "P", email: "p@x" }, session: null, task: null } as const;

async function textOf(on: SyncedNotebook, noteId: string): Promise<string | null> {
  try {
    return (await on.notebook.read(noteId, PERSON)).content;
  } catch {
    // A note that a merge is bringing just now.
    return null;
  }
}

/** Every text of the result, and of what any of them keeps of a conflict, resolved ones too. */
async function everything(all: readonly SyncedNotebook[]): Promise<string> {
  const parts: string[] = [];
  const [first] = all;
  if (first === undefined) return "";
  for (const { path } of await first.store.list((await first.store.tip()) as never))
    parts.push(first.repo.git("show", `HEAD:${path}`));
  for (const one of all) {
    for (const { theirs } of await one.store.conflicts())
      parts.push(Buffer.from(await one.store.readBlob(theirs)).toString());
    const resolved = one.repo.tryGit("log", "--format=%H", "refs/notesd/backup/conflicts");
    for (const commit of resolved.status === 0 ? resolved.stdout.split("\n").filter(Boolean) : [])
      parts.push(one.repo.git("show", `${commit}:theirs`));
  }
  return parts.join("\n");
}
