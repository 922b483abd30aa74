/**
 * What the store is asked to do while the file system fails: each scenario begins on a repository of its own and
 * moves the branch at most once. The drafts are the same in every process that makes them.
 */
import "./fs-tap.ts";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { GitStore, GitStoreOptions } from "../../../src/store/git-store.ts";
import { openGitStore } from "../../../src/store/git-store.ts";
import type { Draft, KeptConflict, Publication } from "../../../src/store/note-store.ts";
import { upkeepThread } from "../../../src/store/objects/upkeep-thread.ts";
import { at, blobOf, draft } from "../drafts.ts";
import { GIT_ENV } from "../git-env.ts";
import { saveFile } from "../save-file.ts";

/** What stands in the repository before: files by path. */
export const STANDING: Readonly<Record<string, string>> = {
  "notes/a.md": "a1\n",
  "notes/c.md": "c1\n",
  "notes/d.md": "d1\n",
  "notes/deep/er/e.md": "e1\n",
};

export interface Scenario {
  readonly name: string;
  /** Nothing is committed yet, and HEAD's branch is unborn. */
  readonly unborn?: boolean;
  /** Done by a person after the standing commits, with the store closed. */
  readonly before?: (root: string) => void;
  /** The group to be committed; none for what only looks after the repository. */
  readonly drafts: () => Draft[];
  /** How many of the drafts become commits. */
  readonly commits: number;
  /** What the store does; by default it commits the drafts. */
  readonly act?: (store: GitStore, root: string) => Promise<Publication | null>;
  /** Called at each step of the commit. */
  readonly onStep?: (root: string) => NonNullable<GitStoreOptions["onStep"]>;
  /** What `git status` says while the group doesn't stand; nothing when left out, as it always does when it stands. */
  readonly unfinished?: readonly string[];
}

export function git(root: string, ...args: string[]): string {
  return execFileSync("git", args, {
    cwd: root,
    env: GIT_ENV,
    encoding: "utf8",
    maxBuffer: 1 << 28,
  }).trimEnd();
}

const conflict: KeptConflict = {
  note_id: "note_20261130_101500_k3vq7a",
  path: at("notes/a.md"),
  base: null,
  ours: blobOf("a1\n"),
  theirs: blobOf("theirs\n"),
  since: "2026-11-30T10:15:00.000Z",
};

