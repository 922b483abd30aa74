import { describe, expect, test } from "vitest";
import { advanceContract } from "../../contracts/advance.ts";
import { noteStoreContract, type StoreUnderTest } from "../../contracts/note-store.ts";
import { committed, draft } from "../drafts.ts";
import { openMemoryStore } from "./memory-store.ts";

async function open(): Promise<StoreUnderTest> {
  const store = openMemoryStore();
  return {
    store,
    save: store.person.save,
    text: store.person.text,
    personCommit: async (files, options) => store.person.commit(files, options),
    setMerging: (on) => store.person.setState(on ? { state: "merge", path: "MERGE_HEAD" } : null),
    close: () => store.close(),
  };
}

noteStoreContract("the memory store", open);
advanceContract("the memory store", open);

describe("the memory store", () => {
  test("leaves the files alone while HEAD is elsewhere", async () => {
    const store = openMemoryStore();
    store.person.setState({ state: "elsewhere", path: "HEAD", at: "refs/heads/other" });
    committed((await store.commit([draft("notes/a.md", "a\n")])).outcomes[0]);
    expect(store.person.text("notes/a.md")).toBeNull();
    expect(store.workTree.base(draft("notes/a.md", "").files[0]?.path ?? ("" as never))).toBeNull();
  });
});
