/** Requests that were carried out on one machine and are sent again to another, which shares its proof key or not. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { WriteRequest } from "../../../src/domain/change.ts";
import { repoAt } from "../../support/git-repo.ts";
import { agent } from "../../support/open-notebook.ts";
import { openSynced, type SyncedNotebook } from "../../support/synced-notebook.ts";

let top: string;
let remote: string;
const opened: SyncedNotebook[] = [];
beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), "notesd-shared-key-"));
  remote = join(top, "remote.git");
  repoAt(top).git("init", "-q", "--bare", "-b", "main", "remote.git");
});
afterEach(async () => {
  for (const one of opened.splice(0)) await one.dispose();
  rmSync(top, { recursive: true, force: true });
});

const at = async (seed: number): Promise<SyncedNotebook> => {
  const one = await openSynced(remote, seed);
  opened.push(one);
  return one;
};
const REQUEST: WriteRequest = {
  change: {
    ...{ kind: "create", title: "Once", content: "text", noteType: "general", tags: [], extra: {} },
    ...{ pinned: false, expiresInHours: null, folder: null },
  },
  reason: null,
  idempotency: { key: "k", hash: "a".repeat(64) },
};

test("with the same key it is a repeat there too, after a merge", async () => {
  const [here, there] = [await at(7), await at(7)];
  await here.create("Before", "both have it");
  await here.run();
  await there.run();
  const first = await here.notebook.write(REQUEST, agent("planner"));
  await here.run();
  await there.save("notes/own.md", "# Theirs\n");
  expect(await there.run()).toMatchObject({ state: "ok", pulled: 1 });
  expect(await there.notebook.write(REQUEST, agent("Planner"))).toMatchObject({
    ...{ noteId: first.noteId, commit: first.commit, revision: first.revision },
    replayed: true,
  });
});

test("with another key it is only text there: the agent's own request takes effect", async () => {
  const [here, there] = [await at(7), await at(8)];
  const first = await here.notebook.write(REQUEST, agent("planner"));
  await here.run();
  await there.run();
  const second = await there.notebook.write(REQUEST, agent("planner"));
  expect(second.replayed).toBe(false);
  expect(second.noteId).not.toBe(first.noteId);
});
