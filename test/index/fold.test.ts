import { expect, test } from "vitest";
import { fileId } from "../../src/domain/identity.ts";
import type { CommitId, NoteId, RepoPath } from "../../src/domain/note.ts";
import { MemoryIndex } from "../../src/index/memory-index.ts";
import { HistoryBuilder, provedAs } from "../support/history-builder.ts";
import { plainParse } from "../support/plain-parse.ts";

const ID = "note_20261130_101500_k3vq7a" as NoteId;
const NOTE = (body: string, more = "") => `---\nid: ${ID}\n${more}---\n${body}`;
const DAY_S = 86_400;
const AT_S = 1_800_000_000;
const iso = (s: number) => new Date(s * 1000).toISOString();
const free = () => false;
const fId = (path: string) => fileId(path as RepoPath, free);
const planner = (action: "create" | "update" | "delete" = "update") =>
  provedAs({ action, agent: "planner", agentId: 7, noteIds: [ID] });

function follow() {
  const builder = new HistoryBuilder();
  const index = new MemoryIndex({ parse: plainParse, isNotePath: (p) => p.endsWith(".md"), fingerprint: "" });
  return {
    builder,
    index,
    go: (to: CommitId) => index.apply(builder.history(index.head, to), builder.read, to),
  };
}

test("a note that an agent created is its own; who changed it last gives its trust", async () => {
  const { builder, index, go } = follow();
  const created = builder.change(null, { "notes/a.md": NOTE("x") }, { at: AT_S, proved: planner("create") });
  const [change] = await go(created);
  expect(change).toMatchObject({ action: "create", noteId: ID, before: null, revision: expect.any(String) });
  expect(index.get(ID)).toMatchObject({ agent_id: 7, agent_name: "planner", trust: "agent" });
  expect(index.get(ID)).toMatchObject({ created_at: iso(AT_S), updated_at: iso(AT_S), path: "notes/a.md" });

  const adopt = provedAs({ action: "adopt", source: "disk" });
  const edited = builder.change(created, { "notes/a.md": NOTE("y") }, { at: AT_S + 60, proved: adopt });
  const changes = await go(edited);
  expect(changes).toMatchObject([{ action: "update", fields: ["content"], commit: edited }]);
  expect(index.get(ID)).toMatchObject({ agent_name: "planner", trust: "disk", updated_at: iso(AT_S + 60) });

  const forged = builder.change(edited, { "notes/a.md": NOTE("z", "agent: boss\n") }, { at: AT_S + 90 });
  await go(forged);
  expect(index.get(ID)).toMatchObject({ agent_name: "planner", trust: "pushed" });
  expect(index.rowsOf(forged)).toMatchObject([
    { source: "git", trust: "pushed", action: "update", agentId: null },
  ]);
});

test("updated_at is the file's after a write of ours, else the commit's, and never before created_at", async () => {
  const { builder, index, go } = follow();
  const said = `updated_at: ${iso(AT_S + 5)}\ncreated_at: ${iso(AT_S + 1)}\n`;
  const ours = builder.change(null, { "notes/a.md": NOTE("x", said) }, { at: AT_S, proved: planner() });
  await go(ours);
  expect(index.get(ID)).toMatchObject({ created_at: iso(AT_S + 1), updated_at: iso(AT_S + 5) });
  await go(builder.change(ours, { "notes/a.md": NOTE("y", said) }, { at: AT_S + DAY_S }));
  expect(index.get(ID)?.updated_at).toBe(iso(AT_S + DAY_S));
  const later = `created_at: ${iso(AT_S + 2 * DAY_S)}\n`;
  await go(builder.change(ours, { "notes/a.md": NOTE("z", later) }, { at: AT_S + DAY_S }));
  expect(index.get(ID)).toMatchObject({
    created_at: iso(AT_S + 2 * DAY_S),
    updated_at: iso(AT_S + 2 * DAY_S),
  });
});

test("a file without id is served under one from its path, keeps it when moved, and its stem resolves while unique", async () => {
  const { builder, index, go } = follow();
  const made = builder.change(null, { "notes/plan.md": "text" });
  await go(made);
  const id = fId("notes/plan.md");
  expect(index.get("plan")?.note_id).toBe(id);
  const moved = builder.change(made, { "notes/plan.md": null, "notes/d/plan.md": "text" });
  expect(await go(moved)).toMatchObject([
    { action: "rename", noteId: id, path: "notes/d/plan.md", fields: ["path"] },
  ]);
  expect(index.pathsOf(id)).toEqual(["notes/d/plan.md", "notes/plan.md"]);
  expect(index.rowsOf(moved)).toHaveLength(1);

  await go(builder.change(moved, { "notes/plan.md": "another" }));
  const second = fileId("notes/plan.md" as RepoPath, (taken) => taken === id);
  expect(index.idAt("notes/plan.md" as RepoPath)).toBe(second);
  expect(index.get("plan")).toBeNull();
});

