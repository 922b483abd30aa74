import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { purge } from "../../../src/main/purge/purge.ts";
import { type PurgeRepo, purgeRepo, SECRET, whereIs } from "../../support/purge-repo.ts";

const run = ({ place, env, top }: PurgeRepo) =>
  purge(
    { repo: place.root },
    { env, cwd: top, warn: () => {} },
    { values: [SECRET, `${SECRET}OTHER`], fingerprints: [], note: null, apply: true },
  );

test("names that differ only in what is purged are the same in tree, index and on disk, and an untouched name stays", async () => {
  const repo = await purgeRepo();
  const files = {
    [`notes/x-${SECRET}.md`]: "one\n",
    [`notes/x-${SECRET}OTHER.md`]: "two\n",
    "notes/x-purged.md": "innocent\n",
  };
  for (const [path, text] of Object.entries(files)) await repo.save(path, text);
  repo.git("add", ".");
  repo.git("commit", "-qm", "by hand");
  await repo.save(`notes/y-${SECRET}.md`, "staged\n");
  await repo.save("notes/y-purged.md", "staged too\n");
  repo.git("add", ".");
  await run(repo);
  const paths = repo.git("ls-tree", "-r", "--name-only", "HEAD", "notes").split("\n");
  expect(paths).toHaveLength(3);
  expect(repo.git("show", "HEAD:notes/x-purged.md")).toBe("innocent");
  for (const path of paths) {
    expect(`${repo.git("show", `HEAD:${path}`)}\n`).toBe(readFileSync(join(repo.place.root, path), "utf8"));
    expect(repo.git("rev-parse", `:${path}`)).toBe(repo.git("rev-parse", `HEAD:${path}`));
  }
  expect(existsSync(join(repo.place.root, `notes/x-${SECRET}.md`))).toBe(false);
  expect(repo.git("show", ":notes/y-purged.md")).toBe("staged too");
  expect(repo.git("show", ":notes/y-purged-2.md")).toBe("staged");
  expect(repo.git("diff", "--cached", "--name-status").split("\n")).toEqual([
    "A\tnotes/y-purged-2.md",
    "A\tnotes/y-purged.md",
  ]);
  repo.git("commit", "-qm", "a person's next");
  for (const path of paths) expect(repo.git("ls-tree", "--name-only", "HEAD", path)).toBe(path);
  expect(whereIs(join(repo.place.root), SECRET)).toEqual([join(repo.place.root, `notes/y-${SECRET}.md`)]);
});
