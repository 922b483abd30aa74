import "../../support/faults/fs-tap.ts";
import { readdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { CommitId } from "../../../src/domain/note.ts";
import { logLine, readLog } from "../../../src/store/commit/intent-log.ts";
import { type Intent, openIntents } from "../../../src/store/commit/intents.ts";
import { diskError, type Fault, tapFileSystem } from "../../support/faults/fs-tap.ts";
import { temporaryFolder } from "../../support/git-repo.ts";

const INTENT: Intent = {
  format: 1,
  ref: "refs/heads/main",
  from: null,
  // 40 hex digits.
  to: "1".repeat(40) as CommitId,
  files: [],
};

let untap = () => {};
afterEach(() => untap());

function setup() {
  const folder = temporaryFolder();
  const home = join(folder, "intents");
  const intents = openIntents(folder);
  const files = () => readdirSync(home);
  const log = () => join(home, files()[0] ?? "");
  /** As another process, or one after a kill, sees them. */
  const seen = () => openIntents(folder).list();
  return { folder, home, intents, files, log, seen };
}

/** The calls on one operation fail, after so much was done. */
const refuse = (folder: string, ops: string[], done: Fault["done"] = "nothing") =>
  tapFileSystem(folder, {
    before: (call) => (ops.includes(call.op) ? { error: diskError("ENOSPC", call), done } : null),
  });

test("intents of one process share a log, which goes with the last of them", async () => {
  const { intents, files, seen } = setup();
  const names = [await intents.open(INTENT), await intents.open(INTENT), await intents.open(INTENT)];
  const [first = "", second = "", third = ""] = names;
  expect(files()).toEqual([`${first}.log`]);
  intents.placed([first, second]);
  intents.close([first]);
  expect(seen().map(({ name, placed }) => [name, placed])).toEqual([
    [second, true],
    [third, false],
  ]);
  intents.close([second, third]);
  expect(files()).toEqual([]);
});

test("a full log gets no new intents, and names go on across logs and processes", async () => {
  const { folder, intents, files, seen } = setup();
  const file = { path: "x".repeat(300_000), before: null, after: null, replaced: null, prepared: null };
  // Long enough for a log of its own; a path is only text here.
  const long = { ...INTENT, files: [{ ...file, aside: "a" }] } as unknown as Intent;
  const names = [await intents.open(long), await intents.open(INTENT)];
  expect(files()).toEqual(names.map((name) => `${name}.log`));
  const later = await openIntents(folder).open(INTENT);
  expect(seen().map(({ name }) => name)).toEqual([...names, later]);
  expect([...names, later]).toEqual([...names, later].sort());
});

test("an intent of another run of the machine is told from one of this run, and from one that doesn't say", async () => {
  const { intents, log } = setup();
  const name = await intents.open(INTENT);
  const rewrite = (intent: Intent) => writeFileSync(log(), logLine({ open: name, intent }, 1));
  expect(intents.list()).toMatchObject([{ rebooted: false }]);
  rewrite({ ...INTENT, boot: "not this one" });
  expect(intents.list()).toMatchObject([{ rebooted: true }]);
  rewrite(INTENT);
  expect(intents.list()).toMatchObject([{ rebooted: false }]);
});

test("a log that a crash tore holds what stands before the tear, and what is closed later stays closed", async () => {
  const { folder, intents, log, seen } = setup();
  const [first, second] = [await intents.open(INTENT), await intents.open(INTENT)];
  const whole = readLog(readFileSync(log())).end;
  await intents.open(INTENT);
  for (const bytes of [whole + 1, whole + 60]) {
    truncateSync(log(), bytes);
    expect(seen().map(({ name }) => name)).toEqual([first, second]);
  }
  openIntents(folder).close([first]);
  expect(seen().map(({ name }) => name)).toEqual([second]);
});

test("zeros in place of a line are no line, and a log without an open intent is removed by who tidies", () => {
  const { folder, home, files, seen } = setup();
  writeFileSync(join(home, "000000000007.log"), Buffer.alloc(4096));
  expect(seen()).toEqual([]);
  openIntents(folder).tidy();
  expect(files()).toEqual([]);
});

test("why an intent could not be written is told, also when it can't be removed again", async () => {
  const { folder, intents, files } = setup();
  untap = refuse(folder, ["fsync", "unlink"]);
  await expect(intents.open(INTENT)).rejects.toThrow("ENOSPC");
  untap();
  expect(files()).toHaveLength(1);
});

test("after half a line the next intent is whole, in the same log", async () => {
  const { folder, intents, files, seen } = setup();
  const first = await intents.open(INTENT);
  untap = refuse(folder, ["write"], "half");
  await expect(intents.open(INTENT)).rejects.toThrow("ENOSPC");
  untap();
  expect(seen().map(({ name }) => name)).toEqual([first]);
  const third = await intents.open(INTENT);
  expect(seen().map(({ name }) => name)).toEqual([first, third]);
  expect(files()).toHaveLength(1);
});

test("a name that was never made durable is made so with the next intent", async () => {
  const { folder, intents } = setup();
  untap = refuse(folder, ["fsync", "unlink"]);
  await expect(intents.open(INTENT)).rejects.toThrow("ENOSPC");
  untap();
  const synced: string[] = [];
  untap = tapFileSystem(folder, {
    before(call) {
      if (call.op === "fsync") synced.push(call.path);
      return null;
    },
  });
  await intents.open(INTENT);
  await intents.open(INTENT);
  expect(synced).toEqual([join(folder, "intents")]);
});

test("a log that somebody took away is begun anew", async () => {
  const { intents, log, seen } = setup();
  await intents.open(INTENT);
  rmSync(log());
  const name = await intents.open(INTENT);
  expect(seen()).toMatchObject([{ name }]);
});

test("what an earlier version left in files of their own is listed, marked and closed", async () => {
  const { folder, home, files } = setup();
  writeFileSync(join(home, "000000000003.json"), JSON.stringify(INTENT));
  writeFileSync(join(home, "000000000004.json"), "{");
  writeFileSync(join(home, "000000000002.json"), JSON.stringify(INTENT));
  renameSync(join(home, "000000000002.json"), join(home, "000000000002.placed"));
  const intents = openIntents(folder);
  expect(intents.list().map(({ name, placed }) => [name, placed])).toEqual([
    ["000000000002", true],
    ["000000000003", false],
  ]);
  expect(await intents.open(INTENT)).toBe("000000000005");
  intents.placed(["000000000003"]);
  expect(intents.list().map(({ placed }) => placed)).toEqual([true, true, false]);
  intents.close(["000000000002", "000000000003", "000000000005"]);
  expect(files()).toEqual(["000000000004.json"]);
});