test("of two files with one id the older keeps it, whatever its path; it passes on when that is deleted", async () => {
  const { builder, index, go } = follow();
  const first = builder.change(null, { "notes/z.md": NOTE("z") }, { at: AT_S });
  const copied = builder.change(first, { "notes/a.md": NOTE("copy") }, { at: AT_S + 60 });
  await go(copied);
  expect(index.get(ID)?.path).toBe("notes/z.md");
  expect(index.duplicates()).toEqual([
    { id: ID, kept: "notes/z.md", other: "notes/a.md", servedAs: fId("notes/a.md") },
  ]);
  const gone = builder.change(copied, { "notes/z.md": null });
  expect(await go(gone)).toMatchObject([
    { action: "update", path: "notes/a.md", noteId: ID, before: { note_id: fId("notes/a.md") } },
    { action: "delete", path: "notes/z.md", noteId: ID },
  ]);
  expect(index.duplicates()).toEqual([]);
  expect(index.get(ID)?.path).toBe("notes/a.md");
});

test("two files with one id from one commit: the smaller path keeps it", async () => {
  const { builder, index, go } = follow();
  await go(builder.change(null, { "notes/\uff21.md": NOTE("1"), "notes/\u{1f600}.md": NOTE("2") }));
  expect(index.get(ID)?.path).toBe("notes/\uff21.md");
});

test("a merge takes a path as it stood on the other side, with its author, trust and dates", async () => {
  const { builder, index, go } = follow();
  const base = builder.change(
    null,
    { "notes/a.md": NOTE("x"), "notes/b.md": "b" },
    { at: AT_S, proved: planner() },
  );
  const side = builder.change(base, { "notes/a.md": NOTE("side"), "notes/s.md": "s" }, { at: AT_S + 10 });
  const main = builder.change(base, { "notes/b.md": "b2" }, { at: AT_S + 20, proved: planner() });
  await go(main);
  const merge = builder.commit(
    [main, side],
    { ...builder.tree(side), "notes/b.md": "b2" },
    { at: AT_S + 30, proved: provedAs({ action: "merge", source: "push" }) },
  );
  const changes = await go(merge);
  expect(changes.map(({ action, path }) => [action, path])).toEqual([
    ["update", "notes/a.md"],
    ["create", "notes/s.md"],
  ]);
  expect(index.get(ID)).toMatchObject({ trust: "pushed", updated_at: iso(AT_S + 10), agent_name: "planner" });
  expect(index.fileAt(merge, "notes/a.md" as RepoPath)?.changedIn).toBe(side);
  expect(index.rowsOf(merge)).toEqual([]);
  expect(index.history({}, 10, null).items.map((row) => row.commit)).toEqual([side, side, main, base, base]);
});

test("a file that a merge itself changed has the lower trust of its sides", async () => {
  const { builder, index, go } = follow();
  const base = builder.change(null, { "notes/a.md": NOTE("x") }, { proved: planner() });
  const side = builder.change(base, { "notes/a.md": NOTE("side") });
  const main = builder.change(base, { "notes/a.md": NOTE("main") }, { proved: provedAs({ source: "api" }) });
  await go(main);
  expect(index.get(ID)?.trust).toBe("person");
  const proved = provedAs({ action: "merge", source: "api" });
  const merge = builder.commit([main, side], { "notes/a.md": NOTE("both") }, { proved });
  expect(await go(merge)).toMatchObject([{ action: "merge", noteId: ID, fields: ["content"] }]);
  expect(index.get(ID)?.trust).toBe("pushed");
  expect(index.rowsOf(merge)).toMatchObject([{ action: "merge", trust: "pushed" }]);
});

test.each(["main", "side"])(
  "a merge of a move on %s with the other's edit has the lower trust of both",
  async (mover) => {
    for (const [moved, edited] of [
      ["pushed", "person"],
      ["person", "pushed"],
    ] as const) {
      const { builder, index, go } = follow();
      const by = { pushed: {}, person: { proved: provedAs({ source: "api" }) } };
      const base = builder.change(null, { "notes/a.md": NOTE("x") }, { proved: planner() });
      const move = builder.change(
        base,
        { "notes/a.md": null, "notes/b.md": NOTE("x", "status: open\n") },
        by[moved],
      );
      const edit = builder.change(base, { "notes/a.md": NOTE("edited") }, by[edited]);
      const parents = mover === "main" ? [move, edit] : [edit, move];
      const tree = { "notes/b.md": NOTE("edited", "status: open\n") };
      await go(builder.commit(parents, tree, { proved: provedAs({ action: "merge" }) }));
      expect(index.get(ID)).toMatchObject({ path: "notes/b.md", trust: "pushed" });
    }
  },
);