export const SCENARIOS: readonly Scenario[] = [
  { name: "a note is created", commits: 1, drafts: () => [draft("notes/new/b.md", "b1\n")] },
  { name: "a note is updated", commits: 1, drafts: () => [draft("notes/a.md", "a2\n", "a1\n")] },
  {
    name: "the last note of a folder is deleted",
    commits: 1,
    drafts: () => [draft("notes/deep/er/e.md", null, "e1\n")],
  },
  {
    name: "a person's save is adopted",
    commits: 1,
    before: (root) => saveFile(root, "notes/d.md", "d by hand\n"),
    drafts: () => [draft("notes/d.md", "d by hand\n", "d1\n", { origin: "disk" })],
    unfinished: [" M notes/d.md"],
  },
  {
    name: "several writes come at once, one of them stale",
    commits: 5,
    before: (root) => saveFile(root, "notes/d.md", "d by hand\n"),
    drafts: () => [
      draft("notes/a.md", "a2\n", "a1\n"),
      draft("notes/c.md", "stale\n", "c0\n"),
      draft("notes/new/b.md", `b1\n${"long ".repeat(2_000)}\n`),
      draft("notes/d.md", "d by hand\n", "d1\n", { origin: "disk" }),
      draft("notes/a.md", "a3\n", "a2\n"),
      draft("notes/moved.md", null, null, {
        files: [
          { path: at("notes/c.md"), expected: blobOf("c1\n"), bytes: null },
          { path: at("notes/moved/c.md"), expected: null, bytes: Buffer.from("c1\n") },
        ],
      }),
    ],
    unfinished: [" M notes/d.md"],
  },
  {
    name: "the first commit of an unborn branch is made",
    unborn: true,
    commits: 2,
    drafts: () => [draft("notes/a.md", "a1\n"), draft("notes/b.md", "b1\n")],
  },
  {
    name: "HEAD is at another branch",
    commits: 2,
    before: (root) => void git(root, "checkout", "-q", "-b", "aside"),
    drafts: () => [draft("notes/a.md", "a2\n", "a1\n"), draft("notes/b.md", "b1\n")],
  },
  {
    name: "a person's commit wins the race and the group is built again",
    commits: 2,
    drafts: () => [draft("notes/a.md", "a2\n", "a1\n"), draft("notes/b.md", "b1\n")],
    onStep: (root) => {
      let won = false;
      return (step) => {
        if (step !== "packed" || won) return;
        won = true;
        git(root, "commit", "-q", "--allow-empty", "-m", "a person's");
      };
    },
  },
  {
    name: "a conflict is kept, and dropped with the write that resolves it",
    commits: 1,
    drafts: () => [draft("notes/a.md", "both\n", "a1\n")],
    async act(store) {
      await store.keepConflict(conflict, Buffer.from("theirs\n"));
      const publication = await store.commit(this.drafts());
      await store.dropConflicts(conflict.note_id);
      return publication;
    },
  },
  {
    name: "small packs are put together",
    commits: 0,
    drafts: () => [],
    async before(root) {
      for (let n = 0; n < 24; n++) {
        writeFileSync(join(root, "notes/packed.md"), `packed ${n}\n`);
        git(root, "add", "-A");
        git(root, "commit", "-q", "-m", `packed ${n}`);
        git(root, "repack", "-q");
      }
    },
    async act(_store, root) {
      const gitdir = join(root, ".git");
      await upkeepThread().run({ kind: "merge", gitdir, effort: "quiet", leave: [], looseAtMs: null });
      return null;
    },
  },
  {
    name: "files are brought forward after a person moved the branch without them",
    commits: 0,
    drafts: () => [],
    before(root) {
      const blob = execFileSync("git", ["hash-object", "-w", "--stdin"], {
        cwd: root,
        env: GIT_ENV,
        input: "a by reference\n",
        encoding: "utf8",
      }).trim();
      const lines = git(root, "ls-tree", "-r", "HEAD").split("\n");
      const index = join(root, ".git/plumbing");
      const env = { ...GIT_ENV, GIT_INDEX_FILE: index };
      const run = (input: string, ...args: string[]) =>
        execFileSync("git", args, { cwd: root, env, input, encoding: "utf8" }).trim();
      run(
        lines
          .map((line) => (line.endsWith("\tnotes/a.md") ? `100644 blob ${blob}\tnotes/a.md` : line))
          .join("\n"),
        "update-index",
        "--index-info",
      );
      const commit = run("", "commit-tree", "-p", "HEAD", "-m", "by reference", run("", "write-tree"));
      execFileSync("rm", [index]);
      git(root, "update-ref", "refs/heads/main", commit);
    },
    unfinished: ["M  notes/a.md", " M notes/a.md", ""],
    async act(store) {
      await store.workTree.bringForward(at("notes/a.md"), blobOf("a by reference\n"), blobOf("a1\n"));
      return null;
    },
  },
];

export function scenario(name: string): Scenario {
  const found = SCENARIOS.find((one) => one.name === name);
  if (found === undefined) throw new Error(`no scenario is called ${name}`);
  return found;
}

/** The store of a scenario's repository. */
export function openFor(
  { onStep }: Scenario,
  root: string,
  more: Partial<GitStoreOptions> = {},
): Promise<GitStore> {
  return openGitStore({
    root,
    gitdir: join(root, ".git"),
    branch: "main",
    roots: ["notes", "memory"],
    proofKey: new Uint8Array(32),
    lockWaitMs: 300,
    besideGitMs: 0,
    ...(onStep === undefined ? {} : { onStep: onStep(root) }),
    ...more,
  });
}

/** What a scenario does with its open store; null: it commits nothing. */
export async function act(one: Scenario, store: GitStore, root: string): Promise<Publication | null> {
  return one.act === undefined ? store.commit(one.drafts()) : one.act(store, root);
}
