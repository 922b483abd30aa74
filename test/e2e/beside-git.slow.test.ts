/** A person's own Git beside an agent at ten writes a second: nothing lost or reverted on either side. */
import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { cleanEnv, git, servedRepo } from "../support/daemon.ts";
import { until } from "../support/wait.ts";

const RUN_MS = 60_000;
const WRITES_PER_SECOND = 10;

const served = servedRepo();

/** How Git, or our pre-commit hook, says that somebody else was quicker; git stash then says next to nothing. */
const RACE =
  /\.lock|cannot lock ref|unable to write new index|Commit again in a moment|^exit 1: (?:The stash entry is kept in case you need it again\.\s*)?$/i;

/** Run Git as a person would; a refusal because a lock is held is tried again, anything else fails the test. */
async function person(...args: string[]): Promise<void> {
  const outcome = await until(`git ${args.join(" ")}`, async () => {
    commands++;
    const said = await runGit(args);
    if (said === null) return "done";
    if (!RACE.test(said)) return said;
    refusals++;
    return null;
  });
  if (outcome !== "done") throw new Error(`git ${args.join(" ")}: ${outcome}`);
}

/** @returns null when it worked, else what it said */
function runGit(args: readonly string[]): Promise<string | null> {
  return new Promise((resolve) => {
    execFile("git", [...args], { cwd: served.repo, env: cleanEnv() }, (error, stdout, stderr) =>
      resolve(error === null ? null : `exit ${error.code}: ${stdout}${stderr}`),
    );
  });
}
/**
 * A merge. One that loses a race for the branch leaves its result staged, as Git does beside anybody else's
 * commits too; the person takes that back and merges again.
 */
async function merge(branch: string): Promise<void> {
  await until(`git merge ${branch}`, async () => {
    commands++;
    if ((await runGit(["merge", "-q", "--no-edit", branch])) === null) return true;
    refusals++;
    await person("reset", "-q", "--hard");
    return false;
  });
}
let refusals = 0;
let commands = 0;

interface Written {
  readonly noteId: string;
  readonly text: string;
}

/** An agent that writes ten notes a second, not waiting for one answer before the next, until told to stop. */
function agentAtWork(written: Written[]): { stop(): Promise<void> } {
  let going = true;
  const writeOne = async (i: number) => {
    const text = `Agent text number ${i}.`;
    const { result, error } = await served.rpc.reply("notes.create", { title: `Agent ${i}`, content: text });
    // While the person's Git is busy the write is refused whole, as the client would wait out.
    if (error && error.code !== 503) throw new Error(`${error.code} ${error.message}`);
    if (result) written.push({ noteId: result.note_id, text });
  };
  const run = async () => {
    const open: Promise<void>[] = [];
    for (let i = 0; going; i++) {
      const started = performance.now();
      open.push(writeOne(i));
      await until(
        "the next tenth of a second",
        () => performance.now() - started >= 1000 / WRITES_PER_SECOND,
      );
    }
    await Promise.all(open);
  };
  const done = run();
  return {
    async stop() {
      going = false;
      await done;
    },
  };
}

