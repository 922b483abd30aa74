import { afterEach, beforeEach, expect, test } from "vitest";
import type { CommitId } from "../../../src/domain/note.ts";
import { BEGINNING } from "../../../src/notebook/feed/cursor.ts";
import type { Changed } from "../../../src/notebook/notebook.ts";
import { type FeedBench, feedBench } from "../../support/feed-bench.ts";
import { until } from "../../support/wait.ts";

let bench: FeedBench;
beforeEach(async () => {
  bench = await feedBench();
});
afterEach(() => bench.remove());

const note = (id: string, body = "", line = "") =>
  `---\nid: ${id}\ntitle: Untitled\n${line === "" ? "" : `${line}\n`}---\n${body}`;
const said = (changes: readonly Changed[]) => changes.map((c) => `${c.action} ${c.note_id} ${c.path}`);
const cursors = (changes: readonly Changed[]) => changes.map((c) => c.cursor ?? null);

test("a commit of ours is one event a note, by path, the last with the cursor", async () => {
  const heard = await bench.listen();
  const [first, second] = await bench.write(
    { "notes/b.md": note("b") },
    { "notes/b.md": note("b", "more"), "notes/a.md": note("a") },
  );
  await bench.level(heard);
  expect(said(heard.changes)).toEqual(["save b notes/b.md", "create a notes/a.md", "update b notes/b.md"]);
  expect(cursors(heard.changes)).toEqual([first, null, second]);
  expect(heard.changes[0]).toEqual({
    commit: first,
    action: "save",
    note_id: "b",
    title: "Untitled",
    type: "general",
    status: "open",
    tags: [],
    fields: ["title", "type"],
    path: "notes/b.md",
    revision: expect.stringMatching(/^[0-9a-f]{40}$/),
    agent_id: 1057,
    agent_name: "planner",
    author_name: "planner",
    reason: null,
    source: "api",
    trust: "agent",
    via: "live",
    at: "2026-11-30T10:15:01.000Z",
    cursor: first,
  });
  expect(heard.changes[2]?.fields).toEqual(["content"]);
});

test("any other move is the difference of its heads as one batch", async () => {
  await bench.write({ "notes/a.md": note("a"), "notes/b.md": note("b"), "notes/c.md": note("c", "long") });
  const heard = await bench.listen();
  const [, middle] = [1, await bench.store.tip()];
  expect(middle).not.toBeNull();
  const head = await bench.foreign(
    [
      { "notes/a.md": note("a", "one") },
      { "notes/a.md": note("a", "two"), "notes/b.md": null },
      { "notes/c.md": null, "notes/d.md": note("c", "long") },
    ],
    "push",
  );
  await bench.level(heard);
  expect(said(heard.changes)).toEqual(["update a notes/a.md", "delete b notes/b.md", "rename c notes/d.md"]);
  expect(cursors(heard.changes)).toEqual([null, null, head]);
  expect(heard.changes.map((c) => [c.source, c.trust, c.via])).toEqual(
    Array(3).fill(["git", "pushed", "push"]),
  );
  // Each event names the commit that last changed its note.
  const commits = heard.changes.map((c) => c.commit);
  expect(commits[2]).toBe(head);
  expect(commits[0]).toBe(commits[1]);
});

test("a merge tells who changed a note on the other side", async () => {
  const [base] = (await bench.write({ "notes/a.md": note("a") })) as [CommitId];
  const side = bench.store.person.commit({ "notes/s.md": note("s") }, { parents: [base], move: false });
  await bench.write({ "notes/b.md": note("b") });
  const tip = await bench.store.tip();
  const heard = await bench.listen();
  const merge = await bench.foreign([{ "notes/s.md": note("s") }], "sync", [tip as CommitId, side]);
  await bench.level(heard);
  expect(said(heard.changes)).toEqual(["create s notes/s.md"]);
  expect(heard.changes[0]).toMatchObject({ commit: side, cursor: merge, via: "sync" });
});

test("with a filter the last that passes carries the cursor, and nothing is sent when none passes", async () => {
  const heard = await bench.listen({ tags: ["x"] });
  const [first] = await bench.write({
    "notes/a.md": note("a", "", "tags: [x]"),
    "notes/b.md": note("b", "", "tags: [x]"),
    "notes/c.md": note("c"),
  });
  await bench.write({ "notes/c.md": note("c", "more") });
  await bench.level(heard);
  expect(said(heard.changes)).toEqual(["create a notes/a.md", "create b notes/b.md"]);
  expect(cursors(heard.changes)).toEqual([null, first]);
  expect(heard.cursor).toBe(await bench.store.tip());
});

test("a note that went passes a filter by what it was", async () => {
  await bench.write({ "notes/a.md": note("a", "", "tags: [x]") });
  const heard = await bench.listen({ tags: ["x"] });
  await bench.write({ "notes/a.md": null });
  await bench.level(heard);
  expect(heard.changes[0]).toMatchObject({
    note_id: "a",
    tags: ["x"],
    revision: null,
    fields: [],
    trust: "agent",
  });
});

