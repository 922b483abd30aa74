import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import type { CommitId } from "../../src/domain/note.ts";
import { MemoryIndex } from "../../src/index/memory-index.ts";
import { inMemory, readCheckpoint } from "../../src/index/read-checkpoint.ts";
import { HistoryBuilder, provedAs } from "../support/history-builder.ts";
import { bytesOf } from "../support/index-bytes.ts";
import { plainParse } from "../support/plain-parse.ts";

const REMEMBERED = 20;
const OPTIONS = { parse: plainParse, isNotePath: () => true, fingerprint: "plain", requests: REMEMBERED };
const keyOf = (number: number) => createHash("sha256").update(`request ${number}`).digest("hex");

/** A note that each request changes, one after the other. */
function requests() {
  const builder = new HistoryBuilder();
  const made: CommitId[] = [];
  return {
    builder,
    made,
    /** @param key  the number of the request; the next one when it isn't told */
    add(index: MemoryIndex, key = made.length): Promise<unknown> {
      const parent = made.at(-1) ?? null;
      const proved = provedAs({ requestKey: keyOf(key), requestHash: "a".repeat(64) });
      const id = builder.change(parent, { "notes/a.md": `text ${made.length}` }, { proved });
      made.push(id);
      return index.apply(builder.history(parent, id), builder.read, id);
    },
  };
}

const remembered = (index: MemoryIndex, most: number) =>
  Array.from({ length: most }, (_, n) => n).filter((n) => index.request(keyOf(n)) !== null);
const lastOf = (count: number) => Array.from({ length: REMEMBERED }, (_, i) => count - REMEMBERED + i);

test("the last requests are remembered, however many there were, and what they take stops growing", async () => {
  const index = new MemoryIndex(OPTIONS);
  const { add, made } = requests();
  let most = 0;
  while (made.length < 200) {
    await add(index);
    const key = Buffer.from(keyOf(made.length - 1), "hex");
    const bytes = bytesOf(index);
    const held = made.filter((_, n) => bytes.includes(Buffer.from(keyOf(n), "hex")));
    expect(bytes.includes(key)).toBe(true);
    most = Math.max(most, held.length);
  }
  expect(remembered(index, 200)).toEqual(lastOf(200));
  expect(most).toBeLessThanOrEqual(30);
});

test("one that is sent again after it was forgotten is a new one, and the first one counts while it is remembered", async () => {
  const index = new MemoryIndex(OPTIONS);
  const { add, made } = requests();
  await add(index);
  await add(index, 0);
  expect(index.request(keyOf(0))?.commit).toBe(made[0]);
  while (made.length < 21) await add(index);
  expect(index.request(keyOf(0))?.commit).toBe(made[1]);
  while (made.length < 30) await add(index);
  expect(index.request(keyOf(0))).toBeNull();
  await add(index, 0);
  expect(index.request(keyOf(0))?.commit).toBe(made[30]);
});

test("a checkpoint remembers as many, written whole after some were let go of, and forgets on alike", async () => {
  const index = new MemoryIndex(OPTIONS);
  const { add, made, builder } = requests();
  while (made.length < 20) await add(index);
  const before = index.snapshot(null).mark;
  while (made.length < 29) await add(index);
  expect(index.snapshot(before).whole).toBe(false);
  while (made.length < 52) await add(index);
  expect(index.snapshot(before).whole).toBe(true);
  const read = readCheckpoint(inMemory(bytesOf(index)), "plain", REMEMBERED);
  if (read === null) throw new Error("refused");
  const restored = new MemoryIndex(OPTIONS, read.parts, read.origin);
  expect(remembered(restored, 60)).toEqual(lastOf(52));
  await add(index);
  await restored.apply(builder.history(made.at(-2) ?? null, made.at(-1) as CommitId), builder.read);
  expect(remembered(restored, 60)).toEqual(lastOf(53));
});

test("a branch put back by a few requests remembers those before; by so many that they are gone it must be rebuilt", async () => {
  const index = new MemoryIndex(OPTIONS);
  const { add, made, builder } = requests();
  while (made.length < 200) await add(index);
  const back = (by: number) => made[made.length - 1 - by] as CommitId;
  expect(index.canExtend([], back(100))).toBe(false);
  expect(index.canExtend([], back(2))).toBe(true);
  await index.apply([], builder.read, back(2));
  expect(remembered(index, 200)).toEqual(lastOf(198));
});
