/** Nobody waits in the queue for the search of a large text: it is done before, and only looked up there. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Change } from "../../../src/domain/change.ts";
import { agent, openTestNotebook, type TestNotebook } from "../../support/open-notebook.ts";
import { secretSpecimens } from "../../support/secret-specimens.ts";

const searched = vi.hoisted(() => ({ lengths: [] as number[] }));
vi.mock(import("../../../src/domain/secrets/secrets.ts"), async (original) => {
  const real = await original();
  return {
    ...real,
    findSecrets(text, key, before) {
      searched.lengths.push(text.length);
      return real.findSecrets(text, key, before);
    },
  };
});

let opened: TestNotebook;
beforeEach(async () => {
  opened = await openTestNotebook();
});
afterEach(() => opened.dispose());

const LARGE = 2_000;
const large = () => `${secretSpecimens()[0]?.text}\n${"word ".repeat(LARGE)}`;
const create = (content: string): Change => ({
  kind: "create",
  ...{ title: "A", content, noteType: "general", tags: [], extra: {} },
  ...{ pinned: false, expiresInHours: null, folder: null },
});

/** How often a large text was searched before the write had its place, and after; and how it ended. */
async function searches(change: Change) {
  searched.lengths.length = 0;
  const count = () => searched.lengths.filter((length) => length > LARGE).length;
  let before = -1;
  const request = { change, reason: null, idempotency: null };
  const end = await opened.notebook
    .write(request, agent("planner"), () => {
      before = count();
    })
    .then(
      ({ noteId }) => noteId,
      (error) => String(error.code),
    );
  return { before, after: count() - before, end };
}

test("a write with something to search is searched before it enters the queue, and not again in it", async () => {
  expect(await searches(create(large()))).toEqual({ before: 1, after: 0, end: "SECRET_REFUSED" });
  const { before, after, end } = await searches(create("word ".repeat(LARGE)));
  expect([before, after]).toEqual([0, 0]);
  // What the daemon answered is a note's id.
  const noteId = end as Extract<Change, { kind: "append" }>["noteId"];
  const refused = { before: 1, after: 0, end: "SECRET_REFUSED" };
  expect(await searches({ kind: "append", noteId, content: large() })).toEqual(refused);
  expect(await searches({ kind: "update", noteId, content: large(), onConflict: "fail" })).toEqual(refused);
});

test("what a note became while the write waited is searched in the queue", async () => {
  const token = secretSpecimens()[0]?.text ?? "";
  const { end } = await searches(create("key: "));
  const noteId = end as Extract<Change, { kind: "append" }>["noteId"];
  const write = (oldStr: string, newStr: string, entered?: () => void) =>
    opened.notebook.write(
      { change: { kind: "edit", noteId, oldStr, newStr }, reason: null, idempotency: null },
      agent("planner"),
      entered,
    );
  // As a connection does: the second starts when the first has its place.
  const [first, second] = await new Promise<PromiseSettledResult<unknown>[]>((resolve) => {
    const one = write("key:", `key: ${token.slice(0, 12)}@`, () =>
      resolve(Promise.allSettled([one, write("@", token.slice(12))])),
    );
  });
  expect(first?.status).toBe("fulfilled");
  expect(second).toMatchObject({ status: "rejected", reason: { code: "SECRET_REFUSED" } });
});
