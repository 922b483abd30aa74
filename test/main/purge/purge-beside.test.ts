import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { connect } from "../../../src/client/client.ts";
import { doctor } from "../../../src/main/doctor.ts";
import { purge } from "../../../src/main/purge/purge.ts";
import { type PurgeRepo, purgeRepo, SECRET, whereIs } from "../../support/purge-repo.ts";

const run = ({ place, env, top }: PurgeRepo, wish: Partial<Parameters<typeof purge>[2]> = {}) =>
  purge(
    { repo: place.root },
    { env, cwd: top, warn: () => {} },
    { values: [`${SECRET}\n`], fingerprints: [], note: null, apply: true, ...wish },
  );

const client = ({ place }: PurgeRepo, agent?: string) =>
  connect({ repo: place.root, env: {}, ...(agent ? { agent } : {}) });

/** Notes before, with and after the value, by an agent and by a person. */
async function story(repo: PurgeRepo) {
  const daemon = await repo.start();
  const agent = await client(repo, "planner");
  const before = await agent.notes.create({ title: "Before", content: "untouched\n" });
  const leaked = await agent.notes.create({
    title: `The key ${SECRET}`,
    content: `first\nkey: ${SECRET}\nlast\n`,
    tags: [SECRET],
    reason: `because of ${SECRET}`,
    idempotency_key: "once",
  });
  const after = await agent.notes.create({ title: "After", content: "also untouched\n" });
  await agent.notes.update({ note_id: leaked.note_id, content: `first\nkey: ${SECRET}${SECRET}\nmore\n` });
  const cursor = (await agent.notes.changes({ since: before.commit })).cursor;
  agent.close();
  await daemon.stop();
  return { before, leaked, after, cursor };
}

test("who commits while one looks is looked at too", async () => {
  const repo = await purgeRepo();
  await repo.save("notes/a.md", `${SECRET}\n`);
  repo.git("add", ".");
  repo.git("commit", "-qm", "a");
  let committed = false;
  const report = await purge(
    { repo: repo.place.root },
    { env: repo.env, cwd: repo.top, warn: () => {} },
    { values: [SECRET], fingerprints: [], note: null, apply: true },
    (step) => {
      if (step === "planned" && !committed) repo.git("commit", "-q", "--allow-empty", "-m", `more ${SECRET}`);
      committed = true;
    },
  );
  expect(report).toMatchObject({ complete: true, rewritten_commits: 2 });
  expect(repo.git("log", "-1", "--format=%s")).toBe("more (purged)");
  expect(whereIs(repo.place.root, SECRET)).toEqual([]);
});

test("an edit that is not committed yet outlives it, and is committed on top of the new history", async () => {
  const repo = await purgeRepo();
  await repo.save("notes/a.md", `# A\n\n${SECRET}\n`);
  await repo.save("notes/b.md", "# B\n\none\n");
  const first = await repo.start();
  const person = await client(repo);
  await person.callAny("notes.commit", {});
  person.close();
  await first.stop();
  await repo.save("notes/a.md", "# A\n\nmine\n");
  await repo.save("notes/b.md", "# B\n\ntwo\n");
  const report = await run(repo);
  expect(report).toMatchObject({ complete: true });
  expect(repo.git("show", "HEAD:notes/a.md")).toBe("# A\n\n(purged)");
  expect(readFileSync(join(repo.place.root, "notes/a.md"), "utf8")).toBe("# A\n\nmine\n");
  await repo.start();
  const later = await client(repo);
  await later.callAny("notes.commit", {});
  later.close();
  expect(repo.git("show", "HEAD:notes/a.md")).toBe("# A\n\nmine");
  expect(repo.git("show", "HEAD:notes/b.md")).toBe("# B\n\ntwo");
  expect(repo.git("status", "--porcelain")).toBe("");
  expect(whereIs(repo.place.root, SECRET)).toEqual([]);
});

