/** The log over a real repository: a person at native Git, a restart with an index built anew, a prune. */
import { join } from "node:path";
import { expect, test } from "vitest";
import type { CommitEvents } from "../../../src/domain/event.ts";
import type { CommitId } from "../../../src/domain/note.ts";
import { createNoteIndex } from "../../../src/index/create.ts";
import type { NoteIndex } from "../../../src/index/note-index.ts";
import { BEGINNING } from "../../../src/notebook/feed/cursor.ts";
import { Feed } from "../../../src/notebook/feed/feed.ts";
import { Heads } from "../../../src/notebook/feed/heads.ts";
import type { Changed } from "../../../src/notebook/notebook.ts";
import type { NoteStore } from "../../../src/store/note-store.ts";
import { committed, draft, message } from "../../support/drafts.ts";
import { fakeClock } from "../../support/fake-clock.ts";
import { storeOnGit } from "../../support/store-on-git.ts";
import { until } from "../../support/wait.ts";

const warn = (text: string) => {
  throw new Error(text);
};

async function open(store: NoteStore, gitdir: string) {
  const index = createNoteIndex();
  const tip = await store.tip();
  if (tip) await index.rebuild(store.history(null, tip), store.readBlob);
  const heads = await Heads.open({ file: join(gitdir, "notesd", "heads"), clock: fakeClock(), warn });
  return { store, index, heads, feed: await Feed.open({ store, index, heads, warn }) };
}

async function follow(store: NoteStore, index: NoteIndex, feed: Feed) {
  const to = (await store.tip()) as CommitId;
  const commits: CommitEvents[] = [];
  for await (const events of store.history(index.head, to)) commits.push(events);
  await feed.live({ kind: "other", to, via: "live" }, await index.apply(commits, store.readBlob, to));
}

async function everything(feed: Feed, since: string) {
  const changes: Changed[] = [];
  for (let cursor = since; ; ) {
    const page = await feed.changes(cursor, 2, {});
    changes.push(...page.changes);
    cursor = page.cursor;
    if (!page.more) return changes;
  }
}

test("a person commits, merges, renames and resets; a restart tells the same; a prune answers 410", async () => {
  const { repo, store, save, reopen } = await storeOnGit();
  const { index, feed } = await open(store, repo.gitdir);
  const heard: Changed[] = [];
  const failed: Error[] = [];
  await feed.subscribe(
    { changed: (c) => void heard.push(c), lagged: () => {}, failed: (error) => void failed.push(error) },
    {},
    null,
  );
  const write = async (path: string, text: string, before: string | null = null) => {
    const word = before === null ? "create" : "update";
    const said = message({ action: word, reason: "because", changes: null });
    const { outcomes } = await store.commit([draft(path, text, before, { message: said })]);
    const { events } = committed(outcomes[0]);
    await feed.live({ kind: "own", commits: [events] }, await index.apply([events], store.readBlob));
  };
  const person = async (...commands: string[][]) => {
    for (const args of commands) repo.git(...args);
    await follow(store, index, feed);
  };

  await write("notes/a.md", "# A\n");
  await write("notes/a.md", "# A\n\nmore\n", "# A\n");
  save("notes/b.md", "# B\n");
  await person(["add", "."], ["commit", "-qm", "b by hand"]);
  repo.git("checkout", "-q", "-b", "side", "HEAD~1");
  save("notes/s.md", "# S\n");
  repo.git("add", ".");
  repo.git("commit", "-qm", "on the side");
  await person(["checkout", "-q", "main"], ["merge", "-q", "--no-edit", "side"]);
  await person(["mv", "notes/s.md", "notes/t.md"], ["commit", "-qm", "moved"]);
  const moved = (await store.tip()) as CommitId;
  await person(["reset", "-q", "--hard", "HEAD~1"]);
  await write("notes/c.md", "# C\n");
  await until("everything to be told", () => heard.at(-1)?.cursor === feed.cursor);

  expect(failed).toEqual([]);
  expect(heard.map((c) => `${c.source} ${c.action} ${c.path}`)).toEqual([
    "api create notes/a.md",
    "api update notes/a.md",
    "git create notes/b.md",
    "git create notes/s.md",
    "git rename notes/t.md",
    "git rename notes/s.md",
    "api create notes/c.md",
  ]);
  expect(heard[1]).toMatchObject({
    reason: "because",
    agent_name: "planner",
    trust: "agent",
    fields: ["content"],
  });
  const author = { agent_name: null, author_name: repo.git("log", "-1", "--format=%an", "side") };
  expect(author.author_name).not.toBe("");
  expect(heard[3]).toMatchObject(author);
  expect(heard[3]?.commit).toBe(repo.git("rev-parse", "side"));
  expect(JSON.stringify(await everything(feed, BEGINNING))).toBe(JSON.stringify(heard));
  await feed.close();
  await store.close();

  const again = await open(await reopen(), repo.gitdir);
  expect(JSON.stringify(await everything(again.feed, BEGINNING))).toBe(JSON.stringify(heard));
  const from = heard[2]?.cursor ?? "";
  expect(JSON.stringify(await everything(again.feed, from))).toBe(JSON.stringify(heard.slice(3)));
  await again.feed.close();
  await again.store.close();

  repo.git("reflog", "expire", "--expire=now", "--all");
  repo.git("gc", "-q", "--prune=now");
  const pruned = await open(await reopen(), repo.gitdir);
  const resync = { code: "UNKNOWN_COMMIT", data: { resync_from: pruned.feed.cursor } };
  await expect(pruned.feed.changes(moved, 10, {})).rejects.toMatchObject(resync);
  await expect(everything(pruned.feed, BEGINNING)).rejects.toMatchObject(resync);
  expect(await everything(pruned.feed, heard.at(-2)?.cursor ?? "")).toEqual(heard.slice(-1));
  await pruned.feed.close();
  await pruned.store.close();
});
