import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Step } from "../../src/store/commit/publication.ts";
import { publishedIntents } from "../../src/store/recovery/published-intents.ts";
import { bundle } from "../support/bundle.ts";
import { at, blobOf, committed, draft } from "../support/drafts.ts";
import { intentsOnDisk } from "../support/intents-on-disk.ts";
import { type StoreOnGit, storeOnGit } from "../support/store-on-git.ts";
import { until } from "../support/wait.ts";

let folder = "";
let program = "";
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "notesd-bundle-"));
  program = await bundle(join(import.meta.dirname, "../support/store-child.ts"), folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Files a, c and d committed, d then saved by hand; a process killed at a step while it commits on top. */
async function killedAt(step: Step, nth = 1): Promise<StoreOnGit> {
  const on = await storeOnGit();
  await on.store.commit([
    draft("notes/a.md", "a1\n"),
    draft("notes/c.md", "c1\n"),
    draft("notes/d.md", "d1\n"),
  ]);
  await on.store.close();
  on.save("notes/d.md", "d by hand\n");
  const child = spawnSync(process.execPath, [program, "step", on.repo.root, step, String(nth)], {
    encoding: "utf8",
    timeout: 20_000,
  });
  expect([child.signal, child.stderr, child.stdout]).toEqual(["SIGKILL", "", ""]);
  return on;
}

function leftovers({ repo }: StoreOnGit): string[] {
  const all = readdirSync(repo.gitdir, { recursive: true, encoding: "utf8" });
  const named = all.filter((f) => /\.lock$|\.keep$|objects\/pack\/\.notesd_/.test(f));
  const kept = ["intents", "prepared", "aside", "locks"].flatMap((f) =>
    readdirSync(join(repo.gitdir, "notesd", f)),
  );
  return [...named, ...kept];
}

const BEFORE: Step[] = ["built", "packed", "intent", "locked", "checked", "reflog"];
const AFTER: [Step, number][] = [
  ["ref", 1],
  ["file", 1],
  ["file", 2],
  ["file", 3],
  ["files", 1],
  ["index", 1],
  ["released", 1],
  ["durable", 1],
  ["answered", 1],
];

describe("a process killed in the middle of a commit", () => {
  test.each(BEFORE)("at the step %s has done nothing", async (step) => {
    const on = await killedAt(step);
    const store = await on.reopen();
    expect(on.repo.git("log", "--format=%s")).toBe(Array(3).fill("create(general): A note").join("\n"));
    expect(on.repo.git("status", "--porcelain")).toBe(" M notes/d.md");
    expect(leftovers(on)).toEqual([]);
    const { outcomes } = await store.commit([draft("notes/a.md", "a2\n", "a1\n")]);
    committed(outcomes[0]);
    await store.close();
    expect(on.repo.tryGit("fsck", "--strict", "--no-dangling")).toMatchObject({ status: 0 });
    expect(on.repo.git("status", "--porcelain")).toBe(" M notes/d.md");
  });

  test.each(AFTER)(
    "at the step %s (%i) has committed, and the start carries the rest out",
    async (step, nth) => {
      const on = await killedAt(step, nth);
      const store = await on.reopen();
      expect(on.repo.git("log", "--format=%H").split("\n")).toHaveLength(7);
      expect(on.repo.git("status", "--porcelain")).toBe("");
      expect(["notes/a.md", "notes/new/b.md", "notes/c.md", "notes/d.md"].map(on.text)).toEqual([
        "a2\n",
        "b1\n",
        null,
        "d by hand\n",
      ]);
      const bases = ["notes/a.md", "notes/new/b.md", "notes/c.md", "notes/d.md"].map((p) =>
        store.workTree.base(at(p)),
      );
      expect(bases).toEqual([blobOf("a2\n"), blobOf("b1\n"), null, blobOf("d by hand\n")]);
      expect(leftovers(on)).toEqual([]);
      committed((await store.commit([draft("notes/a.md", "a3\n", "a2\n")])).outcomes[0]);
      await store.close();
      expect(on.repo.tryGit("fsck", "--strict", "--no-dangling")).toMatchObject({ status: 0 });
      expect(on.repo.git("status", "--porcelain")).toBe("");
    },
  );

  test.each(AFTER.slice(0, 5))(
    "at the step %s (%i): what a person saves before the start stays",
    async (step, nth) => {
      const on = await killedAt(step, nth);
      on.save("notes/a.md", "theirs\n");
      on.save("notes/new/b.md", "theirs too\n");
      const store = await on.reopen();
      expect([on.text("notes/a.md"), on.text("notes/new/b.md")]).toEqual(["theirs\n", "theirs too\n"]);
      expect(on.repo.git("log", "--format=%H").split("\n")).toHaveLength(7);
      expect(on.repo.git("diff", "--cached", "--name-only")).toBe("");
      expect(leftovers(on)).toEqual([]);
      await store.close();
    },
  );

  test("a person's commit is held back exactly while the branch holds what the Git index lacks", async () => {
    const before = await killedAt("intent");
    expect(await publishedIntents(before.repo.gitdir)).toBe(0);
    const on = await killedAt("ref");
    expect(await publishedIntents(on.repo.gitdir)).toBe(1);
    const store = await on.reopen();
    expect(await publishedIntents(on.repo.gitdir)).toBe(0);
    await store.close();
  });

  test("keeps locks that a person's Git holds, and carries out at the first write after", async () => {
    const on = await killedAt("ref");
    // The dead process's own index.lock is replaced by a person's.
    rmSync(join(on.repo.gitdir, "index.lock"));
    const lock = join(on.repo.gitdir, "index.lock");
    on.save(".git/index.lock", "");
    const store = await on.reopen({ lockWaitMs: 30 });
    expect(store.recovery.owed).toHaveLength(1);
    await expect(store.commit([draft("notes/e.md", "e\n")])).rejects.toMatchObject({ code: "REPO_BUSY" });
    expect(readFileSync(lock, "utf8")).toBe("");
    rmSync(lock);
    committed((await store.commit([draft("notes/e.md", "e\n")])).outcomes[0]);
    expect(on.repo.git("status", "--porcelain")).toBe("");
    await store.close();
  });

  test("what an earlier version was killed in, with its intents in files of their own, is carried out", async () => {
    const on = await killedAt("file", 2);
    const [open] = intentsOnDisk(on.repo.gitdir);
    if (open === undefined) throw new Error("no intent is open");
    const folder = join(on.repo.gitdir, "notesd/intents");
    rmSync(folder, { recursive: true });
    on.save(`.git/notesd/intents/${open.name}.json`, JSON.stringify(open.intent));
    expect(await publishedIntents(on.repo.gitdir)).toBe(1);
    const store = await on.reopen();
    expect(store.recovery.carriedOut).toBe(1);
    expect(["notes/a.md", "notes/new/b.md", "notes/c.md"].map(on.text)).toEqual(["a2\n", "b1\n", null]);
    expect(on.repo.git("status", "--porcelain")).toBe("");
    expect(leftovers(on)).toEqual([]);
    await store.close();
  });

  test("half-written files of a dead process go, a person's .keep stays", async () => {
    const on = await storeOnGit();
    await on.store.close();
    on.save(".git/notesd/intents/.000000000008.json.7f376a45b6d2.tmp", "{");
    on.save(".git/notesd/.base.log.7f376a45b6d2.tmp", "x");
    on.save(".git/notesd/incoming-aB3xYz/objects/pack/pack-1.pack", "PACK");
    on.save(".git/objects/pack/.notesd_1234.keep", "");
    const keep = `.git/objects/pack/pack-${"12".repeat(20)}.keep`;
    on.save(keep, "");
    const store = await on.reopen();
    expect(readdirSync(join(on.repo.gitdir, "notesd/intents"))).toEqual([]);
    expect(readdirSync(join(on.repo.gitdir, "notesd")).filter((f) => /\.tmp$|^incoming/.test(f))).toEqual([]);
    expect(readdirSync(join(on.repo.gitdir, "objects/pack"))).toEqual([keep.split("/").at(-1)]);
    await store.close();
  });

  test("a process that waits for a person's lock stays until it has answered", async () => {
    const on = await storeOnGit();
    await on.store.commit([
      draft("notes/a.md", "a1\n"),
      draft("notes/c.md", "c1\n"),
      draft("notes/d.md", "d1\n"),
    ]);
    await on.store.close();
    on.save("notes/d.md", "d by hand\n");
    on.save(".git/index.lock", "");
    const child = spawn(process.execPath, [program, "step", on.repo.root, "none"]);
    const closed = once(child, "close");
    let said = "";
    child.stdout.on("data", (chunk: Buffer) => {
      said += chunk.toString();
    });
    const locks = join(on.repo.gitdir, "notesd/locks");
    await until("the lock to be waited for", () => readdirSync(locks).length >= 3);
    rmSync(join(on.repo.gitdir, "index.lock"));
    expect(await closed).toEqual([0, null]);
    expect(said).toBe("acknowledged\n");
  });

  test("a second start after a first that was killed too finds nothing more to do", async () => {
    const on = await killedAt("files");
    await on.reopen();
    const store = await on.reopen();
    expect(store.recovery).toMatchObject({ carriedOut: 0, owed: [], locks: [], packs: [] });
    await store.close();
  });
});
