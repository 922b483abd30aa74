/**
 * A new repository without Git: sha1 objects, refs as files, whatever the machine's defaults are, with one
 * first commit. What a note repository needs beside this is `main/init.ts`.
 */
import fs from "node:fs";
import { mkdir, open, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Author } from "../domain/event.ts";
import type { CommitId } from "../domain/note.ts";
import { appendReflog, reflogLine } from "./refs/reflog.ts";
import { withStorageErrors } from "./storage-error.ts";

interface NewRepository {
  /** Absolute folder of the working tree; it exists and has no `.git`. */
  readonly dir: string;
  readonly branch: string;
  /** Files of the first commit, by name at the top; none of them exists yet. */
  readonly files: Readonly<Record<string, string>>;
  readonly subject: string;
  readonly author: Author;
  readonly committer: Author;
  /** Milliseconds since the epoch. */
  readonly atMs: number;
}

const CONFIG = `[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
\tlogallrefupdates = true
`;

/**
 * Make it, durable on return.
 * @returns the first commit
 * @throws NotesError STORAGE what the disk refused
 */
export function createRepository(wish: NewRepository): Promise<CommitId> {
  return withStorageErrors("making the repository", async () => {
    const { dir, branch, author, committer, atMs } = wish;
    const gitdir = join(dir, ".git");
    for (const folder of ["objects/info", "objects/pack", "refs/heads", "refs/tags", "info", "hooks"]) {
      await mkdir(join(gitdir, folder), { recursive: true });
    }
    await writeFile(join(gitdir, "config"), CONFIG);
    await writeFile(join(gitdir, "info/exclude"), "");
    for (const [name, text] of Object.entries(wish.files)) {
      await writeFile(join(dir, name), text, { flag: "wx" });
    }
    // HEAD is what makes the folder a repository, so it comes last.
    await writeFile(join(gitdir, "HEAD"), `ref: refs/heads/${branch}\n`);
    const git = await isomorphicGit();
    for (const filepath of Object.keys(wish.files)) await git.add({ fs, dir, filepath });
    const at = { timestamp: Math.floor(atMs / 1000), timezoneOffset: 0 };
    const id = await git.commit({
      fs,
      dir,
      message: `${wish.subject}\n`,
      author: { ...author, ...at },
      committer: { ...committer, ...at },
    });
    const commit = id as CommitId; // isomorphic-git answers the id in 40 hex digits
    const line = reflogLine({
      from: null,
      to: commit,
      ...committer,
      atMs,
      message: `commit (initial): ${wish.subject}`,
    });
    for (const ref of ["HEAD", `refs/heads/${branch}`]) appendReflog(gitdir, ref, line);
    await syncTree(gitdir);
    await syncTree(dir, Object.keys(wish.files));
    return commit;
  });
}

/** Make every file below a folder (or only those named) durable, and the folders themselves. */
async function syncTree(folder: string, only?: readonly string[]): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (only && !only.includes(entry.name)) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await syncTree(path);
    else await sync(path);
  }
  await sync(folder);
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Every path in the Git index of a working tree; an unreadable index is an error. */
export function trackedPaths(dir: string, gitdir: string): Promise<string[]> {
  return withStorageErrors("reading the Git index", async () =>
    (await isomorphicGit()).listFiles({ fs, dir, gitdir }),
  );
}

/** Loaded where it is used: a start uses none of it. */
const isomorphicGit = async () => (await import("isomorphic-git")).default;