test("a minute of commit, commit -a, stash, checkout -b and back, and rebase beside an agent", async () => {
  mkdirSync(join(served.repo, "notes"), { recursive: true });
  writeFileSync(join(served.repo, "notes/own.md"), "# Own note\n\nfirst\n");
  await person("add", "notes/own.md");
  await person("commit", "-m", "own note");
  writeFileSync(join(served.repo, "plan.txt"), "not a note\n");
  await person("add", "plan.txt");
  await person("commit", "-m", "a file that is no note");
  const written: Written[] = [];
  const agent = agentAtWork(written);
  const saved: string[] = [];
  const end = performance.now() + RUN_MS;
  for (let i = 0; performance.now() < end; i++) {
    // commit of a staged file that is no note
    writeFileSync(join(served.repo, "plan.txt"), `plan ${i}\n`);
    await person("add", "plan.txt");
    await person("commit", "-m", `plan ${i}`);
    // commit -a of a note the person edits
    writeFileSync(join(served.repo, "notes/own.md"), `# Own note\n\nperson ${i}\n`);
    await person("commit", "-a", "-m", `own ${i}`);
    saved.push(`person ${i}`);
    // stash and pop an edit of a file that is no note
    writeFileSync(join(served.repo, "plan.txt"), `stashed ${i}\n`);
    await person("stash");
    await person("stash", "pop");
    await person("commit", "-a", "-m", `popped ${i}`);
    // a branch and back, with a commit there, then a rebase of it and a merge
    await person("checkout", "-q", "-b", `topic-${i}`);
    writeFileSync(join(served.repo, `side-${i}.txt`), `side ${i}\n`);
    await person("add", `side-${i}.txt`);
    await person("commit", "-m", `side ${i}`);
    await person("checkout", "-q", "main");
    await person("checkout", "-q", `topic-${i}`);
    await person("rebase", "-q", "main");
    await person("checkout", "-q", "main");
    await merge(`topic-${i}`);
  }
  await agent.stop();
  await until(
    "the work tree to be level with the branch",
    () => git(served.repo, "status", "--porcelain") === "",
    60_000,
  );

  expect(written.length).toBeGreaterThan(300);
  for (const { noteId, text } of written) {
    expect((await served.rpc.call("notes.read", { note_id: noteId })).content).toContain(text);
  }
  const log = git(served.repo, "log", "--format=", "-p", "--", "notes/own.md");
  expect(saved.filter((line) => !log.includes(`+${line}`))).toEqual([]);
  expect(git(served.repo, "fsck", "--strict", "--no-dangling")).toBe("");
  const verify = await served.rpc.call("daemon.verify");
  expect(verify).toMatchObject({ equal: true, problems: [] });
  console.log(
    `${written.length} agent writes, ${commands} Git commands, ${refusals} refused by a lock at first`,
  );
});

test("a staged file is never swept into an agent's commit, and a person's commit right after never deletes its note", async () => {
  for (let i = 0; i < 10; i++) {
    writeFileSync(join(served.repo, `staged-${i}.txt`), `staged ${i}\n`);
    await person("add", `staged-${i}.txt`);
    const note = await served.rpc.call("notes.create", { title: `Beside a staged file ${i}`, content: "x" });
    expect(git(served.repo, "show", "--name-only", "--format=", note.commit)).toBe(note.path);
    expect(git(served.repo, "diff", "--cached", "--name-only")).toBe(`staged-${i}.txt`);
    await person("commit", "-m", `staged ${i}`);
    expect(git(served.repo, "show", "--name-only", "--format=", "HEAD")).toBe(`staged-${i}.txt`);
    expect(git(served.repo, "ls-tree", "--name-only", "HEAD", "--", note.path)).toBe(note.path);
  }
});

test("a stopped rebase answers REPO_BUSY, reads go on, and writes resume when it ends", async () => {
  writeFileSync(join(served.repo, "clash.txt"), "base\n");
  await person("add", "clash.txt");
  await person("commit", "-m", "base");
  await person("checkout", "-q", "-b", "other");
  writeFileSync(join(served.repo, "clash.txt"), "other\n");
  await person("commit", "-a", "-m", "other");
  await person("checkout", "-q", "main");
  writeFileSync(join(served.repo, "clash.txt"), "main\n");
  await person("commit", "-a", "-m", "main");
  const kept = await served.rpc.call("notes.create", { title: "Before the rebase", content: "kept" });
  expect(() =>
    execFileSync("git", ["rebase", "other"], { cwd: served.repo, env: cleanEnv(), stdio: "ignore" }),
  ).toThrow();

  const refused = await served.rpc.reply("notes.create", { title: "During the rebase", content: "no" });
  expect(refused.error).toMatchObject({ code: 503, data: { code: "REPO_BUSY", state: "rebase" } });
  expect((await served.rpc.call("notes.read", { note_id: kept.note_id })).content).toContain("kept");
  expect((await served.rpc.call("daemon.status")).state).toBe("rebase");

  await person("rebase", "--abort");
  const after = await until("writes to resume", async () => {
    const { result } = await served.rpc.reply("notes.create", { title: "After the rebase", content: "yes" });
    return result;
  });
  expect(git(served.repo, "rev-parse", "HEAD")).toBe(after.commit);
  expect((await served.rpc.call("notes.read", { note_id: kept.note_id })).content).toContain("kept");
});
