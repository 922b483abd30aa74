/** How many publications are on the branch while their files or the Git index are not level yet. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Intent, openIntents } from "../commit/intents.ts";
import { readRef } from "../refs/refs.ts";

/**
 * @param gitdir absolute
 * @cost reads a few small files; asks native Git, which called us, only when the branch has moved on
 */
export async function publishedIntents(gitdir: string): Promise<number> {
  const open = openIntents(join(gitdir, "notesd"))
    .list()
    .filter(({ placed }) => !placed);
  const published = await Promise.all(open.map(({ intent }) => isPublished(gitdir, intent)));
  return published.filter((yes) => yes).length;
}

async function isPublished(gitdir: string, { ref, from, to }: Intent): Promise<boolean> {
  const tip = readRef(gitdir, ref);
  if (tip === null || tip === from) return false;
  if (tip === to) return true;
  try {
    await promisify(execFile)("git", ["--git-dir", gitdir, "merge-base", "--is-ancestor", to, tip]);
    return true;
  } catch {
    // Exit 1: another history; 128: its commit never became durable. Neither was published.
    return false;
  }
}
