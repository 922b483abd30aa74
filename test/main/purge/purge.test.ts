import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { connect } from "../../../src/client/client.ts";
import { escapeSegment } from "../../../src/domain/note-path.ts";
import { findSecrets } from "../../../src/domain/secrets/secrets.ts";
import { purge } from "../../../src/main/purge/purge.ts";
import { purgedIds } from "../../../src/store/purge/purged-list.ts";
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

test("without apply it shows commits, notes, masked lines and refs, and changes nothing", async () => {
  const repo = await purgeRepo();
  const { leaked } = await story(repo);
  const before = repo.git("rev-parse", "HEAD");
  const found = await run(repo, { apply: false });
  expect(found).toMatchObject({
    dry_run: true,
    found: true,
    rewritten_commits: 3,
    complete: false,
    commits: {},
  });
  expect(found.first_commit).toBe(leaked.commit);
  expect(found.places).toContainEqual(
    expect.objectContaining({ note_id: leaked.note_id, commit: leaked.commit, text: "key: (purged)" }),
  );
  expect(found.messages).toContainEqual({
    commit: leaked.commit,
    subject: "create(general): The key (purged)",
  });
  expect(found.refs).toEqual([{ ref: "refs/heads/main", becomes: "rewritten", commits_only_here: 0 }]);
  expect(JSON.stringify(found)).not.toContain(SECRET);
  expect(repo.git("rev-parse", "HEAD")).toBe(before);
  expect(whereIs(repo.place.root, SECRET)).not.toEqual([]);
});

test("afterwards no object, log of a ref, cache or file holds it, and every other note is what it was", async () => {
  const repo = await purgeRepo();
  const { before, leaked, after, cursor } = await story(repo);
  const old = repo.git("rev-list", "HEAD").split("\n");
  const texts = ([one, two] = [before, after]) =>
    [one, two].map(({ path }) => repo.git("show", `HEAD:${path}`));
  const kept = texts();
  const report = await run(repo);
  expect(report).toMatchObject({ found: true, complete: true, proofs_lost: 0 });
  expect(whereIs(repo.place.root, SECRET)).toEqual([]);
  expect(repo.git("fsck", "--full", "--strict")).toBe("");
  expect(repo.git("status", "--porcelain")).toBe("");
  expect(texts()).toEqual(kept);
  // What came before keeps its id; each other one is in the map, and gone.
  expect(repo.git("rev-list", "HEAD").split("\n")).toContain(before.commit);
  for (const [from, to] of Object.entries(report.commits)) {
    expect(old).toContain(from);
    expect(repo.git("rev-list", "HEAD").split("\n")).toContain(to);
    expect(() => repo.git("cat-file", "-e", from)).toThrow();
    expect(purgedIds(repo.place.gitDir).has(from)).toBe(true);
  }
  expect(Object.keys(report.commits)).toHaveLength(3);
  const daemon = await repo.start();
  const agent = await client(repo, "planner");
  const person = await client(repo);
  const { metadata, content } = await agent.notes.read({ note_id: leaked.note_id });
  expect(metadata).toMatchObject({
    title: "The key (purged)",
    tags: ["(purged)"],
    trust: "agent",
    agent_name: "planner",
  });
  expect(content).toBe("first\nkey: (purged)(purged)\nmore\n");
  expect(await person.call("daemon.verify")).toMatchObject({ equal: true, problems: [] });
  // Identity, history and remembered requests stay; places of the old history are gone.
  const { entries } = await person.notes.history({ note_id: leaked.note_id });
  expect(entries.map(({ action, agent_name, trust }) => [action, agent_name, trust])).toEqual([
    ["update", "planner", "agent"],
    ["create", "planner", "agent"],
  ]);
  expect((await person.callAny("notes.blame", { note_id: leaked.note_id })) !== null).toBe(true);
  const gone = person.notes.changes({ since: cursor });
  await expect(gone).rejects.toMatchObject({
    code: "UNKNOWN_COMMIT",
    data: { resync_from: expect.any(String) },
  });
  const again = await agent.notes.create({ title: "x", content: "y\n" });
  expect(again.commit).toBe(repo.git("rev-parse", "HEAD"));
  for (const one of [agent, person]) one.close();
  await daemon.stop();
  expect(whereIs(repo.place.root, SECRET)).toEqual([]);
});

