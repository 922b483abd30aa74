/** Repositories with many packs, and what native Git says of them. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { at, committed, draft } from "./drafts.ts";
import type { GitRepo } from "./git-repo.ts";
import type { StoreOnGit } from "./store-on-git.ts";

/** Files of the pack folder with one of these endings, or all. */
export function packFiles({ gitdir }: Pick<GitRepo, "gitdir">, ending = ""): string[] {
  return readdirSync(join(gitdir, "objects/pack"))
    .filter((file) => file.endsWith(ending))
    .sort();
}

/** `count` commits, each a pack of its own, with folders that make deltas and the same tree more than once. */
export async function grow(on: StoreOnGit, count: number, from = 0): Promise<void> {
  for (let n = from; n < from + count; n++) {
    const path = `notes/${n % 3}/n${n % 7}.md`;
    const tip = await on.store.tip();
    const blob = tip === null ? null : await on.store.blobAt(tip, at(path));
    const before = blob === null ? null : Buffer.from(await on.store.readBlob(blob)).toString();
    const text = n % 5 === 4 && before !== null ? null : `text ${n % 4}\n`;
    const chain = [
      draft(path, text, before),
      draft(`notes/again ${n}.md`, "once\n"),
      draft(`notes/again ${n}.md`, null, "once\n"),
    ];
    for (const outcome of (await on.store.commit(chain)).outcomes) committed(outcome);
  }
}

/** Native Git finds nothing wrong with any object, pack or idx. */
export function expectSound(repo: GitRepo): void {
  expect(repo.tryGit("fsck", "--strict", "--no-dangling", "--full")).toMatchObject({ status: 0 });
  for (const idx of packFiles(repo, ".idx"))
    expect(repo.tryGit("verify-pack", join(".git/objects/pack", idx))).toMatchObject({
      status: 0,
      stderr: "",
    });
}

/** Every object that the branch reaches, by id and path. */
export const reachable = (repo: GitRepo) => repo.git("rev-list", "--objects", "HEAD");
