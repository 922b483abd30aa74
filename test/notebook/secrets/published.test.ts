/** What others' commits bring is in history already: it is told where people look, for as long as the note holds it. */
import { afterEach, expect, test } from "vitest";
import type { BlobId, RepoPath } from "../../../src/domain/note.ts";
import type { NoteChange } from "../../../src/index/note-index.ts";
import { allowedSecrets } from "../../../src/notebook/secrets/allowed.ts";
import { publishedSecrets } from "../../../src/notebook/secrets/published.ts";
import { secretGuard } from "../../../src/notebook/secrets/secret-guard.ts";
import { gitRepo } from "../../support/git-repo.ts";
import { asInitLeavesIt, type NotebookOnGit, notebookOnGit } from "../../support/notebook-on-git.ts";
import { saveFile } from "../../support/save-file.ts";
import { secretSpecimens } from "../../support/secret-specimens.ts";
import { until } from "../../support/wait.ts";

let on: NotebookOnGit | null = null;
afterEach(async () => {
  await on?.close();
  on = null;
});

test("a secret in a person's commit is told by line and fingerprint, until the note is without or it is allowed", async () => {
  const repo = gitRepo();
  asInitLeavesIt(repo);
  const text = secretSpecimens()[0]?.text ?? "";
  const commit = (path: string, content: string) => {
    saveFile(repo.root, path, content);
    repo.git("add", "-A");
    repo.git("commit", "-q", "-m", "by hand");
  };
  commit("notes/first.md", `old ${text}\n`);
  const opened = await notebookOnGit(repo);
  on = opened;
  const reported = async () => (await opened.notebook.status()).reported;
  const look = () => opened.driven(opened.disk.headMoved());

  // What was there before this daemon saw it is not looked through, nor what a commit leaves in it.
  commit("notes/first.md", `old ${text}, and more\n`);
  commit("notes/keys.md", `# Keys\n\n${text}\n`);
  await look();
  await until("the report", async () => (await reported()).length > 0);
  const [{ path, reason }] = (await reported()) as [{ path: string; reason: string }];
  expect([path, reason]).toEqual([
    "notes/keys.md",
    expect.stringMatching(/^line 3 .*\(github-token, fingerprint/),
  ]);
  expect(reason + opened.warnings.join()).not.toContain(text);
  expect(opened.warnings.join()).toMatch(
    /a note that came in holds what looks like a secret .*notes\/keys\.md/,
  );

  const fingerprint = /notesd allow ([0-9a-f]{16})/.exec(reason)?.[1] ?? "";
  const allowed = allowedSecrets(`${repo.gitdir}/notesd`, () => 0);
  allowed.add(fingerprint, "Ann");
  expect(await reported()).toEqual([]);
  await allowed.remove(fingerprint);
  expect(await reported()).toHaveLength(1);

  commit("notes/keys.md", "# Keys\n\nsee the vault\n");
  await look();
  await until("no report", async () => (await reported()).length === 0);
  expect(await reported()).toEqual([]);
});

test("however many are reported, what is allowed is read once", async () => {
  const guard = secretGuard("/nowhere/notesd", new Uint8Array(32), () => 0);
  let reads = 0;
  const list = () => {
    reads++;
    return [];
  };
  const has = (fingerprint: string) => list().includes(fingerprint as never);
  const store = { readBlob: async () => Buffer.from(secretSpecimens()[0]?.text ?? "") };
  const published = publishedSecrets(
    { ...guard, allowed: { ...guard.allowed, list, has, noteRefusal: () => {} } },
    store,
    () => {},
  );
  const came = (i: number) =>
    // No more of a change is read.
    ({ path: `notes/${i}.md` as RepoPath, revision: "1".repeat(40) as BlobId, before: null }) as NoteChange;
  published.came([came(1), came(2), came(3)]);
  await until("three reports", () => published.reported().length === 3);
  reads = 0;
  expect(published.reported()).toHaveLength(3);
  expect(reads).toBe(1);
  await published.stop();
});