test("a file that can't be read as a note stops nothing: listed with its reason, searched, in no list", async () => {
  const { builder, index, go } = follow();
  await go(builder.change(null, { "notes/bad.md": "! broken treasure", "notes/good.md": "fine" }));
  const id = fId("notes/bad.md");
  expect(index.quarantined()).toEqual([{ path: "notes/bad.md", line: 1, reason: "begins with !" }]);
  expect(index.quarantine(id)?.path).toBe("notes/bad.md");
  expect(index.get(id)).toMatchObject({ title: "bad" });
  const everything = { filter: {}, viewer: { kind: "person" }, nowMs: 0, limit: 10 } as const;
  expect(index.list({ ...everything, cursor: null }).items.map((note) => note.title)).toEqual(["good"]);
  const found = index.search({ ...everything, query: "treasure", mode: "ranked", fields: "title-body-tags" });
  expect(found.rows.map((row) => row.note.note_id)).toEqual([id]);
  expect(index.size()).toBe(1);
  expect(index.digest()).toMatch(/^[0-9a-f]{64}$/);
});

test("a deleted note is found in history, its id is never free again, and coming back it is the same note", async () => {
  const { builder, index, go } = follow();
  const made = builder.change(null, { "notes/a.md": NOTE("x") }, { proved: planner("create") });
  const gone = builder.change(made, { "notes/a.md": null }, { proved: planner("delete") });
  await go(gone);
  expect(index.get(ID)).toBeNull();
  expect(index.deletedIn(ID)).toBe(gone);
  expect(index.idTaken(ID)).toBe(true);
  expect(index.idTaken("note_20261130_101500_aaaaaa")).toBe(false);
  expect(index.rowsOf(gone)).toMatchObject([
    { action: "delete", revision: null, type: "general", noteId: ID },
  ]);
  await go(builder.change(gone, { "notes/a.md": NOTE("x") }));
  expect(index.deletedIn(ID)).toBeNull();
  expect((await index.noteAt(made, "notes/a.md" as RepoPath, builder.read))?.metadata?.note_id).toBe(ID);
});

test("a request is remembered with what it did, also when it changed nothing or deleted", async () => {
  const { builder, index, go } = follow();
  const [one, two, three, none] = ["1", "2", "3", "4"].map((digit) => digit.repeat(64));
  const hash = "a".repeat(64);
  const keyed = (key = "") => provedAs({ noteIds: [ID], requestKey: key, requestHash: hash });
  const made = builder.change(null, { "notes/a.md": NOTE("x") }, { proved: keyed(one) });
  const same = builder.change(made, {}, { proved: keyed(two) });
  const gone = builder.change(same, { "notes/a.md": null }, { proved: keyed(three) });
  await go(gone);
  const revision = index.fileAt(made, "notes/a.md" as RepoPath)?.blob;
  const told = { hash, noteId: ID, path: "notes/a.md", revision };
  expect(index.request(one ?? "")).toEqual({ ...told, commit: made });
  expect(index.request(two ?? "")).toEqual({ ...told, commit: same });
  expect(index.request(three ?? "")).toEqual({ ...told, commit: gone, path: null, revision: null });
  expect(index.request(none ?? "")).toBeNull();
  expect(index.request("no digest")).toBeNull();
});

test("commits whose parents are unknown are refused and change nothing", async () => {
  const { builder, index, go } = follow();
  const first = builder.change(null, { "notes/a.md": "a" });
  const second = builder.change(first, { "notes/a.md": "b" });
  const third = builder.change(second, { "notes/a.md": "c" });
  await go(first);
  const tail = builder.history(second, third);
  expect(index.canExtend(tail)).toBe(false);
  await expect(index.apply(tail, builder.read)).rejects.toMatchObject({ code: "UNKNOWN_COMMIT" });
  expect(index.head).toBe(first);
});

test("a failed read changes nothing, and the same commits can be applied again", async () => {
  const { builder, index, go } = follow();
  const first = builder.change(null, { "notes/a.md": "a" });
  const second = builder.change(first, { "notes/a.md": "b", "notes/b.md": "b" });
  await go(first);
  const broken = () => Promise.reject(new Error("disk"));
  await expect(index.apply(builder.history(first, second), broken)).rejects.toThrow("disk");
  expect(index.head).toBe(first);
  expect(index.knows(second)).toBe(false);
  expect(await go(second)).toHaveLength(2);
});

test("paths outside the roots are no notes, and a move in from outside is a new note", async () => {
  const { builder, index, go } = follow();
  const out = builder.change(null, { "README.txt": "text" });
  expect(await go(out)).toEqual([]);
  const moved = builder.change(out, { "README.txt": null, "notes/readme.md": "text" });
  expect(await go(moved)).toMatchObject([{ action: "create", noteId: fId("notes/readme.md") }]);
  expect(index.files()).toHaveLength(1);
});
