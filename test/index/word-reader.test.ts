import { expect, test } from "vitest";
import { emptyParts } from "../../src/index/parts.ts";
import { WordReader } from "../../src/index/word-reader.ts";

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
