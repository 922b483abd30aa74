import { expect, test } from "vitest";
import { createQuota } from "../../../src/actions/gate/quota.ts";
import { NotesError } from "../../../src/domain/errors.ts";
import { ada, caller, coder, planner } from "../../support/call.ts";
import { fakeClock } from "../../support/fake-clock.ts";
import { FakeNotebook } from "../../support/fake-notebook.ts";

const refusal = (work: () => unknown) => {
  try {
    work();
  } catch (error) {
    if (error instanceof NotesError) return { code: error.code, ...error.data };
    throw error;
  }
  return null;
};

test("each principal has reads and writes of its own, however many tokens it uses", () => {
  const clock = fakeClock();
  const quota = createQuota({ readsPerSecond: 2, writesPerSecond: 1, inFlight: 0 }, clock);
  for (const effects of ["write", "destructive"] as const) quota.enter(planner, effects)();
  const over = {
    code: "OVERLOADED",
    reason: "rate",
    retry_after_ms: 1000,
    limit: "limits.writes_per_second",
  };
  expect(refusal(() => quota.enter({ ...planner, mcp: true }, "write"))).toEqual(over);
  for (let i = 0; i < 4; i++) quota.enter(planner, "read")();
  expect(refusal(() => quota.enter(planner, "session"))).toEqual({
    ...over,
    retry_after_ms: 500,
    limit: "limits.reads_per_second",
  });
  for (const other of [coder, ada]) expect(refusal(() => quota.enter(other, "write"))).toBe(null);
  clock.advance(1000);
  expect(refusal(() => quota.enter(planner, "write"))).toBe(null);
});

test("what is carried out at once is bounded, and whatever ends makes room", () => {
  const quota = createQuota({ readsPerSecond: 0, writesPerSecond: 0, inFlight: 2 }, fakeClock());
  const [first] = [quota.enter(planner, "read"), quota.enter(planner, "write")];
  expect(refusal(() => quota.enter(planner, "read"))).toMatchObject({
    code: "OVERLOADED",
    limit: "limits.in_flight",
    retry_after_ms: expect.any(Number),
  });
  quota.enter(coder, "read");
  first?.();
  expect(refusal(() => quota.enter(planner, "read"))).toBe(null);
});

test("0 is no limit", () => {
  const quota = createQuota({ readsPerSecond: 0, writesPerSecond: 0, inFlight: 0 }, fakeClock());
  for (let i = 0; i < 10_000; i++) quota.enter(planner, "write");
});

test("a call counts also when it fails or names no method, and leaves in any case", async () => {
  const quota = createQuota({ readsPerSecond: 2, writesPerSecond: 1, inFlight: 1 }, fakeClock());
  const refused: unknown[] = [];
  const notebook = new FakeNotebook();
  const { call, fails } = caller(notebook, planner, { quota, refused: (one) => refused.push(one) });
  for (let i = 0; i < 3; i++) expect((await fails("notes.nope")).code).toBe("METHOD_NOT_FOUND");
  expect((await fails("notes.read", { note_id: "x" })).code).toBe("NOT_FOUND");
  expect((await fails("notes.list")).code).toBe("OVERLOADED");
  await call("notes.create", { title: "secret title", content: "secret text" });
  await call("notes.run", { action: "create", title: "t", content: "c" });
  expect((await fails("notes.run", { action: "create", title: "t", content: "c" })).code).toBe("OVERLOADED");
  expect(refused).toEqual([
    { principal: "agent:planner", action: "notes.list", code: "OVERLOADED", reason: "rate" },
    { principal: "agent:planner", action: "notes.run", code: "OVERLOADED", reason: "rate" },
  ]);
});

test("a thousand principals that have been quiet are forgotten", () => {
  const clock = fakeClock();
  const quota = createQuota({ readsPerSecond: 1, writesPerSecond: 1, inFlight: 1 }, clock);
  const agent = (i: number) => ({ ...planner, name: `agent ${i}` });
  const held = quota.enter(agent(0), "read");
  for (let i = 1; i < 1_500; i++) {
    quota.enter(agent(i), "read")();
    clock.advance(10);
  }
  // Who is still at it is not.
  expect(refusal(() => quota.enter(agent(0), "read"))).toMatchObject({ limit: "limits.in_flight" });
  held();
  expect(refusal(() => quota.enter(agent(0), "read"))).toBe(null);
});
