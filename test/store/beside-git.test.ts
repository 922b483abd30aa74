import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { Step } from "../../src/store/commit/publication.ts";
import { at, blobOf, committed, draft, message } from "../support/drafts.ts";
import { fakeClock } from "../support/fake-clock.ts";
import { saveFile } from "../support/save-file.ts";
import { type StoreOnGit, storeOnGit } from "../support/store-on-git.ts";
import { until } from "../support/wait.ts";

let open: StoreOnGit[] = [];
afterEach(async () => {
  for (const on of open) await on.store.close();
  open = [];
});

/** Run something at the first time (or each of the first `times`) that a commit comes to a step. */
function when(step: Step, act: () => void, times = 1) {
  let left = times;
  return (reached: Step) => {
    if (reached !== step || left === 0) return;
    left--;
    act();
  };
}

async function start(onStep: (step: Step) => void = () => {}): Promise<StoreOnGit> {
  const on = await storeOnGit({ onStep });
  open.push(on);
  return on;
}

/** A store whose steps can be hooked after it was made. */
async function hooked(): Promise<StoreOnGit & { onStep: (step: Step) => void }> {
  let onStep = (_: Step) => {};
  const on = await start((step) => onStep(step));
  Object.defineProperty(on, "onStep", {
    set(next: (step: Step) => void) {
      onStep = next;
    },
  });
  return on as StoreOnGit & { onStep: (step: Step) => void };
}

function expectSound({ repo }: StoreOnGit, status = ""): void {
  expect(repo.tryGit("fsck", "--strict", "--no-dangling")).toMatchObject({ status: 0 });
  expect(repo.git("status", "--porcelain", "-uall")).toBe(status);
  const locks = readdirSync(repo.gitdir, { recursive: true, encoding: "utf8" }).filter((f) =>
    f.endsWith(".lock"),
  );
  expect(locks).toEqual([]);
}

