import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { advanceContract } from "../contracts/advance.ts";
import { noteStoreContract, type StoreUnderTest } from "../contracts/note-store.ts";
import { plumbCommit, storeOnGit } from "../support/store-on-git.ts";

let clockS = 1_796_100_000;

async function open(): Promise<StoreUnderTest> {
  const { repo, store, save, text } = await storeOnGit();
  const mergeHead = join(repo.gitdir, "MERGE_HEAD");
  return {
    store,
    save,
    text,
    async personCommit(files, { parents, atMs, move = true } = {}) {
      clockS += 1;
      const tip = await store.tip();
      const id = plumbCommit(repo, files, parents ?? (tip === null ? [] : [tip]), atMs ?? clockS * 1000);
      if (move) repo.git("update-ref", "refs/heads/main", id);
      return id;
    },
    setMerging: (on) => (on ? writeFileSync(mergeHead, "12".repeat(20)) : rmSync(mergeHead)),
    close: () => store.close(),
  };
}

noteStoreContract("the store on Git", open);
advanceContract("the store on Git", open);
