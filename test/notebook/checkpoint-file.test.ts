/** The checkpoint on disk: added to while that pays, written anew when it is not as it was left. */
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createNoteIndex, restoreNoteIndex } from "../../src/index/create.ts";
import type { NoteIndex } from "../../src/index/note-index.ts";
import { createCheckpointFile } from "../../src/notebook/checkpoint-file.ts";
import { HistoryBuilder } from "../support/history-builder.ts";
import { stateOfIndex } from "../support/index-state.ts";

let folder: string;
let file: string;
let builder: HistoryBuilder;
let index: NoteIndex;
let write: () => Promise<void>;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "notesd-checkpoint-"));
  file = join(folder, "checkpoint");
  builder = new HistoryBuilder();
  index = createNoteIndex();
  write = createCheckpointFile(file, index);
  await change("a", "first");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function change(name: string, text: string, of = index): Promise<void> {
  const to = builder.change(of.head, { [`notes/${name}.md`]: text });
  await of.apply(builder.history(of.head, to), builder.read, to);
}

function restored(): NoteIndex {
  const read = restoreNoteIndex(readFileSync(file));
  if (read === null) throw new Error("refused");
  return read;
}

test("each write leaves a file that brings the index back, and adds only what is new", async () => {
  await write();
  const { ino, size } = statSync(file);
  for (const name of ["b", "a", "c"]) {
    await change(name, `text of ${name}`);
    await write();
    expect(stateOfIndex(restored())).toEqual(stateOfIndex(index));
  }
  expect(statSync(file).ino).toBe(ino);
  expect(statSync(file).size).toBeGreaterThan(size);
});

test("an index that came from a file goes on in it", async () => {
  await write();
  const { ino } = statSync(file);
  const again = restored();
  await change("b", "new", again);
  await createCheckpointFile(file, again)();
  expect(statSync(file).ino).toBe(ino);
  expect(stateOfIndex(restored())).toEqual(stateOfIndex(again));
});

test("a file that somebody changed, cut or removed is written anew", async () => {
  await write();
  const damages = [
    () => appendFileSync(file, "x"),
    () => rmSync(file),
    () => appendFileSync(file, Buffer.alloc(100)),
  ];
  for (const [i, damage] of damages.entries()) {
    damage();
    await change("b", `${i}`);
    await write();
    expect(stateOfIndex(restored())).toEqual(stateOfIndex(index));
  }
});

test("a torn end that a crash left is not built upon", async () => {
  await write();
  appendFileSync(file, readFileSync(file).subarray(0, 500));
  const again = restored();
  await change("b", "new", again);
  await createCheckpointFile(file, again)();
  expect(stateOfIndex(restored())).toEqual(stateOfIndex(again));
});

test("when much was added the file is written anew, so it doesn't grow without end", async () => {
  await write();
  const { ino } = statSync(file);
  for (let n = 0; n < 4; n++) {
    await change("big", `${n}`.repeat(600_000));
    await write();
  }
  expect(statSync(file).ino).not.toBe(ino);
  expect(statSync(file).size).toBeLessThan(3_000_000);
  expect(stateOfIndex(restored())).toEqual(stateOfIndex(index));
});

test("after a disk that refused, everything is written", async () => {
  await write();
  rmSync(file);
  mkdirSync(join(file, "in the way"), { recursive: true });
  await change("b", "new");
  await expect(write()).rejects.toThrow();
  rmSync(file, { recursive: true });
  await write();
  expect(stateOfIndex(restored())).toEqual(stateOfIndex(index));
});