describe("a store beside native Git", () => {
  test("after every kind of commit fsck and status are clean and the reflog is complete", async () => {
    const on = await start();
    const { store, repo } = on;
    const one = async (...drafts: Parameters<typeof store.commit>[0]) => {
      const { outcomes, tip } = await store.commit(drafts);
      for (const outcome of outcomes) committed(outcome);
      expectSound(on);
      return tip;
    };
    await one(draft("notes/a.md", "one\n"));
    await one(draft("notes/a.md", "two\n", "one\n"));
    await one(draft("notes/deep/er/b.md", "b\n"), draft("notes/c.md", "c\n"));
    await one(draft("notes/deep/er/b.md", null, "b\n"));
    expect(existsSync(join(repo.root, "notes/deep"))).toBe(false);
    await one({ ...draft("notes/a.md", null), files: [] });
    on.save("notes/c.md", "by hand\n");
    await one(
      draft("notes/c.md", "by hand\n", "c\n", { origin: "disk", message: message({ action: "adopt" }) }),
    );
    on.save("notes/d.md", "new by hand\n");
    await one(draft("notes/d.md", "new by hand\n", null, { origin: "disk" }));
    on.save("notes/d.md", null);
    await one(draft("notes/d.md", null, "new by hand\n", { origin: "disk" }));
    const side = repo.git("commit-tree", "-p", "HEAD~1", "-m", "side", "HEAD~1^{tree}");
    await one({ ...draft("notes/e.md", "e\n"), mergeParents: [side as never] });
    const commits = repo.git("log", "--first-parent", "--format=%H").split("\n");
    expect(repo.git("reflog", "--format=%H").split("\n")).toEqual(commits);
    expect(repo.git("reflog", "main", "--format=%gs").split("\n").at(-1)).toBe(
      "commit (initial): create(general): A note",
    );
    expect(repo.git("log", "-1", "--format=%(trailers:key=Note-Id,valueonly)").trim()).toBe(
      "note_20261130_101500_k3vq7a",
    );
    // The stat data in the Git index is right: Git need not look into any file.
    expect(repo.git("diff-files", "--name-only")).toBe("");
  });

  test("a staged file is never swept in, and stays staged", async () => {
    const on = await start();
    const { store, repo } = on;
    await store.commit([draft("notes/a.md", "one\n")]);
    on.save("notes/mine.md", "staged\n");
    on.save("other.txt", "staged too\n");
    repo.git("add", "notes/mine.md", "other.txt");
    await store.commit([draft("notes/a.md", "two\n", "one\n"), draft("notes/b.md", "b\n")]);
    expect(repo.git("ls-tree", "-r", "--name-only", "HEAD").split("\n")).toEqual([
      "notes/a.md",
      "notes/b.md",
    ]);
    expect(repo.git("diff", "--cached", "--name-only").split("\n")).toEqual(["notes/mine.md", "other.txt"]);
    expect([...(await store.staged())]).toEqual(["notes/mine.md"]);
    await store.commit([draft("notes/c.md", "c\n")]);
    expect([...(await store.staged())]).toEqual(["notes/mine.md"]);
    expect([...(await store.stagedTexts())]).toEqual([repo.git("rev-parse", ":notes/mine.md")]);
    repo.git("reset", "-q", "notes/mine.md");
    expect([...(await store.staged())]).toEqual([]);
    repo.git("add", "notes/mine.md");
    expectSound(on, "A  notes/mine.md\nA  other.txt");
  });

  test("a person's commit right after an agent's write keeps the note", async () => {
    const on = await start();
    await on.store.commit([draft("notes/a.md", "one\n")]);
    on.save("mine.txt", "mine\n");
    on.repo.git("add", "mine.txt");
    on.repo.git("commit", "-qm", "mine");
    expect(on.repo.git("ls-tree", "-r", "--name-only", "HEAD").split("\n")).toEqual([
      "mine.txt",
      "notes/a.md",
    ]);
    committed((await on.store.commit([draft("notes/a.md", "two\n", "one\n")])).outcomes[0]);
    expect(on.repo.git("show", "HEAD:mine.txt")).toBe("mine");
    expectSound(on);
  });

  test.each<Step>(["built", "packed", "intent"])(
    "a person's commit at the step %s is built upon",
    async (step) => {
      const on = await hooked();
      const { store, repo } = on;
      await store.commit([draft("notes/a.md", "one\n")]);
      on.onStep = when(step, () => {
        saveFile(repo.root, "mine.txt", "mine\n");
        repo.git("add", "mine.txt");
        repo.git("commit", "-qm", "mine");
      });
      const { base, outcomes } = await store.commit([draft("notes/a.md", "two\n", "one\n")]);
      committed(outcomes[0]);
      expect(repo.git("log", "--format=%s", "-2")).toBe("create(general): A note\nmine");
      expect(base).toBe(repo.git("rev-parse", "HEAD~1"));
      expectSound(on);
    },
  );

  test("a person's commit of the same note makes that draft alone a conflict", async () => {
    const on = await hooked();
    const { store, repo } = on;
    await store.commit([draft("notes/a.md", "one\n")]);
    on.onStep = when("packed", () => {
      saveFile(repo.root, "notes/a.md", "theirs\n");
      repo.git("commit", "-qam", "theirs");
    });
    const { outcomes } = await store.commit([
      draft("notes/a.md", "two\n", "one\n"),
      draft("notes/b.md", "b\n"),
    ]);
    expect(outcomes[0]).toEqual({ kind: "conflict", path: "notes/a.md", current: blobOf("theirs\n") });
    committed(outcomes[1]);
    expect(on.text("notes/a.md")).toBe("theirs\n");
    expectSound(on);
  });

  test("whoever loses the race again and again builds under the locks", async () => {
    const on = await hooked();
    const { store, repo } = on;
    await store.commit([draft("notes/a.md", "one\n")]);
    let refused = 0;
    on.onStep = when(
      "packed",
      () => {
        const { status } = repo.tryGit("commit", "-q", "--allow-empty", "-m", "again");
        if (status !== 0) refused++;
      },
      8,
    );
    committed((await store.commit([draft("notes/b.md", "b\n")])).outcomes[0]);
    expect(refused).toBe(1);
    expect(
      repo
        .git("log", "--format=%s")
        .split("\n")
        .filter((s) => s === "again"),
    ).toHaveLength(6);
    expectSound(on);
  });

  test("under the locks a person's Git is refused, not raced", async () => {
    const on = await hooked();
    await on.store.commit([draft("notes/a.md", "one\n")]);
    let status: number | null = 0;
    on.onStep = when("ref", () => {
      status = on.repo.tryGit("commit", "-q", "--allow-empty", "-m", "no").status;
    });
    committed((await on.store.commit([draft("notes/b.md", "b\n")])).outcomes[0]);
    expect(status).not.toBe(0);
    expectSound(on);
  });

  test("a repack -ad in between deletes nothing", async () => {
    const on = await hooked();
    await on.store.commit([draft("notes/a.md", "one\n")]);
    on.onStep = when("intent", () => {
      on.repo.git("repack", "-adq");
      on.repo.git("prune", "--expire=now");
    });
    committed((await on.store.commit([draft("notes/b.md", "b\n")])).outcomes[0]);
    expectSound(on);
    on.repo.git("repack", "-adq");
    committed((await on.store.commit([draft("notes/c.md", "c\n")])).outcomes[0]);
    expect(readdirSync(join(on.repo.gitdir, "objects/pack")).filter((f) => f.endsWith(".keep"))).toEqual([]);
    expectSound(on);
  });

  test("a packed branch and a branch with slashes are written", async () => {
    const on = await start();
    await on.store.commit([draft("notes/a.md", "one\n")]);
    on.repo.git("pack-refs", "--all");
    committed((await on.store.commit([draft("notes/b.md", "b\n")])).outcomes[0]);
    on.repo.git("checkout", "-q", "-b", "team/notes");
    await on.store.close();
    const store = await on.reopen({ branch: "team/notes" });
    committed((await store.commit([draft("notes/c.md", "c\n")])).outcomes[0]);
    expect(on.repo.git("rev-parse", "team/notes~1")).toBe(on.repo.git("rev-parse", "main"));
    expectSound(on);
  });

  test("an executable note stays executable", async () => {
    const on = await start();
    on.save("notes/a.md", "one\n");
    chmodSync(join(on.repo.root, "notes/a.md"), 0o755);
    on.repo.git("add", "notes/a.md");
    on.repo.git("commit", "-qm", "executable");
    on.store.workTree.accept(at("notes/a.md"), blobOf("one\n"));
    committed((await on.store.commit([draft("notes/a.md", "two\n", "one\n")])).outcomes[0]);
    expect(statSync(join(on.repo.root, "notes/a.md")).mode & 0o777).toBe(0o755);
    expectSound(on);
  });

  test("a foreign lock is waited for, answered with REPO_BUSY and never removed", async () => {
    const on = await start();
    await on.store.commit([draft("notes/a.md", "one\n")]);
    await on.store.close();
    const store = await on.reopen({ lockWaitMs: 50 });
    const lock = join(on.repo.gitdir, "index.lock");
    writeFileSync(lock, "");
    await expect(store.commit([draft("notes/b.md", "b\n")])).rejects.toMatchObject({
      code: "REPO_BUSY",
      data: { state: "locked", path: "index.lock" },
    });
    expect(existsSync(lock)).toBe(true);
    expect(on.text("notes/b.md")).toBeNull();
    rmSync(lock);
    committed((await store.commit([draft("notes/b.md", "b\n")])).outcomes[0]);
    expectSound(on);
  });

  test("while a person's Git is at work it publishes once in a while, else freely", async () => {
    const clock = fakeClock();
    const on = await storeOnGit({ clock, besideGitMs: 1_000 });
    open.push(on);
    await on.store.commit([draft("notes/a.md", "one\n")]);
    await on.store.commit([draft("notes/a.md", "two\n", "one\n")]);
    on.repo.git("commit", "-q", "--allow-empty", "-m", "by hand");
    const waits = on.store.commit([draft("notes/a.md", "three\n", "two\n")]);
    await until("the pause beside Git", () => clock.waiting > 1);
    expect(on.text("notes/a.md")).toBe("two\n");
    clock.advance(1_000);
    committed((await waits).outcomes[0]);
    clock.advance(31_000);
    committed((await on.store.commit([draft("notes/b.md", "b\n")])).outcomes[0]);
    committed((await on.store.commit([draft("notes/c.md", "c\n")])).outcomes[0]);
  });

  test("a zero-length ref is an error, never no history", async () => {
    const on = await start();
    await on.store.commit([draft("notes/a.md", "one\n")]);
    writeFileSync(join(on.repo.gitdir, "refs/heads/main"), "");
    await expect(on.store.tip()).rejects.toMatchObject({ code: "STORAGE" });
    await expect(on.store.commit([draft("notes/b.md", "b\n")])).rejects.toMatchObject({ code: "STORAGE" });
    await expect(on.reopen()).rejects.toMatchObject({ code: "STORAGE" });
  });
});

