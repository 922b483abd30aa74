import { expect, test } from "vitest";
import { caller, planner } from "../support/call.ts";
import { FakeNotebook } from "../support/fake-notebook.ts";

function run(notebook = new FakeNotebook()) {
  const { call, fails } = caller(notebook, planner);
  return {
    run: (params: object): Promise<unknown> => call("notes.run", params),
    fails: (params: object) => fails("notes.run", params),
  };
}

test("the seven calls give the seed's shapes", async () => {
  const { run: go } = run();
  const id = await go({
    action: "create",
    title: "A title",
    content: "some text",
    note_type: "task_state",
    tags: ["x"],
  });
  expect(id).toEqual(expect.stringMatching(/^note_/));
  expect(await go({ action: "read", note_id: id })).toEqual({
    metadata: expect.objectContaining({ id, title: "A title", type: "task_state", tags: ["x"] }),
    content: "some text",
  });
  const updated = await go({ action: "update", note_id: id, title: "Another" });
  expect(updated).toBe("Note updated: Another");
  expect(await go({ action: "search", query: "some" })).toMatchObject([
    { note_id: id, content: "some text" },
  ]);
  expect(await go({ action: "list", note_type: "task_state" })).toMatchObject([
    { id, title: "Another", type: "task_state", tags: ["x"], file_path: expect.stringContaining(".md") },
  ]);
  expect(await go({ action: "summary" })).toMatchObject({
    total_notes: 1,
    type_distribution: { task_state: 1 },
    recent_notes: [{ id, title: "Another", type: "task_state" }],
  });
  expect(await go({ action: "delete", note_id: id })).toBe("Note deleted: Another");
  expect(await go({ action: "list" })).toEqual([]);
});

test("its search is literal and looks at title and body, not at tags", async () => {
  const { run: go } = run();
  await go({ action: "create", title: "T", content: "body", tags: ["onlytag"] });
  expect(await go({ action: "search", query: "onlytag" })).toEqual([]);
  expect(await go({ action: "search", query: "BODY" })).toHaveLength(1);
});

test("unknown actions and parameters are refused, naming them", async () => {
  const { fails } = run();
  expect((await fails({ action: "drop" })).data["issues"]).toMatchObject([{ path: "action" }]);
  expect((await fails({})).data["issues"]).toMatchObject([{ path: "action" }]);
  expect((await fails({ action: "list", limt: 5 })).message).toContain("limt");
  expect((await fails({ action: "search" })).message).toContain("query");
  expect((await fails({ action: "search", query: "x", limit: 0 })).code).toBe("INVALID_PARAMS");
});

test("a repeated create with its key gives the first id", async () => {
  const notebook = new FakeNotebook();
  const { run: go } = run(notebook);
  const params = { action: "create", title: "T", content: "c", idempotency_key: "k" };
  expect(await go(params)).toBe(await go(params));
  expect(notebook.notes.size).toBe(1);
});
