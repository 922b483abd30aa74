/** Who wrote which line, on histories with renames, merges and restores. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { caller, coder, planner } from "../../support/call.ts";
import { openTestNotebook, PERSON, type TestNotebook } from "../../support/open-notebook.ts";

let opened: TestNotebook;
beforeEach(async () => {
  opened = await openTestNotebook();
});
afterEach(() => opened.dispose());

const blamed = async (id: string, at?: string) => {
  const { lines, commits } = await opened.notebook.blame(id, at, PERSON);
  expect(new Set(lines.map(({ commit }) => commit))).toEqual(new Set(commits.map(({ commit }) => commit)));
  return lines.map(({ text, commit }) => [text, commit]);
};

test("each line is whoever's brought it last, through a rename, and the file of any moment can be asked for", async () => {
  const { person } = opened.store;
  const first = person.commit({ "notes/a.md": "one\ntwo\nthree\n" });
  const second = person.commit({ "notes/a.md": "one\n2\nthree\n" });
  person.commit({ "notes/a.md": null, "notes/b.md": "one\n2\nthree\n" });
  const last = person.commit({ "notes/b.md": "zero\none\n2\nthree\n" });
  await opened.disk.headMoved();
  expect(await blamed("b")).toEqual([
    ["zero", last],
    ["one", first],
    ["2", second],
    ["three", first],
  ]);
  expect(await blamed("a", second)).toEqual([
    ["one", first],
    ["2", second],
    ["three", first],
  ]);
});

test("a merge is followed on both sides, and has only what it made itself", async () => {
  const { person } = opened.store;
  const FILE = (...lines: string[]) => ["---", "id: a", "---", ...lines, ""].join("\n");
  const root = person.commit({ "notes/a.md": FILE("top", "middle", "end") });
  const ours = person.commit({ "notes/a.md": FILE("TOP", "middle", "end") }, { parents: [root] });
  const theirs = person.commit(
    { "notes/a.md": FILE("top", "middle", "END") },
    { parents: [root], move: false },
  );
  const merge = person.commit({ "notes/a.md": FILE("TOP", "middle!", "END") }, { parents: [ours, theirs] });
  await opened.disk.headMoved();
  expect((await blamed("a")).slice(3)).toEqual([
    ["TOP", ours],
    ["middle!", merge],
    ["END", theirs],
  ]);
});

test("lines of a note that was deleted and restored are still their authors'", async () => {
  const { call } = caller(opened.notebook, planner);
  const made = await call("notes.create", { title: "T", content: "by planner\n" });
  const { note_id } = made;
  await caller(opened.notebook, coder).call("notes.append", {
    note_id,
    content: "by coder\n",
    reason: "why",
  });
  const { entries } = (await call("notes.history", { note_id })) as { entries: { commit: string }[] };
  await call("notes.delete", { note_id });
  await call("notes.restore", { note_id, at: entries[0]?.commit });
  const { lines, commits } = (await call("notes.blame", { note_id })) as {
    lines: { text: string; commit: string }[];
    commits: { commit: string; agent_name: string; reason: string | null; action: string }[];
  };
  const whose = (text: string) => {
    const line = lines.find((one) => one.text.startsWith(text));
    return commits.find(({ commit }) => commit === line?.commit);
  };
  expect(whose("by planner")).toMatchObject({ agent_name: "planner", action: "create" });
  expect(whose("by coder")).toMatchObject({ agent_name: "coder", reason: "why" });
  expect(whose("updated_at")).toMatchObject({ action: "restore" });
});

test("a commit that the branch does not have is refused, and so is a note that never was", async () => {
  const { person } = opened.store;
  const root = person.commit({ "notes/a.md": "x\n" });
  await opened.disk.headMoved();
  const side = person.commit({ "notes/a.md": "y\n" }, { parents: [root], move: false });
  await expect(opened.notebook.blame("a", side, PERSON)).rejects.toMatchObject({ code: "UNKNOWN_COMMIT" });
  await expect(opened.notebook.blame("nobody", undefined, PERSON)).rejects.toMatchObject({
    code: "NOT_FOUND",
  });
});