describe("a damaged repository", () => {
  test("a truncated object of the right name is not taken for the note's bytes", async () => {
    const on = await start();
    const id = blobOf("b\n");
    on.save(`.git/objects/${id.slice(0, 2)}/${id.slice(2)}`, "");
    committed((await on.store.commit([draft("notes/b.md", "b\n")])).outcomes[0]);
    expect(on.repo.git("show", "HEAD:notes/b.md")).toBe("b");
    await on.store.close();
    const store = await on.reopen();
    expect(Buffer.from(await store.readBlob(id)).toString()).toBe("b\n");
  });

  test("a tip that can't be read refuses the start, naming the commit", async () => {
    const on = await start();
    const { tip } = await on.store.commit([draft("notes/a.md", "a\n")]);
    await on.store.close();
    rmSync(join(on.repo.gitdir, "objects/pack"), { recursive: true });
    await expect(on.reopen()).rejects.toMatchObject({ code: "STORAGE", data: { commit: tip } });
  });

  test("a Git index in a form that isn't written here refuses writes before anything happens", async () => {
    const on = await start();
    const { tip } = await on.store.commit([draft("notes/a.md", "a\n")]);
    on.repo.git("update-index", "--index-version", "4");
    await expect(on.store.commit([draft("notes/b.md", "b\n")])).rejects.toMatchObject({ code: "STORAGE" });
    expect(await on.store.tip()).toBe(tip);
    expect(on.text("notes/b.md")).toBeNull();
    on.repo.git("update-index", "--index-version", "2");
    committed((await on.store.commit([draft("notes/b.md", "b\n")])).outcomes[0]);
    expectSound(on);
  });
});

