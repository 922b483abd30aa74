import { afterEach, beforeEach, expect, test } from "vitest";
import { caller, planner } from "../support/call.ts";
import { type FakeClock, fakeClock } from "../support/fake-clock.ts";
import { openTestNotebook, type TestNotebook } from "../support/open-notebook.ts";

const HOUR_MS = 3_600_000;
let opened: TestNotebook;
let clock: FakeClock;
beforeEach(async () => {
  clock = fakeClock();
  opened = await openTestNotebook({ clock });
});
afterEach(() => opened.dispose());

const api = () => caller(opened.notebook, planner);

/** One, two, three: a commit an hour each. */
async function note(): Promise<{ note_id: string; commits: string[] }> {
  const { call } = api();
  const made = await call("notes.create", { title: "T", content: "one\n", note_type: "blocker" });
  const commits = [String(made["commit"])];
  for (const content of ["two\n", "three\n"]) {
    clock.advance(HOUR_MS);
    const done = await call("notes.update", { note_id: made["note_id"], content });
    commits.push(String(done["commit"]));
  }
  return { note_id: String(made["note_id"]), commits };
}

test("by default the last change is shown, with the line of its date", async () => {
  const { note_id, commits } = await note();
  const diff = await api().call("notes.diff", { note_id });
  expect(diff).toMatchObject({ from: commits[1], to: commits[2] });
  expect(diff["unified"]).toContain("-two\n+three\n");
  expect(diff["unified"]).toMatch(/-updated_at: .*11:15.*\n\+updated_at: .*12:15/);
  expect(diff["unified"]).not.toContain("one");
});

test("from and to take commits, times and words; to alone means the last change by then", async () => {
  const { note_id, commits } = await note();
  const { call } = api();
  const unified = async (params: object) => (await call("notes.diff", { note_id, ...params }))["unified"];
  expect(await unified({ from: commits[0], to: commits[1] })).toContain("-one\n+two\n");
  expect(await unified({ from: commits[0] })).toContain("-one\n+three\n");
  expect(await unified({ to: commits[1] })).toContain("-one\n+two\n");
  expect(await unified({ from: "1h" })).toContain("-two\n+three\n");
  expect(await unified({ from: "2026-11-30T10:30:00Z", to: "2026-11-30T11:30:00Z" })).toContain(
    "-one\n+two\n",
  );
  expect(await unified({ from: commits[2], to: commits[2] })).toBe("");
  // Backwards is a difference too.
  expect(await unified({ from: commits[2], to: commits[0] })).toContain("-three\n+one\n");
});

test("a note that came into being is a new file, one that is deleted a removed one", async () => {
  const { note_id, commits } = await note();
  const { call } = api();
  expect(await call("notes.diff", { note_id, to: commits[0] })).toMatchObject({
    from: null,
    unified: expect.stringMatching(/new file mode 100644\n--- \/dev\/null\n.*\+one\n/s),
  });
  const { commit } = await call("notes.delete", { note_id });
  expect(await call("notes.diff", { note_id })).toMatchObject({
    from: commits[2],
    to: commit,
    unified: expect.stringContaining("+++ /dev/null\n"),
  });
});

test("a renamed note is followed, and one without id is found by its stem, deleted too", async () => {
  const { person } = opened.store;
  person.commit({ "notes/plan.md": "# Plan\n\nfirst\n" });
  person.commit({ "notes/plan.md": null, "notes/road.md": "# Plan\n\nfirst\n" });
  person.commit({ "notes/road.md": "# Plan\n\nsecond\n" });
  const gone = person.commit({ "notes/road.md": null });
  await opened.disk.headMoved();
  const { call } = api();
  const history = (await call("notes.history", {})) as { entries: { commit: string; note_id: string }[] };
  const [, edit, rename, create] = history.entries.map(({ commit }) => commit);
  const { note_id } = history.entries[0] ?? {};
  expect(await call("notes.diff", { note_id, from: create, to: rename })).toMatchObject({
    unified: expect.stringContaining("rename from notes/plan.md\nrename to notes/road.md\n"),
  });
  expect(await call("notes.diff", { note_id, from: create, to: edit })).toMatchObject({
    unified: expect.stringMatching(/rename to notes\/road.md\n.*-first\n\+second\n/s),
  });
  expect(await call("notes.diff", { note_id: "road" })).toMatchObject({
    to: gone,
    unified: expect.stringContaining("deleted file"),
  });
});

test("a person's unsettled save is committed first and then shown", async () => {
  const { note_id } = await note();
  const path = opened.notebook.metadata(note_id)?.path ?? "";
  const text = opened.store.person.text(path) ?? "";
  opened.store.person.save(path, text.replace("three", "by hand"));
  expect(await api().call("notes.diff", { note_id })).toMatchObject({
    unified: expect.stringContaining("-three\n+by hand\n"),
  });
});

test("what never was is NOT_FOUND, and a moment that is none is refused by name", async () => {
  const { note_id } = await note();
  const { fails } = api();
  expect((await fails("notes.diff", { note_id: "nobody" })).code).toBe("NOT_FOUND");
  expect((await fails("notes.diff", { note_id, from: "f".repeat(40) })).code).toBe("UNKNOWN_COMMIT");
  expect(await fails("notes.diff", { note_id, to: "someday" })).toMatchObject({
    code: "INVALID_PARAMS",
    data: { issues: [{ path: "to" }] },
  });
});
