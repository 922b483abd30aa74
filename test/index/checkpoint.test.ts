import { expect, test } from "vitest";
import { readCheckpoint } from "../../src/index/checkpoint.ts";
import { MemoryIndex } from "../../src/index/memory-index.ts";
import { indexOf, noteText } from "../support/notes-at.ts";

const sample = async () =>
  (await indexOf({ "a.md": noteText({ id: "a" }, "é 数据\n"), "b.md": "! bad" })).index;

test("a checkpoint that is truncated, damaged, foreign or of another format or reading is refused", async () => {
  const bytes = (await sample()).snapshot();
  expect(readCheckpoint(bytes, "plain")).not.toBeNull();
  for (let end = 0; end < bytes.length; end += 7)
    expect(readCheckpoint(bytes.subarray(0, end), "plain")).toBeNull();
  for (let at = 0; at < bytes.length; at += 5) {
    const damaged = Uint8Array.from(bytes);
    damaged[at] = (damaged[at] ?? 0) ^ 1;
    expect(readCheckpoint(damaged, "plain")).toBeNull();
  }
  expect(readCheckpoint(bytes, "other types")).toBeNull();
  expect(readCheckpoint(Buffer.concat([bytes, Buffer.from("x")]), "plain")).toBeNull();
  expect(readCheckpoint(Buffer.from("{}"), "plain")).toBeNull();
});

test("an index that is empty survives too", async () => {
  const options = {
    parse: () => {
      throw new Error("nothing to parse");
    },
    isNotePath: () => true,
    fingerprint: "f",
  };
  const parts = readCheckpoint(new MemoryIndex(options).snapshot(), "f");
  expect(parts && new MemoryIndex(options, parts).head).toBeNull();
});