test("a file that stops being a note is its going, and an unreadable file that comes", async () => {
  await bench.write({ "notes/a.md": note("a", "", "status: resolved") });
  const heard = await bench.listen();
  await bench.write({ "notes/a.md": note("a", "", "tags: [x") });
  await bench.level(heard);
  expect(said(heard.changes)).toEqual([
    "delete a notes/a.md",
    expect.stringMatching(/^create f_\w{16} notes\/a.md$/),
  ]);
  expect(heard.changes[0]).toMatchObject({ title: "Untitled", status: "resolved", revision: null });
  expect(heard.changes[1]).toMatchObject({ title: "a", revision: expect.any(String), fields: ["content"] });
  expect((await bench.pages(BEGINNING)).changes.slice(1)).toEqual(heard.changes);
});

test("pages give what a subscription got, at every size, also cut inside a batch and after a restart", async () => {
  const heard = await bench.listen();
  await bench.write({ "notes/a.md": note("a"), "notes/b.md": note("b"), "notes/c.md": note("c") });
  await bench.foreign(
    [{ "notes/a.md": note("a", "x"), "notes/b.md": null, "notes/d.md": note("d") }],
    "sync",
  );
  await bench.write({ "notes/c.md": note("c", "y") }, { "notes/d.md": null });
  await bench.level(heard);
  const live = JSON.stringify(heard.changes);
  for (const limit of [1, 2, 3, 4, 5, 100]) {
    expect(JSON.stringify((await bench.pages(BEGINNING, {}, limit)).changes)).toBe(live);
  }
  const { cursors: stops } = await bench.pages(BEGINNING, {}, 1);
  await bench.restart();
  for (const [i, cursor] of stops.entries()) {
    expect(JSON.stringify((await bench.pages(cursor)).changes)).toBe(
      JSON.stringify(heard.changes.slice(i + 1)),
    );
  }
});

test("a page stays under a megabyte, whatever its limit", async () => {
  const tags = `tags: [${Array.from({ length: 64 }, (_, i) => `${i}`.padEnd(64, "t")).join(", ")}]`;
  const files = Array.from({ length: 220 }, (_, i) => [`notes/${i}.md`, note(`n${i}`, "", tags)]);
  await bench.write(Object.fromEntries(files));
  const page = await bench.feed.changes(BEGINNING, 1_000, {});
  expect(page.more).toBe(true);
  expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThan(1_000_000);
  expect((await bench.pages(page.cursor, {}, 1_000)).changes).toHaveLength(220 - page.changes.length);
});

test("a subscription from a cursor catches up and goes on without a seam while writes happen", async () => {
  const from = await bench.write({ "notes/a.md": note("a") });
  for (let i = 0; i < 100; i++) await bench.write({ "notes/a.md": note("a", `before ${i}`) });
  const heard = await bench.listen({}, from[0] ?? null);
  for (let i = 0; i < 100; i++) await bench.write({ "notes/a.md": note("a", `after ${i}`) });
  await bench.level(heard);
  const all = (await bench.pages(from[0] ?? "")).changes;
  expect(all).toHaveLength(200);
  expect(heard.changes).toEqual(all);
});

test("a commit of ours is a cursor of its own after a kill, before the record was written", async () => {
  const [, b, c] = (await bench.write(
    { "notes/a.md": note("a") },
    { "notes/a.md": note("a", "b") },
    { "notes/a.md": note("a", "c") },
  )) as [CommitId, CommitId, CommitId];
  const theirs = bench.store.person.commit({ "notes/z.md": note("z") }, { move: false });
  await bench.restart(theirs);
  expect(cursors((await bench.pages(b)).changes)).toEqual([c, theirs]);
  expect((await bench.feed.changes(b, 10, {})).squashed).toBe(false);
});

test("an ancestor that is not recorded gives the difference, squashed, also page by page", async () => {
  const head = await bench.foreign([
    { "notes/a.md": note("a"), "notes/c.md": note("c") },
    { "notes/a.md": note("a", "1") },
    { "notes/a.md": note("a", "2"), "notes/b.md": note("b") },
    { "notes/c.md": null },
  ]);
  const inner = (await bench.store.commitInfo(head)).parents[0] as CommitId;
  const older = (await bench.store.commitInfo(inner)).parents[0] as CommitId;
  const whole = await bench.feed.changes(older, 100, {});
  expect(whole).toMatchObject({ squashed: true, more: false, cursor: head });
  expect(said(whole.changes)).toEqual(["update a notes/a.md", "create b notes/b.md", "delete c notes/c.md"]);
  const first = await bench.feed.changes(older, 1, {});
  expect(first).toMatchObject({ squashed: true, more: true });
  await bench.write({ "notes/e.md": note("e") });
  expect(said((await bench.pages(first.cursor, {}, 1)).changes)).toEqual([
    "create b notes/b.md",
    "delete c notes/c.md",
    "save e notes/e.md",
  ]);
});

