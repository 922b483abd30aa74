import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { CommitId } from "../../../src/domain/note.ts";
import { openIntents } from "../../../src/store/commit/intents.ts";
import { rollFilesForward } from "../../../src/store/recovery/roll-forward.ts";
import { at, blobOf } from "../../support/drafts.ts";
import { temporaryFolder } from "../../support/git-repo.ts";

test("a file that can't be written is owed on alone; every other one is placed", async () => {
  const root = temporaryFolder();
  mkdirSync(join(root, "state"));
  const intents = openIntents(join(root, "state"));
  const file = (path: string, text: string) => ({
    path: at(path),
    before: null,
    after: blobOf(text),
    replaced: null,
    prepared: null,
    aside: intents.newName(),
  });
  await intents.open({
    format: 1,
    ref: "refs/heads/main",
    from: null,
    to: "1".repeat(40) as CommitId,
    files: [file("notes/bad.md", "bad"), file("notes/good.md", "good")],
  });
  const full = Object.assign(new Error("no space left"), { code: "ENOSPC" });
  const rolled = rollFilesForward(
    {
      root,
      intents,
      readBlob(id) {
        if (id === blobOf("bad")) throw full;
        return Buffer.from("good");
      },
      tipBlob: (path) => blobOf(path === at("notes/bad.md") ? "bad" : "good"),
    },
    intents.list(),
  );
  expect(rolled).toEqual([
    { kind: "refused", path: "notes/bad.md", error: full },
    { kind: "rolled", path: "notes/good.md", base: blobOf("good") },
  ]);
  expect(readFileSync(join(root, "notes/good.md"), "utf8")).toBe("good");
});
