import { crc32 } from "node:zlib";
import { expect, test } from "vitest";
import type { RepoPath } from "../../src/domain/note.ts";
import { MemoryIndex } from "../../src/index/memory-index.ts";
import { inMemory, readCheckpoint } from "../../src/index/read-checkpoint.ts";
import { bytesOf } from "../support/index-bytes.ts";
import { stateOfIndex } from "../support/index-state.ts";
import { indexOf, noteText } from "../support/notes-at.ts";
import { plainParse } from "../support/plain-parse.ts";

const OPTIONS = { parse: plainParse, isNotePath: () => true, fingerprint: "plain" };
const sample = () => indexOf({ "a.md": noteText({ id: "a" }, "é 数据\n"), "b.md": "! bad" });

function restored(bytes: Uint8Array): MemoryIndex {
  const read = readCheckpoint(inMemory(bytes), "plain");
  if (read === null) throw new Error("refused");
  return new MemoryIndex(OPTIONS, read.parts, read.origin);
}

test("a checkpoint that is truncated, damaged, foreign or of another format or reading is refused", async () => {
  const bytes = bytesOf((await sample()).index);
  expect(readCheckpoint(inMemory(bytes), "plain")).not.toBeNull();
  for (let end = 0; end < bytes.length; end += 7)
    expect(readCheckpoint(inMemory(bytes.subarray(0, end)), "plain")).toBeNull();
  for (let at = 0; at < bytes.length; at += 5) {
    const damaged = Uint8Array.from(bytes);
    damaged[at] = (damaged[at] ?? 0) ^ 1;
    expect(readCheckpoint(inMemory(damaged), "plain")).toBeNull();
  }
  expect(readCheckpoint(inMemory(bytes), "other types")).toBeNull();
  expect(readCheckpoint(inMemory(Buffer.from("{}")), "plain")).toBeNull();
  expect(readCheckpoint(inMemory(Buffer.from("notesd-index 2 0 none 2 0 0\n{}")), "plain")).toBeNull();
});

test("what came after is added, and an end that was not written whole counts for nothing", async () => {
  const { index, put } = await sample();
  const whole = index.snapshot(null);
  const states = [stateOfIndex(index)];
  const files = [Buffer.concat([...whole.pieces()])];
  let mark = whole.mark;
  const changes = [{ "a.md": noteText({ id: "a", title: "new" }, "x") }, { "c.md": "c" }, { "a.md": null }];
  for (const [minute, change] of changes.entries()) {
    await put(change, minute + 9);
    const added = index.snapshot(mark);
    expect(added.whole).toBe(false);
    mark = added.mark;
    files.push(Buffer.concat([files.at(-1) ?? Buffer.alloc(0), ...added.pieces()]));
    states.push(stateOfIndex(index));
  }
  for (const [i, file] of files.entries()) {
    expect(stateOfIndex(restored(file))).toEqual(states[i]);
    const torn = Buffer.concat([file, (files[i + 1] ?? Buffer.from("x")).subarray(file.length, -1)]);
    expect(stateOfIndex(restored(torn))).toEqual(states[i]);
    expect(restored(torn).origin?.bytes).toBe(file.length);
  }
});

test("what was added to a restored index follows on the file that it came from", async () => {
  const { index, builder } = await sample();
  const file = bytesOf(index);
  const again = restored(file);
  const next = builder.change(again.head, { "a.md": noteText({ id: "z" }, "y") });
  await again.apply(builder.history(again.head, next), builder.read);
  const added = again.snapshot(again.origin?.mark ?? null);
  expect(added.whole).toBe(false);
  expect(stateOfIndex(restored(Buffer.concat([file, ...added.pieces()])))).toEqual(stateOfIndex(again));
});

test("after a rebuild a mark is of another state, and everything is taken", async () => {
  const { index, builder } = await sample();
  const { mark } = index.snapshot(null);
  const { head } = index;
  if (head === null) throw new Error("no head");
  await index.rebuild(builder.history(null, head), builder.read);
  const whole = index.snapshot(mark);
  expect(whole.whole).toBe(true);
  expect(stateOfIndex(restored(Buffer.concat([...whole.pieces()])))).toEqual(stateOfIndex(index));
});