describe("while HEAD is elsewhere", () => {
  test.each([["-b", "other"], ["--detach"]])(
    "the branch's ref alone moves (checkout %s)",
    async (...args) => {
      const on = await start();
      const { store, repo } = on;
      await store.commit([draft("notes/a.md", "one\n")]);
      repo.git("checkout", "-q", ...args);
      expect((await store.state()).state).toBe("elsewhere");
      committed(
        (await store.commit([draft("notes/a.md", "two\n", "one\n"), draft("notes/b.md", "b\n")])).outcomes[0],
      );
      expect([on.text("notes/a.md"), on.text("notes/b.md")]).toEqual(["one\n", null]);
      expectSound(on);
      on.save("notes/a.md", "saved there\n");
      const adopt = draft("notes/a.md", "saved there\n", "two\n", { origin: "disk" });
      expect((await store.commit([adopt])).outcomes).toEqual([{ kind: "dirty", paths: ["notes/a.md"] }]);
      on.save("notes/a.md", "one\n");
      repo.git("checkout", "-q", "main");
      expect([on.text("notes/a.md"), on.text("notes/b.md")]).toEqual(["two\n", "b\n"]);
      expect(repo.git("reflog", "main", "--format=%H").split("\n")).toHaveLength(3);
      expectSound(on);
    },
  );
});