test("a request that was remembered before answers as replayed, with the new commit", async () => {
  const repo = await purgeRepo();
  const daemon = await repo.start();
  const agent = await client(repo, "planner");
  const first = { title: "Other", content: "text\n", idempotency_key: "k1" };
  await agent.notes.create({ title: "t", content: `${SECRET}\n` });
  const made = await agent.notes.create(first);
  agent.close();
  await daemon.stop();
  const report = await run(repo);
  await repo.start();
  const later = await client(repo, "planner");
  expect(await later.notes.create(first)).toMatchObject({
    replayed: true,
    note_id: made.note_id,
    commit: report.commits[made.commit],
  });
  later.close();
});

test("branches, tags, stashes, packed refs, a merge and what nothing reaches are all cleared", async () => {
  const repo = await purgeRepo();
  const { git, save } = repo;
  await save("notes/a.md", `one ${SECRET}\n`);
  git("add", ".");
  git("commit", "-qm", `add ${SECRET}`);
  git("tag", "-a", "v1", "-m", `release ${SECRET}`);
  git("tag", "light");
  git("checkout", "-qb", "side");
  await save("notes/b.md", "b\n");
  git("add", ".");
  git("commit", "-qm", "side");
  git("checkout", "-q", "main");
  await save("notes/c.md", "c\n");
  git("add", ".");
  git("commit", "-qm", "main");
  git("merge", "-q", "--no-ff", "-m", "both", "side");
  for (const n of [1, 2]) {
    await save("notes/c.md", `stash ${n} ${SECRET}\n`);
    git("stash", "push", "-q", "-m", `stash ${n}`);
  }
  git("commit", "-q", "--allow-empty", "-m", `lost ${SECRET}`);
  git("reset", "-q", "--hard", "HEAD~1");
  git("pack-refs", "--all");
  git("gc", "-q");
  git("update-ref", "refs/remotes/origin/main", "HEAD");
  await save("notes/staged.md", `staged ${SECRET}\n`);
  git("add", "notes/staged.md");
  const graph = () => git("log", "--graph", "--format=%s %an %ad", "main").replaceAll(SECRET, "(purged)");
  const before = graph();
  const report = await run(repo);
  expect(report.complete).toBe(false);
  // It is staged, and no commit holds it: only the working file is a person's to edit.
  expect(report.files.filter(({ done }) => done === "left").map(({ path }) => path)).toEqual([
    "notes/staged.md",
  ]);
  expect(whereIs(repo.place.root, SECRET)).toEqual([join(repo.place.root, "notes/staged.md")]);
  expect(git("fsck", "--full", "--strict")).toBe("");
  expect(graph()).toBe(before);
  expect(git("show", "HEAD:notes/a.md")).toBe("one (purged)");
  expect(git("cat-file", "tag", "v1")).toMatch(/release \(purged\)$/);
  expect(git("rev-parse", "v1^{commit}")).toBe(git("rev-parse", "light"));
  expect(git("stash", "list").split("\n")).toHaveLength(2);
  expect(git("show", "stash@{1}:notes/c.md")).toBe("stash 1 (purged)");
  expect(git("show", ":notes/staged.md")).toBe("staged (purged)");
  expect(report.refs).toContainEqual({
    ref: "refs/remotes/origin/main",
    becomes: "dropped",
    commits_only_here: 0,
  });
  expect(git("for-each-ref", "refs/remotes")).toBe("");
  await save("notes/staged.md", "staged\n");
  expect(await run(repo)).toMatchObject({ found: false, complete: true, commits: {} });
});