test("a file that was changed and still holds it is left and told, and the purge is not complete", async () => {
  const repo = await purgeRepo();
  await repo.save("notes/a.md", `${SECRET}\n`);
  repo.git("add", ".");
  repo.git("commit", "-qm", "a");
  await repo.save("notes/a.md", `mine ${SECRET}\n`);
  await repo.save("loose.txt", `${SECRET}\n`);
  await repo.save(".git/hooks/post-commit", `# ${SECRET}\n`);
  const report = await run(repo);
  expect(report.complete).toBe(false);
  expect(report.files.filter(({ done }) => done === "left").map(({ path }) => path)).toEqual([
    ".git/hooks/post-commit",
    "loose.txt",
    "notes/a.md",
  ]);
  expect(readFileSync(join(repo.place.root, "notes/a.md"), "utf8")).toBe(`mine ${SECRET}\n`);
  expect(whereIs(repo.place.root, SECRET)).toHaveLength(3);
});

test("what a daemon finds of a purge that was cut short it completes before it serves", async () => {
  const repo = await purgeRepo();
  const { leaked } = await story(repo);
  const cut = new Error("cut short");
  const cutShort = purge(
    { repo: repo.place.root },
    { env: repo.env, cwd: repo.top, warn: () => {} },
    { values: [SECRET], fingerprints: [], note: null, apply: true },
    (step) => {
      if (step === "moved") throw cut;
    },
  );
  await expect(cutShort).rejects.toBe(cut);
  expect(whereIs(repo.place.root, SECRET)).not.toEqual([]);
  await repo.start();
  expect(whereIs(repo.place.root, SECRET)).toEqual([]);
  const person = await client(repo);
  expect((await person.notes.read({ note_id: leaked.note_id })).content).toContain("(purged)");
  person.close();
});

test("a person who committed on the old history in between: nothing is lost, and the next purge takes all of it", async () => {
  const repo = await purgeRepo();
  await story(repo);
  const wish = { values: [SECRET], fingerprints: [], note: null, apply: true };
  const around = { env: repo.env, cwd: repo.top, warn: () => {} };
  const cut = new Error("cut short");
  const cutShort = purge({ repo: repo.place.root }, around, wish, (step) => {
    if (step === "planned") throw cut;
  });
  await expect(cutShort).rejects.toBe(cut);
  await repo.save("notes/hand.md", "by hand\n");
  repo.git("add", "notes/hand.md");
  repo.git("commit", "-qm", "by hand");
  // Nothing of it had begun: it is given up.
  await (await repo.start()).stop();
  expect(await run(repo)).toMatchObject({ complete: true });
  expect(repo.git("show", "HEAD:notes/hand.md")).toBe("by hand");
  expect(whereIs(repo.place.root, SECRET)).toEqual([]);
  await repo.start();
});

test("doctor names a ref with which a person's fetch brought the old history back", async () => {
  const repo = await purgeRepo();
  const { git, place, env, top } = repo;
  await repo.save("notes/a.md", `${SECRET}\n`);
  git("add", ".");
  git("commit", "-qm", "a");
  const clone = join(top, "clone");
  git("clone", "-q", "--no-local", place.root, clone);
  await run(repo);
  const about = async () =>
    (await doctor({ repo: place.root }, { env, cwd: top, warn: () => {} })).filter(
      ({ name }) => name === "purge",
    );
  expect(await about()).toMatchObject([{ state: "ok" }]);
  git("fetch", "-q", clone, "main:refs/remotes/clone/main");
  expect(await about()).toMatchObject([
    { state: "bad", text: expect.stringContaining("refs/remotes/clone/main") },
  ]);
  expect(await run(repo)).toMatchObject({ complete: true, rewritten_commits: 1 });
  expect(await about()).toMatchObject([{ state: "ok" }]);
  expect(whereIs(place.root, SECRET)).toEqual([]);
});
