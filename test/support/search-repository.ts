/** What is anywhere in a Git directory: in its objects, reachable or not, and in the files beside them. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type GitRepo, repoAt } from "./git-repo.ts";

type Place = Pick<GitRepo, "root" | "gitdir">;

/** Everything that lies there, each with where: `blob <id>`, or a file relative to the Git directory. */
export function* everythingIn({ root, gitdir }: Place): Generator<readonly [string, Buffer]> {
  const all = repoAt(root).gitBytes(["cat-file", "--batch-all-objects", "--unordered", "--batch"]);
  for (let at = 0; at < all.length; ) {
    const end = all.indexOf(0x0a, at);
    const [id = "", type = "", size = ""] = all.toString("latin1", at, end).split(" ");
    yield [`${type} ${id}`, all.subarray(end + 1, end + 1 + Number(size))];
    at = end + 2 + Number(size);
  }
  for (const entry of readdirSync(gitdir, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    yield [file.slice(gitdir.length + 1), readFileSync(file)];
  }
}

/** Where a text is; nowhere is what most tests hope for. */
export const placesOf = (repo: Place, text: string): string[] =>
  [...everythingIn(repo)].flatMap(([place, bytes]) => (bytes.includes(text) ? [place] : []));