test("a conflict that is kept, a mark of reviews and a detached HEAD get the new history, a copy of an older one goes", async () => {
  const repo = await purgeRepo();
  const { git, save } = repo;
  await save("notes/a.md", `mine ${SECRET}\n`);
  git("add", ".");
  git("commit", "-qm", "a");
  const head = git("rev-parse", "HEAD");
  const side = (text: string) => repo.gitBytes(["hash-object", "-w", "--stdin"], text).toString().trim();
  const [theirs, note] = [
    side(`theirs ${SECRET}\n`),
    side('{"note_id":"n","path":"notes/a.md","since":"x"}\n'),
  ];
  const tree = repo
    .gitBytes(["mktree"], `100644 blob ${note}\tnote.json\n100644 blob ${theirs}\ttheirs\n`)
    .toString()
    .trim();
  const kept = git("commit-tree", tree, "-m", "conflict: notes/a.md");
  const folder = `refs/notesd/conflicts/${"c".repeat(40)}`;
  git("update-ref", `${folder}/${theirs}`, kept);
  git("update-ref", `refs/notesd/review/${"a".repeat(16)}`, head);
  git("commit", "-q", "--allow-empty", "-m", "nowhere else");
  git("update-ref", "refs/notesd/backup/0123456789abcdef", "HEAD");
  git("reset", "-q", "--hard", head);
  git("checkout", "-q", "--detach");
  const report = await run(repo);
  expect(report).toMatchObject({ complete: true });
  expect(report.refs.map(({ ref, becomes, commits_only_here: only }) => [ref, becomes, only])).toEqual([
    ["HEAD", "rewritten", 0],
    ["refs/heads/main", "rewritten", 0],
    [`${folder}/${theirs}`, "rewritten", 0],
    [`refs/notesd/review/${"a".repeat(16)}`, "rewritten", 0],
    ["refs/notesd/backup/0123456789abcdef", "dropped", 1],
  ]);
  const now = side("theirs (purged)\n");
  expect(git("for-each-ref", "--format=%(refname)", "refs/notesd").split("\n")).toEqual([
    `${folder}/${now}`,
    `refs/notesd/review/${"a".repeat(16)}`,
  ]);
  expect(git("show", `${folder}/${now}:theirs`)).toBe("theirs (purged)");
  expect(git("rev-parse", "HEAD")).toBe(report.commits[head]);
  expect(git("rev-parse", "main")).toBe(report.commits[head]);
  expect(git("status", "--porcelain")).toBe("");
  expect(git("fsck", "--full", "--strict")).not.toMatch(/missing|broken/);
  expect(whereIs(repo.place.root, SECRET)).toEqual([]);
  expect(readFileSync(report.map_file ?? "", "utf8")).toContain(`${head} ${report.commits[head]}\n`);
});

test("a key that became a path gets another one, with its id, wherever either is named", async () => {
  const repo = await purgeRepo();
  const key = `token ${SECRET}`;
  const path = `memory/workspace/${escapeSegment(key)}.md`;
  await repo.save(path, `---\ntitle: t\nscope: workspace\nkey: "${key}"\n---\n\nv\n`);
  await repo.save("notes/Secret.md", "x\n");
  repo.git("add", ".");
  repo.git("commit", "-qm", "by hand");
  const report = await run(repo);
  expect(report.complete).toBe(true);
  const to = `memory/workspace/${escapeSegment("token (purged)")}.md`;
  expect(report.places[0]).toMatchObject({ path: to, path_changes: true });
  expect(repo.git("ls-files").split("\n")).toContain(to);
  expect(existsSync(join(repo.place.root, path))).toBe(false);
  expect(readFileSync(join(repo.place.root, to), "utf8")).toContain('key: "token (purged)"');
  expect(repo.git("status", "--porcelain")).toBe("");
  expect(repo.git("log", "--all", "--name-only", "--format=")).not.toContain(
    escapeSegment(SECRET).slice(0, 20),
  );
});

