import "../../support/faults/fs-tap.ts";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { CommitId } from "../../../src/domain/note.ts";
import { type Intent, openIntents } from "../../../src/store/commit/intents.ts";
import { diskError, tapFileSystem } from "../../support/faults/fs-tap.ts";
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

test("an intent of another run of the machine is told from one of this run, and from one that doesn't say", async () => {
  const folder = temporaryFolder();
  const intents = openIntents(folder);
  const file = join(folder, "intents", `${await intents.open(INTENT)}.json`);
  expect(intents.list()).toMatchObject([{ rebooted: false }]);
  const { boot, ...written } = JSON.parse(readFileSync(file, "utf8"));
  writeFileSync(file, JSON.stringify({ ...written, boot: `not ${boot}` }));
  expect(intents.list()).toMatchObject([{ rebooted: true }]);
  writeFileSync(file, JSON.stringify(written));
  expect(intents.list()).toMatchObject([{ rebooted: false }]);
});

test("why an intent could not be written is told, also when it can't be removed again", async () => {
  const folder = temporaryFolder();
  const intents = openIntents(folder);
  untap = tapFileSystem(folder, {
    before(call) {
      if (call.op === "fsync") return { error: diskError("ENOSPC", call), done: "nothing" };
      return call.op === "unlink" ? { error: diskError("EROFS", call), done: "nothing" } : null;
    },
  });
  await expect(intents.open(INTENT)).rejects.toThrow("ENOSPC");
  untap();
  expect(readdirSync(join(folder, "intents"))).toHaveLength(1);
});