describe("a person who saves in the middle of a commit", () => {
  const steps: Step[] = ["checked", "reflog", "ref", "file"];
  test.each(steps)("keeps the file when it is rewritten at the step %s", async (step) => {
    const on = await hooked();
    await on.store.commit([draft("notes/a.md", "one\n")]);
    on.onStep = when(step, () => on.save("notes/a.md", "theirs, longer\n"));
    const outcome = committed((await on.store.commit([draft("notes/a.md", "two\n", "one\n")])).outcomes[0]);
    expect(outcome.pending).toEqual([]);
    expect(on.text("notes/a.md")).toBe("theirs, longer\n");
    expect(on.store.workTree.base(at("notes/a.md"))).toBe(blobOf("one\n"));
    expectSound(on, " M notes/a.md");
  });

  test.each(steps)("keeps the file when an editor renames a new one over it at the step %s", async (step) => {
    const on = await hooked();
    await on.store.commit([draft("notes/a.md", "one\n")]);
    on.onStep = when(step, () => {
      on.save("notes/.a.swp", "theirs\n");
      renameSync(join(on.repo.root, "notes/.a.swp"), join(on.repo.root, "notes/a.md"));
    });
    committed((await on.store.commit([draft("notes/a.md", null, "one\n")])).outcomes[0]);
    expect(on.text("notes/a.md")).toBe("theirs\n");
    expectSound(on, "?? notes/a.md");
  });

  test.each(steps)("keeps a file that appears where a note is created, at the step %s", async (step) => {
    const on = await hooked();
    on.onStep = when(step, () => on.save("notes/a.md", "theirs\n"));
    committed((await on.store.commit([draft("notes/a.md", "ours\n")])).outcomes[0]);
    expect(on.text("notes/a.md")).toBe("theirs\n");
    expect(on.store.workTree.base(at("notes/a.md"))).toBeNull();
  });

  test("before the locks is seen, and that draft alone is dirty", async () => {
    const on = await hooked();
    await on.store.commit([draft("notes/a.md", "one\n")]);
    on.onStep = when("locked", () => on.save("notes/a.md", "theirs\n"));
    const { outcomes } = await on.store.commit([
      draft("notes/a.md", "two\n", "one\n"),
      draft("notes/b.md", "b\n"),
    ]);
    expect(outcomes[0]).toEqual({ kind: "dirty", paths: ["notes/a.md"] });
    committed(outcomes[1]);
    expect(on.text("notes/a.md")).toBe("theirs\n");
    expectSound(on, " M notes/a.md");
  });

  test("and whose editor holds the old file open loses nothing", async () => {
    const on = await hooked();
    await on.store.commit([draft("notes/a.md", "one\n")]);
    const fd = openSync(join(on.repo.root, "notes/a.md"), "r+");
    on.onStep = when("answered", () => writeSync(fd, "late save\n"));
    committed((await on.store.commit([draft("notes/a.md", "two\n", "one\n")])).outcomes[0]);
    closeSync(fd);
    await on.store.close();
    const texts = readdirSync(join(on.repo.root, "notes")).map((f) => on.text(`notes/${f}`));
    expect(texts).toContain("late save\n");
    await on.reopen();
  });
});