test("where very many files changed since a mark, everything is taken", async () => {
  const { index, builder } = await sample();
  const { mark } = index.snapshot(null);
  const next = builder.change(index.head, { "n.md": "x" });
  const [made] = builder.history(index.head, next);
  const [event] = made?.events ?? [];
  if (!made || !event) throw new Error("no event");
  const paths = Array.from({ length: 4_200 }, (_, n) => `n${String(n).padStart(5, "0")}.md` as RepoPath);
  await index.apply([{ ...made, events: paths.map((path) => ({ ...event, path })) }], builder.read);
  const { whole, pieces } = index.snapshot(mark);
  expect(whole).toBe(true);
  expect(restored(Buffer.concat([...pieces()])).digest()).toBe(index.digest());
});

test("a snapshot stays what it was while the index moves on", async () => {
  const { index, put } = await sample();
  const state = stateOfIndex(index);
  const snapshot = index.snapshot(null);
  for (let n = 0; n < 40; n++) await put({ [`n${n}.md`]: "x".repeat(2_000), "a.md": `${n}` }, n + 9);
  expect(stateOfIndex(restored(Buffer.concat([...snapshot.pieces()])))).toEqual(state);
});

test("an index that is empty survives too", () => {
  const index = restored(bytesOf(new MemoryIndex(OPTIONS)));
  expect(index.head).toBeNull();
  expect(index.files()).toEqual([]);
});

/** With a checksum that holds, whatever else was done to it. */
function sealed(bytes: Buffer): Buffer {
  const content = bytes.subarray(0, -8);
  return Buffer.concat([content, Buffer.from(crc32(content).toString(16).padStart(8, "0"))]);
}

async function large(): Promise<Buffer> {
  const { index, put } = await sample();
  for (let n = 0; n < 12; n++)
    await put({ [`n${n}.md`]: noteText({ id: `n${n}`, tags: "x,y" }, "z") }, n + 9);
  await put({ "n3.md": null, "b.md": "new" }, 30);
  return bytesOf(index);
}

test("a flipped byte in the first segment counts out all that follows it", async () => {
  const { index, put } = await sample();
  const { pieces, mark } = index.snapshot(null);
  const first = Buffer.concat([...pieces()]);
  await put({ "c.md": "c" }, 9);
  const file = Buffer.concat([first, ...index.snapshot(mark).pieces()]);
  const at = first.length - 40;
  file[at] = (file[at] ?? 0) ^ 1;
  expect(readCheckpoint(inMemory(file), "plain")).toBeNull();
});

test("under a checksum that holds, odd content is refused or is an index: nothing is thrown, nothing hangs", async () => {
  const bytes = await large();
  let refused = 0;
  for (let at = 0; at < bytes.length - 8; at++) {
    for (const mask of [1, 128]) {
      const odd = Buffer.from(bytes);
      odd[at] = (odd[at] ?? 0) ^ mask;
      const read = readCheckpoint(inMemory(sealed(odd)), "plain");
      if (read === null) refused++;
      else expect(new MemoryIndex(OPTIONS, read.parts, read.origin).head).not.toBeNull();
    }
  }
  expect(refused).toBeGreaterThan(bytes.length / 2);
});

test.each([
  ["an unknown head", /"head":"[0-9a-f]{40}"/, `"head":"${"0".repeat(40)}"`],
  ["no head over a state", /"head":"[0-9a-f]{40}"/, '"head":null'],
  ["no agents", /"agents":\[[^\]]*\]/, '"agents":null'],
  ["bytes that aren't there", /"paths":\[\d+/, '"paths":[9999999'],
  ["rows before the first", /"rows":\[\[0,/, '"rows":[[-1,'],
  ["a page out of reach", /"pages":\[\[0,/, '"pages":[[99999999,'],
])("%s under a checksum that holds is refused", async (_, what, instead) => {
  const bytes = await large();
  const end = bytes.indexOf("\n");
  const line = bytes.toString("utf8", 0, end);
  expect(line).toMatch(what);
  const odd = Buffer.concat([Buffer.from(line.replace(what, instead)), bytes.subarray(end)]);
  expect(readCheckpoint(inMemory(sealed(odd)), "plain")).toBeNull();
});
