import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readlinkSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Step } from "../../src/store/commit/publication.ts";
import { bundle } from "../support/bundle.ts";
import { at, blobOf, committed, draft } from "../support/drafts.ts";
import { repoAt, temporaryFolder } from "../support/git-repo.ts";
import { type StoreOnGit, storeOnGit } from "../support/store-on-git.ts";

let folder = "";
let program = "";
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "notesd-bundle-"));
  program = await bundle(join(import.meta.dirname, "../support/store-child.ts"), folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A branch with notes and other files, a commit of somebody else's on it, and a process killed while moving there. */
async function killedAt(
  step: Step,
  nth: number,
  edited?: string,
): Promise<StoreOnGit & { from: string; to: string }> {
  const on = await storeOnGit();
  await on.store.commit([draft("notes/a.md", "a1\n"), draft("notes/gone.md", "g\n")]);
  await on.store.close();
  const { repo } = on;
  writeFileSync(join(repo.root, "run.sh"), "#!/bin/sh\n");
  symlinkSync("notes", join(repo.root, "old-link"));
  repo.git("add", "run.sh", "old-link");
  const named = ["-c", "user.name=P", "-c", "user.email=p@x"];
  repo.git(...named, "commit", "-q", "-m", "by hand");
  const elsewhere = temporaryFolder();
  repo.git("clone", "-q", repo.root, elsewhere);
  const clone = repoAt(elsewhere);
  const write = (path: string, text: string) => writeFileSync(join(elsewhere, path), text);
  write("notes/a.md", "a2\n");
  write("notes/new.md", "new\n");
  write("other.txt", "other\n");
  rmSync(join(elsewhere, "notes/gone.md"));
  rmSync(join(elsewhere, "old-link"));
  symlinkSync("notes/a.md", join(elsewhere, "new-link"));
  chmodSync(join(elsewhere, "run.sh"), 0o755);
  clone.git("add", "-A");
  clone.git(...named, "commit", "-q", "-m", "theirs");
  repo.git("fetch", "-q", elsewhere, "HEAD");
  const [from, to] = [repo.git("rev-parse", "HEAD"), repo.git("rev-parse", "FETCH_HEAD")];
  if (edited !== undefined) writeFileSync(join(repo.root, edited), "mine\n");
  const leave = edited === undefined ? [] : [edited];
  const child = spawnSync(
    process.execPath,
    [program, "advance", repo.root, step, String(nth), to, ...leave],
    {
      encoding: "utf8",
      timeout: 20_000,
    },
  );
  expect([child.signal, child.stderr, child.stdout]).toEqual(["SIGKILL", "", ""]);
  return { ...on, from, to };
}

describe("a process killed while the branch moves to a commit of others", () => {
  test.each<[Step, number]>([
    ["built", 1],
    ["intent", 1],
    ["locked", 1],
    ["reflog", 1],
  ])("at the step %s has done nothing", async (step, nth) => {
    const on = await killedAt(step, nth);
    const store = await on.reopen();
    expect(await store.tip()).toBe(on.from);
    expect(on.repo.git("status", "--porcelain")).toBe("");
    expect(on.text("notes/a.md")).toBe("a1\n");
    await store.close();
  });

  test.each<[Step, number]>([
    ["ref", 1],
    ["file", 1],
    ["file", 3],
    ["files", 1],
    ["index", 1],
    ["released", 1],
    ["answered", 1],
  ])(
    "at the step %s (%i) has moved, and the start brings files, modes, links and the index along",
    async (step, nth) => {
      const on = await killedAt(step, nth);
      const store = await on.reopen();
      expect(await store.tip()).toBe(on.to);
      expect(["notes/a.md", "notes/new.md", "notes/gone.md", "other.txt"].map(on.text)).toEqual([
        "a2\n",
        "new\n",
        null,
        "other\n",
      ]);
      expect(readlinkSync(join(on.repo.root, "new-link"))).toBe("notes/a.md");
      expect(on.repo.git("status", "--porcelain")).toBe("");
      expect(statSync(join(on.repo.root, "run.sh")).mode & 0o100).toBe(0o100);
      committed((await store.commit([draft("notes/a.md", "a3\n", "a2\n")])).outcomes[0]);
      await store.close();
      expect(on.repo.git("status", "--porcelain")).toBe("");
      expect(on.repo.tryGit("fsck", "--strict", "--no-dangling")).toMatchObject({ status: 0 });
    },
  );
});

describe("an edit that a move leaves where it lies, the process killed", () => {
  test.each<[Step, number]>([
    ["ref", 1],
    ["file", 2],
    ["files", 1],
    ["index", 1],
    ["released", 1],
    ["answered", 1],
  ])("at the step %s: the file stays, on top of what it was, and the index is level", async (step, nth) => {
    const on = await killedAt(step, nth, "notes/a.md");
    for (let start = 0; start < 2; start++) {
      const store = await on.reopen();
      expect(await store.tip()).toBe(on.to);
      expect(["notes/a.md", "notes/new.md", "other.txt"].map(on.text)).toEqual([
        "mine\n",
        "new\n",
        "other\n",
      ]);
      expect(store.workTree.base(at("notes/a.md"))).toBe(blobOf("a1\n"));
      expect(store.pending()).toEqual([]);
      expect(on.repo.git("diff", "--cached", "--name-only")).toBe("");
      expect(on.repo.git("status", "--porcelain")).toBe(" M notes/a.md");
      await store.close();
    }
  });
});