test("a disk that is full at any step before the commit point is STORAGE, and nothing is left", async () => {
  const on = await hooked();
  const full = Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
  for (const step of ["built", "packed", "locked", "reflog"] as const) {
    on.onStep = when(step, () => {
      throw full;
    });
    await expect(on.store.commit([draft("notes/a.md", "a\n")])).rejects.toMatchObject({ code: "STORAGE" });
    for (const folder of ["intents", "prepared"])
      expect(readdirSync(join(on.repo.gitdir, "notesd", folder))).toEqual([]);
    // One empty file waits for the next group.
    expect(
      readdirSync(join(on.repo.gitdir, "notesd/locks")).filter((name) => !name.startsWith("HEAD~")),
    ).toEqual([]);
  }
  await on.store.close();
  expect(readdirSync(join(on.repo.gitdir, "notesd/locks"))).toEqual([]);
});

test("objects of a lost race stay: a person's Git that saw them there wrote none of its own", async () => {
  const on = await hooked();
  on.save("notes/sub/a.md", "saved\n");
  on.onStep = when("packed", () => {
    on.repo.git("add", "notes/sub/a.md");
    on.repo.git("commit", "-q", "-m", "the person's own");
  });
  const adoption = draft("notes/sub/a.md", "saved\n", null, { origin: "disk" });
  expect((await on.store.commit([adoption])).outcomes).toMatchObject([{ kind: "conflict" }]);
  expect(on.repo.git("log", "--format=%s")).toBe("the person's own");
  expectSound(on);
});

describe("a file that can't be placed", () => {
  test("is pending, the commit stands, and it is placed when it can be", async () => {
    const on = await hooked();
    on.onStep = when("checked", () => on.save("notes/deep", "a file in the way\n"));
    const group = [draft("notes/deep/a.md", "a\n"), draft("notes/z.md", "z\n")];
    const { outcomes } = await on.store.commit(group);
    const outcome = committed(outcomes[0]);
    expect(committed(outcomes[1]).pending).toEqual([]);
    expect(outcome.pending).toEqual(["notes/deep/a.md"]);
    expect(await on.store.tip()).toBe(committed(outcomes[1]).events.commit.id);
    expect(on.store.pending()).toEqual(["notes/deep/a.md"]);
    rmSync(join(on.repo.root, "notes/deep"));
    committed((await on.store.commit([draft("notes/b.md", "b\n")])).outcomes[0]);
    await until("the file in its place", () => on.text("notes/deep/a.md") === "a\n");
    expect(on.store.workTree.base(at("notes/deep/a.md"))).toBe(blobOf("a\n"));
    expect(on.store.pending()).toEqual([]);
    expect((await on.store.workTree.scan()).map((f) => f.kind)).toEqual(["file", "file", "file"]);
    expectSound(on);
  });

  test("after a restart too", async () => {
    const on = await hooked();
    on.onStep = when("checked", () => on.save("notes/deep", "a file in the way\n"));
    await on.store.commit([draft("notes/deep/a.md", "a\n")]);
    await on.store.close();
    rmSync(join(on.repo.root, "notes/deep"));
    const store = await on.reopen();
    expect(store.recovery.carriedOut).toBe(1);
    expect(on.text("notes/deep/a.md")).toBe("a\n");
    expectSound(on);
    expect(readdirSync(join(on.repo.gitdir, "notesd/intents"))).toEqual([]);
  });

  test("links and folders of links are left alone", async () => {
    const on = await start();
    const outside = join(on.repo.root, "..", `outside-${process.pid}`);
    mkdirSync(outside, { recursive: true });
    symlinkSync(outside, join(on.repo.root, "notes"));
    const { outcomes } = await on.store.commit([draft("notes/a.md", "a\n")]);
    expect(outcomes).toEqual([{ kind: "blocked", path: "notes/a.md", why: "lies behind a symbolic link" }]);
    expect(readdirSync(outside)).toEqual([]);
    rmSync(outside, { recursive: true });
  });
});
