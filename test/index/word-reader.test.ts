import { expect, test } from "vitest";
import { emptyParts } from "../../src/index/parts.ts";
import { WordReader } from "../../src/index/word-reader.ts";
import { madeLoop } from "../support/made-loop.ts";

test("who waits for words is answered, also while more files change in each turn than are read in one", async () => {
  const parts = emptyParts();
  const reader = new WordReader(() => parts);
  let next = 1;
  let writing = true;
  const change = (files: number) => {
    for (let n = 0; n < files; n++) parts.unread.add(next++);
  };
  const write = () => {
    change(100);
    if (writing && next < 100_000) setImmediate(write);
  };
  change(1_000);
  const read = reader.read();
  write();
  await read;
  writing = false;
  expect(next).toBeLessThan(100_000);
});

test("what keeps words from being read is told to whoever waits, and the next who asks tries again", async () => {
  const parts = emptyParts();
  const reader = new WordReader(() => parts);
  const { remove } = parts.texts;
  const broken = new Error("out of memory");
  parts.texts.remove = () => {
    throw broken;
  };
  for (let path = 1; path < 100; path++) parts.unread.add(path);
  await expect(reader.read()).rejects.toBe(broken);
  expect(parts.unread.size).toBe(99);
  parts.texts.remove = remove;
  await reader.read();
  expect(parts.unread.size).toBe(0);
});

function readerOf(files: number) {
  const parts = emptyParts();
  const made = madeLoop();
  const reader = new WordReader(() => parts, made.loop);
  const change = () => {
    for (let path = 1; path <= files; path++) parts.unread.add(path);
    reader.later();
  };
  /** What each turn asked of the text index beside putting words in: whether all is to be put together. */
  const tidied: boolean[] = [];
  parts.texts.tidy = (all = false) => {
    made.pass(1);
    tidied.push(all);
    return true;
  };
  return { ...made, parts, reader, change, tidied };
}

test("beside others words that nobody waits for are read in a tenth of the time, and for a search at once", async () => {
  const { parts, reader, change, turn, waiting } = readerOf(100);
  change();
  const atStart = reader.read(false);
  turn(1);
  expect(parts.unread.size).toBe(92);
  turn(1);
  expect(waiting()).toEqual([9]);
  const search = reader.read();
  for (let n = 0; n < 50 && parts.unread.size > 0; n++) turn(1);
  expect(parts.unread.size).toBe(0);
  await Promise.all([atStart, search]);
});

test("a writer that is faster than its words are read leaves them a larger share of the time", () => {
  const { parts, reader, change, turn, waiting } = readerOf(100);
  change();
  void reader.read(false);
  turn(1);
  const rests: number[] = [];
  for (let round = 1; round <= 4; round++) {
    for (let n = 0; n < 20; n++) parts.unread.add(1_000 * round + n);
    turn(1);
    rests.push(waiting()[0] ?? 0);
    turn(rests.at(-1));
  }
  expect(rests).toEqual([...rests].sort((a, b) => b - a));
  expect(rests.at(-1)).toBe(1);
});

test("what many changes left is put together when no file has changed for a while, and not before", () => {
  const { reader, change, turn, tidied, waiting, pass } = readerOf(1_000);
  change();
  void reader.read();
  while (waiting()[0] === 0) turn();
  expect(tidied.length).toBeGreaterThan(100);
  expect(tidied).not.toContain(true);
  turn(waiting()[0]);
  turn();
  expect(tidied.at(-1)).toBe(true);
  pass(10_000);
  expect(waiting()).toEqual([]);
});
