/** Files derived from the index: when they are written, how often, and what a disk that refuses costs. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { writeDurably } from "../../src/lib/durable-file.ts";
import { createHousekeeping, type Housekeeping } from "../../src/notebook/housekeeping.ts";
import { type FakeClock, fakeClock } from "../support/fake-clock.ts";
import { until } from "../support/wait.ts";

let folder: string;
let clock: FakeClock;
let housekeeping: Housekeeping;
let rendered: number;
let text: string;
const warned: string[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "notesd-housekeeping-"));
  clock = fakeClock();
  rendered = 0;
  text = "one";
  warned.length = 0;
  housekeeping = open(join(folder, "derived"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function open(path: string): Housekeeping {
  const write = async () => {
    rendered++;
    await writeDurably(path, text);
  };
  return createHousekeeping([{ path, write }], clock, (message) => warned.push(message));
}

const written = () => readFileSync(join(folder, "derived"), "utf8");
const isWritten = (wanted: string) =>
  until(`${wanted} to be written`, () => exists() && written() === wanted);
function exists(): boolean {
  try {
    written();
    return true;
  } catch {
    return false;
  }
}

test("a change is written once nothing else has changed for five seconds", async () => {
  housekeeping.touched();
  clock.advance(4_999);
  housekeeping.touched();
  clock.advance(4_999);
  expect(rendered).toBe(0);
  clock.advance(1);
  await isWritten("one");
  expect(rendered).toBe(1);
});

test("however often the index changes, the files are written once a minute at most", async () => {
  housekeeping.touched();
  clock.advance(5_000);
  await isWritten("one");
  text = "two";
  for (let second = 0; second < 54; second += 6) {
    housekeeping.touched();
    clock.advance(6_000);
  }
  await housekeepingRests();
  expect(written()).toBe("one");
  clock.advance(6_000);
  await isWritten("two");
});

test("a stop writes what is new, and nothing when nothing is", async () => {
  await housekeeping.flush();
  expect(exists()).toBe(false);
  housekeeping.touched();
  await housekeeping.flush();
  expect(written()).toBe("one");
  await housekeeping.flush();
  expect(rendered).toBe(1);
});

test("a disk that refuses is told to people and stops nothing", async () => {
  housekeeping = open(join(folder, "no such folder", "derived"));
  housekeeping.touched();
  await housekeeping.flush();
  expect(warned).toEqual(["a derived file could not be written"]);
});

const housekeepingRests = () => new Promise((resolve) => setImmediate(resolve));
