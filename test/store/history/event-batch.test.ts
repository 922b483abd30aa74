import { expect, test } from "vitest";
import type { CommitEvents } from "../../../src/domain/event.ts";
import { eventUnpacker, packEvents } from "../../../src/store/history/event-batch.ts";
import { HistoryBuilder } from "../../support/history-builder.ts";

/** A history of commits with so many events each. */
async function* history(...sizes: number[]): AsyncGenerator<CommitEvents> {
  const builder = new HistoryBuilder();
  const head = builder.change(null, { "a.md": "a" });
  const [made] = builder.history(null, head);
  const [event] = made?.events ?? [];
  if (!made || !event) throw new Error("no event");
  for (const [n, size] of sizes.entries()) {
    const commit = { ...made.commit, subject: `Commit ${n}` };
    yield { commit, events: Array.from({ length: size }, () => ({ ...event, commit })) };
  }
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

test.each([
  { of: "nothing", sizes: [], texts: 1 },
  { of: "many small commits", sizes: Array.from({ length: 600 }, () => 1), texts: 3 },
  { of: "commits without events", sizes: [0, 0, 3], texts: 1 },
  { of: "mass edits", sizes: [3_000, 3_000, 3_000, 3_000], texts: 3 },
  { of: "one commit of very many files", sizes: [1, 20_000, 4_096, 2], texts: 6 },
])("a history of $of comes back as it was, in texts of a bounded size", async ({ sizes, texts }) => {
  const packed = (await all(packEvents(history(...sizes)))).map(({ text }) => text);
  expect(packed).toHaveLength(texts);
  for (const text of packed) expect(text.split('"kind"').length).toBeLessThan(2 * 4_096 + 1);
  const unpack = eventUnpacker();
  const back = packed.flatMap(unpack);
  expect(back).toEqual(await all(history(...sizes)));
  expect(back.every(({ commit, events }) => events.every((event) => event.commit === commit))).toBe(true);
});
