/** Who may is asked when a write is planned: no other request slips in between, and none of the same group does. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { permitChange } from "../../../src/actions/rights.ts";
import type { Change } from "../../../src/domain/change.ts";
import { type MemoryKey, memoryId } from "../../../src/domain/identity.ts";
import type { Principal } from "../../../src/domain/principal.ts";
import { ada, coder, contextOf, planner } from "../../support/call.ts";
import { openTestNotebook, type TestNotebook } from "../../support/open-notebook.ts";

let opened: TestNotebook;
beforeEach(async () => {
  opened = await openTestNotebook();
});
afterEach(() => opened.dispose());

const OWN: MemoryKey = { scope: "agent", ref: null, agent: "planner", key: "plan" };
const EVERYONES: MemoryKey = { scope: "workspace", ref: null, agent: null, key: "plan" };
const save = (memory: MemoryKey, value = "text"): Change => ({
  kind: "save",
  ...memory,
  value,
  pinned: false,
  expiresInHours: null,
});
const remove = (memory: MemoryKey): Change => ({ kind: "delete", noteId: memoryId(memory) });

/** Ask for changes, each as soon as the one before has its place in the queue: one group plans them. @returns each one's end */
async function together(...wishes: (readonly [Principal, Change])[]): Promise<string[]> {
  const ends: Promise<string>[] = [];
  for (const [principal, change] of wishes) {
    const context = { ...contextOf(opened.notebook, principal), requestHash: null };
    const permit = permitChange(change, principal.kind === "person" ? "planner" : undefined, context);
    await new Promise<void>((entered) => {
      const request = { change, permit, reason: null, idempotency: null };
      const ended = opened.notebook.write(request, context.caller, entered).then(
        () => "done",
        (error) => String(error.data?.reason ?? error),
      );
      ends.push(ended);
      // Refused before it has a place.
      void ended.then(() => entered());
    });
  }
  return Promise.all(ends);
}

test("an agent that knows the id of another's memory takes it away at no moment, also not the first", async () => {
  expect(await together([planner, save(OWN)], [coder, remove(OWN)])).toEqual(["done", "other_memory"]);
  expect(await together([coder, remove(OWN)])).toEqual(["other_memory"]);
  expect(opened.notebook.metadata(memoryId(OWN))).not.toBe(null);
});

test("what is everyone's is its maker's to delete within the group that makes it", async () => {
  expect(
    await together(
      [planner, save(EVERYONES)],
      [coder, save(EVERYONES, "by coder")],
      [coder, remove(EVERYONES)],
    ),
  ).toEqual(["done", "done", "not_maker"]);
  expect(await together([planner, remove(EVERYONES)])).toEqual(["done"]);
});

test("whoever makes anew what was deleted is its maker from then on", async () => {
  expect(
    await together(
      [planner, save(EVERYONES)],
      [planner, remove(EVERYONES)],
      [coder, save(EVERYONES)],
      [planner, remove(EVERYONES)],
    ),
  ).toEqual(["done", "done", "done", "not_maker"]);
  expect(await together([planner, remove(EVERYONES)])).toEqual(["not_maker"]);
  expect(await together([coder, remove(EVERYONES)])).toEqual(["done"]);
});

test("a person takes away what an agent makes in the same group", async () => {
  expect(await together([planner, save(OWN)], [ada, remove(OWN)])).toEqual(["done", "done"]);
});
