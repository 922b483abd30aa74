/** What a refusal says to do, done: one further call, and the write stands. `if_revision` is `domain/revision.test.ts`. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { ada, caller, planner } from "../support/call.ts";
import { openTestNotebook, type TestNotebook } from "../support/open-notebook.ts";

let opened: TestNotebook;
beforeEach(async () => {
  opened = await openTestNotebook();
});
afterEach(() => opened.dispose());
const as = (principal: typeof ada | typeof planner) => caller(opened.notebook, principal);

/** A note, and how its text is read. */
async function made(content: string) {
  const one = as(planner);
  const { note_id, path, commit, revision } = await one.call("notes.create", { title: "t", content });
  const text = async () => (await one.call("notes.read", { note_id }))["content"];
  return { ...one, note_id, path: String(path), commit, revision, text };
}

test("a stale update is mended by the members of its refusal, through the action's own schema", async () => {
  const { call, fails, note_id, revision, text } = await made("one\n\ntwo\n\nthree");
  await call("notes.update", { note_id, content: "ONE\n\ntwo\n\nthree", tags: ["x"] });
  const wish = {
    ...{ note_id, content: "one\n\ntwo\n\nTHREE", note_type: "blocker", tags: ["y"] },
    ...{ expires_in_hours: 2, extra: { doi: "10" }, if_revision: revision },
  };
  const { data } = await fails("notes.update", wish);
  expect(data["fields"]).toEqual({
    note_type: "blocker",
    tags: ["x", "y"],
    expires_in_hours: 2,
    extra: { doi: "10" },
  });
  const fields = data["fields"] as Record<string, unknown>;
  await call("notes.update", { note_id, content: data["merged"], ...fields, if_revision: data["revision"] });
  expect(await text()).toBe("ONE\n\ntwo\n\nTHREE");
  expect(await call("notes.read", { note_id })).toMatchObject({
    metadata: { type: "blocker", tags: ["x", "y"], extra: { doi: "10" }, expires_at: expect.any(String) },
  });
});

test("an edit that was copied wrongly is mended by data.nearest.text", async () => {
  const { call, fails, note_id, text } = await made("# Plan\n\nRead  the refresh token.\nThen the rest.\n");
  for (const old_str of ["Read the refresh token.\n", "Read the refresh-token"]) {
    const { data, message } = await fails("notes.edit", { note_id, old_str, new_str: "x" });
    expect(message).toMatch(/Line 3 comes nearest/);
    expect(data).toMatchObject({ reason: "no_match", count: 0, nearest: { line: 3 } });
  }
  const { data } = await fails("notes.edit", { note_id, old_str: "read the token", new_str: "x" });
  const { text: old_str } = data["nearest"] as { text: string };
  await call("notes.edit", { note_id, old_str, new_str: "Done." });
  expect(await text()).toBe("# Plan\n\nDone.\nThen the rest.\n");
});

test("an edit of what occurs often is told the lines, one of which with its neighbour is enough", async () => {
  const { call, fails, note_id, text } = await made("- open\n- a\n- open\n- b\n");
  const { data } = await fails("notes.edit", { note_id, old_str: "- open", new_str: "- done" });
  expect(data).toEqual({ reason: "many_matches", count: 2, lines: [1, 3] });
  const lines = String(await text()).split("\n");
  const at = (data["lines"] as number[])[1] ?? 0;
  const old_str = lines.slice(at - 2, at).join("\n");
  await call("notes.edit", { note_id, old_str, new_str: "- a\n- done" });
  expect(await text()).toBe("- open\n- a\n- done\n- b\n");
});

test("a note that was deleted meanwhile says in which commit, and comes back by the one it was last at", async () => {
  const { call, fails, note_id, revision, text } = await made("kept");
  await call("notes.update", { note_id, status: "resolved" });
  const gone = await call("notes.delete", { note_id });
  for (const [method, params] of [
    ["notes.read", {}],
    ["notes.update", { status: "open", if_revision: revision }],
    ["notes.append", { content: "x" }],
    ["notes.delete", {}],
  ] as const) {
    const { code, data, message } = await fails(method, { note_id, ...params });
    expect([code, data["deleted_in"]]).toEqual(["NOT_FOUND", gone["commit"]]);
    expect(message).toContain(`It was last there at ${String(data["last_commit"])}`);
  }
  const { data } = await fails("notes.read", { note_id });
  await call("notes.restore", { note_id, at: data["last_commit"] });
  expect(await text()).toBe("kept");
  expect(await call("notes.read", { note_id })).toMatchObject({ metadata: { status: "resolved" } });
  expect((await fails("notes.read", { note_id: "nobody" })).data).toEqual({ note_id: "nobody" });
});

test("a restore whose place another note took is free to go on when that note is gone", async () => {
  const { call, fails, note_id, path, commit, text } = await made("first");
  await call("notes.delete", { note_id });
  opened.store.person.commit({ [path]: "---\nid: other\ntitle: Other\n---\nmine\n" });
  await opened.disk.headMoved();
  const { data } = await fails("notes.restore", { note_id, at: commit });
  expect(data).toEqual({ reason: "path_taken", path, note_id: "other" });
  await as(ada).call("notes.delete", { note_id: data["note_id"] });
  await call("notes.restore", { note_id, at: commit });
  expect(await text()).toBe("first");
});

test("an edit of a person's that does not merge is resolved by one update", async () => {
  const { call, fails, note_id, path, text } = await made("one");
  const file = opened.store.person.text(path) ?? "";
  opened.store.person.commit({ [path]: file.replace("one", "ours") });
  opened.store.person.save(path, file.replace("one", "theirs"));
  await opened.disk.headMoved();
  const { code, data, message } = await fails("notes.append", { note_id, content: "more" });
  expect([code, data["reason"]]).toEqual(["CONFLICT", "held_edit"]);
  expect(message).toMatch(/Send an update with the content that both should become/);
  await call("notes.update", { note_id, content: "ours and theirs" });
  expect(await text()).toBe("ours and theirs");
});

test("an edit that waits for its person is committed by notes.commit, and the write goes on", async () => {
  await opened.dispose();
  opened = await openTestNotebook({ commit: "manual" });
  const { call, fails, note_id, path, text } = await made("one\n");
  const file = opened.store.person.text(path) ?? "";
  opened.store.person.save(path, file.replace("one", "by hand"));
  await opened.disk.scanAll("asked");
  const { code, data } = await fails("notes.append", { note_id, content: "more\n" });
  expect([code, data["reason"]]).toEqual(["CONFLICT", "dirty_edit"]);
  await as(ada).call("notes.commit", { paths: [data["path"]] });
  await call("notes.append", { note_id, content: "more\n" });
  expect(await text()).toBe("by hand\nmore\n");
});
