/**
 * People who save what they should not, beside agents, syncs, renames, checkouts and restarts, at random. After each
 * step no secret that nobody let pass is anywhere in the Git directory; at the end, with the secrets taken out, every line
 * that anybody wrote and nobody took away is on the branch, in a kept conflict or on the disk.
 */
import { existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { NotesError } from "../../src/domain/errors.ts";
import type { CommitId, NoteId } from "../../src/domain/note.ts";
import { allowedSecrets } from "../../src/notebook/secrets/allowed.ts";
import { fakeClock } from "../support/fake-clock.ts";
import { gitRepo, repoAt, temporaryFolder } from "../support/git-repo.ts";
import { asInitLeavesIt, notebookOnGit } from "../support/notebook-on-git.ts";
import { wholeFrom } from "../support/random.ts";
import { saveFile } from "../support/save-file.ts";
import { everythingIn } from "../support/search-repository.ts";
import { TOKEN, tokenFingerprint, tokenOf } from "../support/secrets.ts";

const NAMES = Array.from({ length: 6 }, (_, i) => `notes/d${i % 2}/n${i}.md`);
const tokensIn = (text: string) => text.match(/<\w+>/g) ?? [];

/** @returns how often what was done, for whoever wonders whether a walk tries anything */
export async function walkWithSecrets(seed: number, steps: number): Promise<Record<string, number>> {
  const pick = wholeFrom(seed);
  const repo = gitRepo();
  asInitLeavesIt(repo);
  repo.git("config", "user.name", "Ann");
  repo.git("config", "user.email", "ann@example.org");
  const allowed = allowedSecrets(join(repo.gitdir, "notesd"), Date.now);
  const isAllowed = (value: string) => allowed.has(tokenFingerprint(value));
  let on = await notebookOnGit(repo, fakeClock(), "relaxed");
  await on.driven(on.disk.scanAll("start"));
  const owed = new Set<string>();
  const done: Record<string, number> = {};
  let serial = 0;

  const isUnborn = () => repo.tryGit("rev-parse", "-q", "--verify", "main").status !== 0;
  const oneOf = <T>(all: readonly T[]): T | undefined => all[pick(all.length)];
  const lying = (path: string) =>
    existsSync(join(repo.root, path)) ? readFileSync(join(repo.root, path), "utf8") : null;
  const newLine = () => {
    const token = `<t${seed}x${serial++}>`;
    owed.add(token);
    return `line ${token}`;
  };
  const isTaken = (error: unknown) =>
    error instanceof NotesError && ["CONFLICT", "REPO_BUSY", "NOT_FOUND"].includes(error.code);
  const orRefused = async (work: Promise<unknown>) => {
    try {
      await work;
    } catch (error) {
      if (!isTaken(error)) throw error;
      done["refused"] = (done["refused"] ?? 0) + 1;
    }
  };

  /** A person who knows what lies there writes something else. */
  function save(path: string, text: string | null): void {
    const kept = new Set(tokensIn(text ?? ""));
    for (const token of tokensIn(lying(path) ?? "")) if (!kept.has(token)) owed.delete(token);
    saveFile(repo.root, path, text);
  }
  function insert(path: string, line: string): void {
    const lines = (lying(path) ?? `# ${path}\n`).split("\n");
    lines.splice(1 + pick(lines.length), 0, line);
    save(path, lines.join("\n"));
  }

  const ways: Record<string, () => unknown> = {
    "a line": () => insert(oneOf(NAMES) ?? "", newLine()),
    "a secret": () => insert(oneOf(NAMES) ?? "", `${newLine()} ${tokenOf(`s${seed}n${serial}`)}`),
    "an old secret in another file": () => {
      const [value] = [...(lying(oneOf(NAMES) ?? "") ?? "").matchAll(TOKEN)][0] ?? [];
      if (value !== undefined) insert(oneOf(NAMES) ?? "", `${newLine()} ${value}`);
    },
    "the secrets out": () => {
      const path = oneOf(NAMES) ?? "";
      const text = lying(path);
      if (text !== null) saveFile(repo.root, path, text.replace(TOKEN, "gone"));
    },
    "a file away": () => {
      if (pick(2) === 0) save(oneOf(NAMES) ?? "", null);
    },
    "a rename": () => {
      const [from = "", to = ""] = [oneOf(NAMES), oneOf(NAMES)];
      if (lying(from) === null || lying(to) !== null) return;
      mkdirSync(dirname(join(repo.root, to)), { recursive: true });
      renameSync(join(repo.root, from), join(repo.root, to));
      if (pick(2) === 0) insert(to, `${newLine()} ${tokenOf(`s${seed}n${serial}`)}`);
    },
    "let pass": async () => {
      const edit = oneOf((await on.notebook.status()).held);
      const match = edit === undefined ? undefined : oneOf(edit.matches);
      if (!match) return;
      allowed.add(match.fingerprint, "Ann");
      await on.driven(on.disk.headMoved());
    },
    time: () => on.settle(),
    "a hint": () => on.driven(on.disk.hint([oneOf(NAMES) ?? ""])),
    "notesd commit": () => orRefused(on.driven(on.notebook.settle())),
    async agent() {
      const { items } = on.notebook.list({
        filter: {},
        viewer: { kind: "person" },
        limit: 100,
        cursor: null,
      });
      const noteId = oneOf(items)?.note_id as NoteId | undefined;
      if (noteId === undefined) return;
      const token = newLine();
      const refusedBefore = done["refused"];
      await orRefused(on.change({ kind: "append", noteId, content: `${token}\n` }));
      if (done["refused"] !== refusedBefore) for (const one of tokensIn(token)) owed.delete(one);
    },
    async "what comes in"() {
      if (isUnborn()) return;
      const folder = temporaryFolder();
      repo.git("clone", "-q", "-b", "main", repo.root, folder);
      const clone = repoAt(folder);
      const path = oneOf(NAMES) ?? "";
      const text = clone.tryGit("show", `HEAD:${path}`);
      const line = newLine();
      saveFile(folder, path, `${text.status === 0 ? text.stdout : `# ${path}\n`}${line}\n`);
      clone.git("add", "-A");
      clone.git("-c", "user.name=P", "-c", "user.email=p@x", "commit", "-q", "-m", "theirs");
      repo.git("fetch", "-q", folder, "HEAD");
      const theirs = repo.git("rev-parse", "FETCH_HEAD") as CommitId;
      const refusedBefore = done["refused"];
      const author = { name: "P", email: "p@x" };
      await orRefused(on.driven(on.notebook.join(theirs, { author, via: "sync", reason: null })));
      if (done["refused"] !== refusedBefore) for (const one of tokensIn(line)) owed.delete(one);
    },
    async "another branch, and back"() {
      if (isUnborn()) return;
      repo.git("checkout", "-q", "-B", "aside");
      await on.driven(on.disk.headMoved());
      repo.git("checkout", "-q", "main");
      await on.driven(on.disk.headMoved());
    },
    async "a restart"() {
      on = await on.reopen();
      await on.driven(on.disk.scanAll("start"));
    },
  };
  const often = [
    ...Object.keys(ways),
    ...[
      "a line",
      "a line",
      "a secret",
      "a secret",
      "the secrets out",
      "time",
      "time",
      "time",
      "agent",
      "agent",
    ],
    ...["what comes in", "a hint"],
  ];

  /** Nothing that nobody let pass is in the repository. */
  function check(what: string): void {
    for (const [place, bytes] of everythingIn(repo)) {
      const values = bytes.toString("latin1").match(TOKEN) ?? [];
      expect(
        values.filter((value) => !isAllowed(value)),
        `${what}: ${place}`,
      ).toEqual([]);
    }
  }

  for (let step = 0; step < steps; step++) {
    const way = oneOf(often) ?? "time";
    done[way] = (done[way] ?? 0) + 1;
    await ways[way]?.();
    check(`seed ${seed}, step ${step}, ${way}`);
  }
  done["held at the end"] = (await on.notebook.status()).held.length;
  for (const path of NAMES) {
    const text = lying(path);
    if (text !== null) saveFile(repo.root, path, text.replace(TOKEN, "gone"));
  }
  for (let times = 0; times < 3; times++) await on.settle();
  check(`seed ${seed}, at the end`);
  expect((await on.notebook.status()).held).toEqual([]);
  expect(on.notebook.held().filter(({ why }) => why !== "conflict")).toEqual([]);
  const found = new Set(NAMES.flatMap((path) => tokensIn(lying(path) ?? "")));
  const reachable = repo.git("rev-list", "--objects", "--all").split("\n");
  const ids = reachable.map((line) => line.slice(0, 40)).join("\n");
  for (const token of tokensIn(String(repo.gitBytes(["cat-file", "--batch"], ids)))) found.add(token);
  expect([...owed].filter((token) => !found.has(token))).toEqual([]);
  expect(on.warnings.join("\n")).not.toMatch(TOKEN);
  expect(await on.notebook.verify()).toMatchObject({ equal: true });
  await on.close();
  return done;
}
