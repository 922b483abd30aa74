import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { CommitId } from "../../../src/domain/note.ts";
import { readRef } from "../../../src/store/refs/refs.ts";
import { nativeRemote } from "../../../src/store/remote/native-remote.ts";
import { GIT_ENV } from "../../support/git-env.ts";
import { gitRepo, repoAt, temporaryFolder } from "../../support/git-repo.ts";

const KEPT = "refs/notesd/remotes/0";

test("what a fetch brought counts, not what was listed before it", async () => {
  const there = gitRepo();
  there.git("commit", "-q", "--allow-empty", "-m", "first");
  const top = temporaryFolder();
  const here = repoAt(join(top, "here"));
  mkdirSync(here.root);
  here.git("init", "-q", "-b", "main", ".");
  // A Git in whose back somebody pushes after the refs were listed.
  const real = here.tryGit("--exec-path").stdout.trim();
  const moved = `GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@x GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@x`;
  writeFileSync(
    join(top, "git"),
    `#!/bin/sh\n'${real}/git' "$@" || exit\nfor word in "$@"; do if [ "$word" = ls-remote ]; then ${moved} '${real}/git' -C '${there.root}' commit -q --allow-empty -m second >&2; fi; done\n`,
  );
  chmodSync(join(top, "git"), 0o755);
  const remote = nativeRemote({
    purged: () => new Set(),
    ...{ gitdir: here.gitdir, url: there.root, branch: "main", shown: "there", kept: KEPT, limitMs: 60_000 },
    env: { ...GIT_ENV, PATH: `${top}:${GIT_ENV.PATH}` },
    read: (ref) => readRef(here.gitdir, ref),
    isCommit: (id: CommitId) => here.tryGit("cat-file", "-e", id).status === 0,
  });
  const { refs } = await remote.fetch();
  expect(there.git("log", "--format=%s")).toBe("second\nfirst");
  expect(refs.branch).toBe(there.git("rev-parse", "HEAD"));
  expect(here.git("rev-parse", `${KEPT}/branch`)).toBe(refs.branch);
});