test("a memory whose key held it is the memory of the key without it: the same note is updated by the next save", async () => {
  const repo = await purgeRepo();
  const daemon = await repo.start();
  const agent = await client(repo, "planner");
  const memory = { key: `login ${SECRET}`, value: "v1\n", scope: "agent" } as const;
  const made = await agent.notes.save(memory);
  await agent.notes.create({ title: "Link", content: `see [[${made.note_id}]]\n` });
  agent.close();
  await daemon.stop();
  expect(await run(repo)).toMatchObject({ complete: true });
  expect(repo.git("log", "-p", "--all")).not.toContain(made.note_id);
  const second = await repo.start();
  const later = await client(repo, "planner");
  const recalled = (await later.notes.recall({ scope: "agent" })).notes;
  expect(recalled).toMatchObject([{ key: "login (purged)", value: "v1\n", agent_name: "planner" }]);
  const saved = await later.notes.save({ ...memory, key: "login (purged)", value: "v2\n" });
  expect(saved).toMatchObject({ created: false, note_id: recalled[0]?.note_id });
  expect(repo.git("grep", "-h", "-F", "see [[")).toBe(`see [[${saved.note_id}]]`);
  later.close();
  const person = await client(repo);
  expect(await person.call("daemon.verify")).toMatchObject({ equal: true, problems: [] });
  const { entries } = await person.notes.history({ note_id: saved.note_id });
  expect(entries.map(({ action }) => action)).toEqual(["save", "save"]);
  person.close();
  await second.stop();
  expect(whereIs(repo.place.root, SECRET)).toEqual([]);
});

test("a secret is named by its fingerprint, so that nobody needs to type it", async () => {
  const repo = await purgeRepo();
  const token = ["ghp", "0123456789abcdefABCDEF0123456789abcd"].join("_");
  await repo.save("notes/a.md", `# A\n\ntoken ${token}\n`);
  repo.git("add", ".");
  repo.git("-c", "core.hooksPath=/dev/null", "commit", "-qm", "a");
  const text = readFileSync(join(repo.place.gitDir, "notesd/proof.key"), "utf8").trim();
  const [match] = await findSecrets(`token ${token}`, Buffer.from(text, "hex"));
  const named = { values: [], fingerprints: [match?.fingerprint ?? ""] };
  await expect(run(repo, { ...named, fingerprints: ["0".repeat(16)] })).rejects.toMatchObject({
    code: "NOT_FOUND",
  });
  expect(await run(repo, named)).toMatchObject({ complete: true, rewritten_commits: 1 });
  expect(whereIs(repo.place.root, token)).toEqual([]);
  expect(repo.git("show", "HEAD:notes/a.md")).toBe("# A\n\ntoken (purged)");
});

test("a whole note goes with every version, its titles and what was said of it", async () => {
  const repo = await purgeRepo();
  const daemon = await repo.start();
  const agent = await client(repo, "planner");
  const other = await agent.notes.create({ title: "Other", content: "stays\n" });
  const made = await agent.notes.create({
    title: "Private matter",
    content: "first\n",
    reason: "told me so",
  });
  await agent.notes.update({ note_id: made.note_id, content: "second private\n" });
  agent.close();
  await daemon.stop();
  await expect(run(repo, { values: [], note: "note_20200101_000000_aaaaaa" })).rejects.toMatchObject({
    code: "NOT_FOUND",
  });
  const report = await run(repo, { values: [], note: made.note_id });
  expect(report.complete).toBe(true);
  for (const text of ["Private matter", "second private", "told me so"])
    expect(whereIs(repo.place.root, text)).toEqual([]);
  expect(repo.git("fsck", "--full", "--strict")).toBe("");
  expect(existsSync(join(repo.place.root, String(made.path)))).toBe(false);
  await repo.start();
  const person = await client(repo);
  expect((await person.notes.list({})).notes.map(({ note_id }) => note_id)).toEqual([other.note_id]);
  expect(await person.call("daemon.verify")).toMatchObject({ equal: true, problems: [] });
  person.close();
});

test("while a daemon serves, with a merge open or a value that is a word, it is refused and nothing changes", async () => {
  const repo = await purgeRepo();
  const daemon = await repo.start();
  await expect(run(repo)).rejects.toMatchObject({ exit: 3 });
  await daemon.stop();
  await expect(run(repo, { values: ["the"] })).rejects.toMatchObject({ exit: 2 });
  await expect(run(repo, { values: [] })).rejects.toMatchObject({ exit: 2 });
  await repo.save(".git/MERGE_HEAD", `${repo.git("rev-parse", "HEAD")}\n`);
  await expect(run(repo)).rejects.toMatchObject({ exit: 7 });
});
