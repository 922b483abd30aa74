/** What a person should know since they last looked: what is told, what is not, and where it begins. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { markName } from "../../../src/domain/identity.ts";
import { ada, caller, coder, planner } from "../../support/call.ts";
import { type FakeClock, fakeClock } from "../../support/fake-clock.ts";
import { openTestNotebook, type TestNotebook } from "../../support/open-notebook.ts";

let opened: TestNotebook;
let clock: FakeClock;
beforeEach(async () => {
  clock = fakeClock();
  opened = await openTestNotebook({ clock });
});
afterEach(() => opened.dispose());

const as = (principal: typeof ada | typeof planner) => {
  const { call, fails } = caller(opened.notebook, principal);
  return {
    fails,
    call(method: string, params: object = {}) {
      clock.advance(60_000);
      return call(method, params);
    },
  };
};
const create = async (by: typeof ada | typeof planner, note_type: string, title: string, more: object = {}) =>
  String(
    (await as(by).call("notes.create", { title, content: `${title}.\n`, note_type, ...more }))["note_id"],
  );
const review = (params: object = {}) => as(ada).call("notes.review", params);
const look = () => review({ mark: true });

test("a conclusion is told with its reason, by the step that decided it, and again when it is revised", async () => {
  await look();
  const id = await create(planner, "conclusion", "Sessions stay in Postgres", { reason: "one store fewer" });
  await as(coder).call("notes.update", { note_id: id, tags: ["db"], reason: "tagged" });
  expect(await look()).toMatchObject({
    writes: 2,
    notes: 1,
    conclusions: [
      {
        note_id: id,
        new: true,
        agent_name: "planner",
        reason: "one store fewer",
        excerpt: "Sessions stay in Postgres.",
      },
    ],
  });
  await as(planner).call("notes.update", { note_id: id, tags: ["db", "x"] });
  expect(await look()).toMatchObject({ writes: 1, conclusions: [] });
  await as(coder).call("notes.update", { note_id: id, content: "In Redis.\n", reason: "too slow" });
  expect(await look()).toMatchObject({
    conclusions: [{ new: false, agent_name: "coder", reason: "too slow", excerpt: "In Redis." }],
  });
});

test("blockers: new ones, closed ones with why, and one that came and went in between", async () => {
  const old = await create(planner, "blocker", "Old");
  await look();
  const fresh = await create(planner, "blocker", "Fresh", { reason: "CI is red" });
  const quick = await create(coder, "blocker", "Quick");
  await as(coder).call("notes.update", { note_id: quick, status: "resolved", reason: "a typo" });
  await as(coder).call("notes.update", { note_id: old, status: "resolved", reason: "migrated" });
  await as(coder).call("notes.append", { note_id: old, content: "done\n", reason: "for the record" });
  expect(await look()).toMatchObject({
    new_blockers: [{ note_id: fresh, reason: "CI is red" }],
    closed_blockers: [
      { note_id: old, reason: "migrated", agent_name: "coder", status: "resolved" },
      { note_id: quick, reason: "a typo" },
    ],
  });
  await as(planner).call("notes.update", { note_id: old, status: "open", reason: "it is back" });
  expect(await look()).toMatchObject({
    new_blockers: [{ note_id: old, reason: "it is back" }],
    closed_blockers: [],
  });
});

test("lines of people's that agents took away are told; additions and an agent's own lines are not", async () => {
  const design = await create(ada, "reference", "Design");
  const content = "Tokens live for one hour.\nRefresh in Redis.\nKeep logs.\n";
  await as(ada).call("notes.update", { note_id: design, content });
  const own = await create(planner, "general", "Own");
  await look();
  await as(coder).call("notes.append", { note_id: design, content: "Added by coder.\n" });
  await as(coder).call("notes.edit", {
    note_id: design,
    old_str: "Added by coder.",
    new_str: "Rewritten by coder.",
  });
  await as(planner).call("notes.update", { note_id: own, content: "other\n" });
  expect(await look()).toMatchObject({ edits: [] });
  await as(coder).call("notes.edit", {
    note_id: design,
    old_str: "Refresh in Redis.",
    new_str: "Refresh in Postgres.",
    reason: "decided on monday",
  });
  expect(await look()).toMatchObject({
    edits: [
      {
        note_id: design,
        agent_name: "coder",
        lines: 1,
        first: "Refresh in Redis.",
        reason: "decided on monday",
      },
    ],
  });
});

test("deleted notes with who and why, and kept conflicts", async () => {
  const id = await create(planner, "general", "Obsolete");
  await look();
  await as(planner).call("notes.delete", { note_id: id, reason: "superseded" });
  const kept = {
    note_id: "n",
    path: "notes/n.md",
    base: null,
    ours: null,
    theirs: "0".repeat(40),
    since: "2026-11-30T10:00:00Z",
  };
  await opened.store.keepConflict(kept as Parameters<typeof opened.store.keepConflict>[0]);
  expect(await look()).toMatchObject({
    deleted: [
      { note_id: id, title: "Obsolete", status: "deleted", reason: "superseded", agent_name: "planner" },
    ],
    conflicts: [{ note_id: "n", path: "notes/n.md" }],
  });
});

test("the mark is a person's own ref at the head that was shown; without one the last week counts", async () => {
  await create(planner, "conclusion", "Early");
  clock.advance(8 * 24 * 3_600_000);
  await create(planner, "conclusion", "Late");
  expect(await review()).toMatchObject({
    since: { from: "week" },
    conclusions: [{ title: "Late" }],
    marked: false,
  });
  expect(await review({ since: "2026-11-01" })).toMatchObject({
    since: { from: "given", commit: null },
    conclusions: [{ title: "Late" }, { title: "Early" }],
  });
  expect(await look()).toMatchObject({ since: { from: "week" }, marked: true });
  expect(await opened.store.reviewMark(markName(ada.email))).toBe(await opened.store.tip());
  expect(await review()).toMatchObject({ since: { from: "mark" }, writes: 0, conclusions: [] });
  const eve = { ...ada, email: "eve@example.org" };
  expect(await as(eve).call("notes.review")).toMatchObject({ since: { from: "week" } });
  expect((await as(planner).fails("notes.review", { mark: true })).code).toBe("FORBIDDEN");
  expect(await as(planner).call("notes.review")).toMatchObject({ since: { from: "week" }, marked: false });
  expect(await review({ since: "2026-11-01", limit: 1 })).toMatchObject({
    conclusions: [{ title: "Late" }],
    omitted: { conclusions: 1 },
  });
});

test("what another machine saw is seen, and what it had not is shown after the merge", async () => {
  const { person } = opened.store;
  const FILE = (id: string) => `---\nid: ${id}\ntype: conclusion\n---\n${id}\n`;
  const root = person.commit({ "notes/r.md": FILE("r") });
  const here = person.commit({ "notes/here.md": FILE("here") }, { parents: [root] });
  const there = person.commit({ "notes/there.md": FILE("there") }, { parents: [root], move: false });
  await opened.store.setReviewMark(markName(ada.email), there);
  await opened.disk.headMoved();
  expect(await review()).toMatchObject({
    since: { from: "mark", commit: there },
    conclusions: [{ title: "here" }],
  });
  person.commit({ "notes/there.md": FILE("there") }, { parents: [here, there] });
  await opened.disk.headMoved();
  expect(await review()).toMatchObject({ since: { from: "mark" }, conclusions: [{ title: "here" }] });
});
