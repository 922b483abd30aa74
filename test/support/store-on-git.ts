/** A store on a real repository in a temporary folder, with a person at native Git beside it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { CommitId } from "../../src/domain/note.ts";
import { type GitStore, type GitStoreOptions, openGitStore } from "../../src/store/git-store.ts";
import { type GitRepo, gitRepo } from "./git-repo.ts";
import { saveFile } from "./save-file.ts";

export interface StoreOnGit {
  readonly repo: GitRepo;
  store: GitStore;
  save(path: string, content: string | Uint8Array | null): void;
  text(path: string): string | null;
  reopen(options?: Partial<GitStoreOptions>): Promise<GitStore>;
}

export function textOf(root: string, path: string): string | null {
  try {
    return readFileSync(join(root, path), "utf8");
  } catch {
    return null;
  }
}

/** `core.trustctime=false` is what `init` sets: placing a file by link changes its ctime. */
export async function storeOnGit(options: Partial<GitStoreOptions> = {}): Promise<StoreOnGit> {
  const repo = gitRepo();
  repo.git("config", "core.trustctime", "false");
  repo.git("config", "core.fsync", "none");
  repo.git("config", "gc.auto", "0");
  const open = (more: Partial<GitStoreOptions> = {}) =>
    openGitStore({
      root: repo.root,
      gitdir: repo.gitdir,
      branch: "main",
      roots: ["notes", "memory"],
      proofKey: new Uint8Array(32),
      lockWaitMs: 2_000,
      besideGitMs: 0,
      ...options,
      ...more,
    });
  const on: StoreOnGit = {
    repo,
    store: await open(),
    save: (path, content) => saveFile(repo.root, path, content),
    text: (path) => textOf(repo.root, path),
    async reopen(more) {
      on.store = await open(more);
      return on.store;
    },
  };
  return on;
}

/** Write a commit with `git fast-import`, so that working files and Git index stay as they are. */
export function plumbCommit(
  { git, gitBytes }: GitRepo,
  files: Readonly<Record<string, string | null>>,
  parents: readonly CommitId[],
  atMs: number,
): CommitId {
  const who = `A Person <person@example.org> ${Math.floor(atMs / 1000)} +0000`;
  const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`;
  const lines = [
    "reset refs/plumbing/made\n\n",
    "commit refs/plumbing/made\n",
    `author ${who}\ncommitter ${who}\n${data("by hand\n")}`,
    ...parents.map((parent, n) => `${n === 0 ? "from" : "merge"} ${parent}\n`),
    ...Object.entries(files).map(([path, text]) =>
      text === null ? `D ${path}\n` : `M 100644 inline ${path}\n${data(text)}`,
    ),
  ];
  gitBytes(["fast-import", "--quiet", "--force"], lines.join(""));
  const id = git("rev-parse", "refs/plumbing/made");
  git("update-ref", "-d", "refs/plumbing/made");
  return id as CommitId;
}
