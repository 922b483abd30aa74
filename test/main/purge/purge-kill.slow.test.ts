import { spawnSync } from "node:child_process";
import { cpSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { gitPlaceAt } from "../../../src/lib/git-dir.ts";
import { purge } from "../../../src/main/purge/purge.ts";
import { recover } from "../../../src/main/recover.ts";
import { childScript } from "../../support/child-script.ts";
import { type PurgeRepo, purgeRepo, SECRET, whereIs } from "../../support/purge-repo.ts";

let script: string;
beforeAll(async () => {
  script = await childScript("purge-child");
});

/** Several refs, loose and packed, packs and loose objects, files that change. */
async function story(): Promise<PurgeRepo> {
  const repo = await purgeRepo();
  const { git, save } = repo;
  await save("notes/other.md", "other text\n");
  git("add", ".");
  git("commit", "-qm", "other");
  for (const n of [1, 2, 3]) {
    await save("notes/a.md", `${n} ${SECRET}\n`);
    await save(`notes/${n}.md`, `text ${n}\n`);
    git("add", ".");
    git("commit", "-qm", `${n} ${SECRET}`);
    git("branch", `b${n}`);
    if (n === 1) git("gc", "-q");
    if (n === 2) git("repack", "-q");
  }
  git("update-ref", "refs/remotes/origin/main", "HEAD");
  return repo;
}

const STEPS = [
  ...["planned", "locked", "ref 1", "ref 2", "ref 4", "packed", "files", "index", "moved", "remembered"],
  ...["based", "forgotten", "repacked 1", "unpacked 1", "repacked 2", "unpacked 2", "dropped"],
];

test("killed at any moment: another purge, or a recovery, completes it, and every other text is there", async () => {
  const made = await story();
  const template = made.place.root;
  const texts = () => [1, 2, 3].map((n) => `text ${n}`);
  let at = 0;
  for (const step of STEPS) {
    const root = join(dirname(template), `at-${at}`);
    cpSync(template, root, { recursive: true, preserveTimestamps: true });
    made.gitBytes(["-C", root, "update-index", "-q", "--refresh"]);
    const [name = "", nth = "1"] = step.split(" ");
    const killed = spawnSync(process.execPath, [script, root, SECRET, name, nth], {
      encoding: "utf8",
      env: made.env,
    });
    expect([step, killed.signal, killed.stderr]).toEqual([step, "SIGKILL", ""]);
    const git = (...args: string[]) =>
      made
        .gitBytes(["-C", root, ...args])
        .toString("utf8")
        .trim();
    // Whatever stands, it is whole.
    expect(git("fsck", "--connectivity-only", "--no-reflogs")).not.toMatch(/missing|broken/);
    for (const n of [1, 2, 3])
      expect([step, git("show", `b3:notes/${n}.md`)]).toEqual([step, texts()[n - 1]]);
    const around = { env: made.env, cwd: made.top, warn: () => {} };
    const flags = { repo: root };
    if (at++ % 2 === 0) expect((await recover(flags, around)).join()).toMatch(/purge/);
    const wish = { values: [SECRET], fingerprints: [], note: null, apply: true };
    expect([step, await purge(flags, around, wish)]).toMatchObject([step, { complete: true }]);
    expect([step, whereIs(root, SECRET)]).toEqual([step, []]);
    expect([step, git("fsck", "--full", "--strict")]).toEqual([step, ""]);
    expect([step, git("status", "--porcelain")]).toEqual([step, ""]);
    expect(git("show", "HEAD:notes/other.md")).toBe("other text");
    expect(git("show", "HEAD:notes/a.md")).toBe("3 (purged)");
    for (const n of [1, 2, 3]) expect(git("show", `b${n}:notes/${n}.md`)).toBe(texts()[n - 1]);
    expect(await gitPlaceAt(root)).not.toBe(null);
  }
});

test("with no Git on the path it is as complete", async () => {
  const { place, env, git, gitBytes } = await story();
  const ended = spawnSync(process.execPath, [script, place.root, SECRET], {
    encoding: "utf8",
    env: { ...env, PATH: "/nonexistent" },
  });
  expect([ended.stdout, ended.stderr]).toEqual(["done\n", ""]);
  expect(whereIs(place.root, SECRET)).toEqual([]);
  expect(git("fsck", "--full", "--strict")).toBe("");
  expect(gitBytes(["show", "HEAD:notes/a.md"]).toString()).toBe("3 (purged)\n");
});
