import { expect, test } from "vitest";
import { committed, draft } from "../../support/drafts.ts";
import { storeOnGit } from "../../support/store-on-git.ts";

test("a branch that was renamed or deleted is an error to writes and to a start, and no second history begins", async () => {
  const on = await storeOnGit();
  committed((await on.store.commit([draft("notes/a.md", "a\n")])).outcomes[0]);
  on.repo.git("branch", "-m", "main", "trunk");
  const gone = { code: "STORAGE", message: expect.stringContaining("main is gone") };
  await expect(on.store.commit([draft("notes/b.md", "b\n")])).rejects.toMatchObject(gone);
  await on.store.close();
  await expect(on.reopen()).rejects.toMatchObject(gone);
  expect(on.repo.git("for-each-ref", "--format=%(refname)")).toBe("refs/heads/trunk");
  on.repo.git("branch", "-m", "trunk", "main");
  const store = await on.reopen();
  committed((await store.commit([draft("notes/b.md", "b\n")])).outcomes[0]);
  expect(on.repo.git("rev-list", "--count", "main")).toBe("2");
  await store.close();
});