test("what is no ancestor is unknown, with the place to go on from", async () => {
  const [a] = await bench.write({ "notes/a.md": note("a") });
  const stray = bench.store.person.commit({ "notes/x.md": note("x") }, { parents: [], move: false });
  for (const since of [stray, "e".repeat(40), `${a}+1`, `${a}@9`.replace(a ?? "", stray)]) {
    await expect(bench.feed.changes(since, 10, {})).rejects.toMatchObject({
      code: "UNKNOWN_COMMIT",
      data: { resync_from: a },
    });
    await expect(bench.listen({}, since)).rejects.toMatchObject({ code: "UNKNOWN_COMMIT" });
  }
});

test("heads that come again are places of their own", async () => {
  const [a] = (await bench.write({ "notes/a.md": note("a") })) as [CommitId];
  const heard = await bench.listen();
  const [b] = (await bench.write({ "notes/b.md": note("b") })) as [CommitId];
  await bench.observe(a);
  await bench.observe(b);
  await bench.observe(a);
  await bench.level(heard);
  expect(said(heard.changes)).toEqual([
    "save b notes/b.md",
    "delete b notes/b.md",
    "create b notes/b.md",
    "delete b notes/b.md",
  ]);
  await bench.restart();
  for (const [i, cursor] of cursors(heard.changes).entries()) {
    expect((await bench.pages(cursor ?? "")).changes).toEqual(heard.changes.slice(i + 1));
  }
  expect((await bench.pages(a)).changes).toEqual(heard.changes);
});

test("an own move that does not start at the known head is a move by others", async () => {
  await bench.write({ "notes/a.md": note("a") });
  bench.store.person.commit({ "notes/b.md": note("b") });
  const theirs = (await bench.store.tip()) as CommitId;
  for await (const events of bench.store.history(null, theirs)) {
    if (events.commit.id === theirs) await bench.index.apply([events], bench.store.readBlob);
  }
  const heard = await bench.listen();
  const [c] = await bench.write({ "notes/c.md": note("c") });
  await bench.level(heard);
  expect(said(heard.changes)).toEqual(["create b notes/b.md", "create c notes/c.md"]);
  expect(cursors(heard.changes)).toEqual([null, c]);
});

test("a paused subscriber is told once, costs no events, and goes on from its cursor", async () => {
  const heard = await bench.listen({}, null, (self) => {
    if (self.changes.length === 2) self.pause();
  });
  const made = await bench.write(...[1, 2, 3, 4].map((n) => ({ "notes/a.md": note("a", `${n}`) })));
  await until("the lag to be told", () => heard.lags.length > 0);
  await bench.write({ "notes/b.md": note("b") });
  expect(heard.changes).toHaveLength(2);
  expect(heard.lags).toEqual([made[1]]);
  heard.resume();
  await bench.level(heard);
  expect(heard.changes).toEqual((await bench.pages(BEGINNING)).changes);
  expect(heard.lags).toEqual([made[1]]);
});

test("a pause in which nothing happens is not told", async () => {
  const heard = await bench.listen();
  heard.pause();
  heard.resume();
  await bench.write({ "notes/a.md": note("a") });
  await bench.level(heard);
  expect(heard.lags).toEqual([]);
});

test("nothing comes after unsubscribe, also from inside an event", async () => {
  const heard = await bench.listen({}, null, (self) => self.unsubscribe());
  const other = await bench.listen();
  await bench.write({ "notes/a.md": note("a") }, { "notes/b.md": note("b") });
  await bench.level(other);
  expect(heard.changes).toHaveLength(1);
});

test("a listener that throws is told that it failed, from where, and others go on", async () => {
  const [first] = await bench.write({ "notes/a.md": note("a") });
  const heard = await bench.listen({}, null, () => {
    throw new Error("broken socket");
  });
  const other = await bench.listen();
  await bench.write({ "notes/b.md": note("b") });
  await bench.level(other);
  await until("the failure", () => heard.failures.length > 0);
  expect(heard.failures).toEqual([
    { error: expect.objectContaining({ message: "broken socket" }), cursor: first },
  ]);
  expect(bench.warnings).toHaveLength(1);
});

test("a subscriber whose place was dropped from the record goes on with a squashed difference", async () => {
  bench.remove();
  bench = await feedBench({ maxMoves: 4 });
  await bench.write({ "notes/a.md": note("a") });
  const heard = await bench.listen();
  heard.pause();
  for (let i = 0; i < 9; i++) await bench.foreign([{ [`notes/${i}.md`]: note(`${i}`) }]);
  heard.resume();
  await bench.level(heard);
  expect(heard.failures).toEqual([]);
  expect(heard.changes.map((c) => c.note_id)).toEqual(["0", "1", "2", "3", "4", "5", "6", "7", "8"]);
  expect(cursors(heard.changes).filter(Boolean)).toEqual([bench.feed.cursor]);
});
