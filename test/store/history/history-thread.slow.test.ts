import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import type { CommitEvents } from "../../../src/domain/event.ts";
import type { CommitId } from "../../../src/domain/note.ts";
import { workerFile } from "../../../src/lib/thread.ts";
import { wholeHistory } from "../../../src/store/history/history-thread.ts";
import { readAhead } from "../../../src/store/history/read-ahead.ts";
import { openRepositoryLog } from "../../../src/store/history/repository-log.ts";
import { gitRepo } from "../../support/git-repo.ts";

/** Made by the build that runs before these tests. */
const WORKER = workerFile(
  "history-worker",
  new URL("../../../src/store/history/history-thread.ts", import.meta.url).href,
);
const COMMITS = 4_000;

function longHistory() {
  const repo = gitRepo();
  const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`;
  const lines = Array.from({ length: COMMITS }, (_, n) => {
    const who = `Ä <p@example.org> ${1_796_000_000 + n} +0000`;
    const merge = n > 10 && n % 50 === 0 ? `merge :${n - 7}\n` : "";
    const from = n === 0 ? "" : `from :${n}\n`;
    return `commit refs/heads/main\nmark :${n + 1}\nauthor ${who}\ncommitter ${who}\n${data(`n ${n}`)}${from}${merge}M 100644 inline notes/d${n % 9}/n${n % 300}.md\n${data(`text ${n}`)}`;
  });
  repo.gitBytes(["fast-import", "--quiet"], lines.join("\n"));
  const history = {
    gitdir: repo.gitdir,
    roots: ["notes"],
    proofKey: new Uint8Array(32),
    shallow: new Set<CommitId>(),
  };
  return { repo, history, tip: repo.git("rev-parse", "main") as CommitId };
}

async function all(items: AsyncIterable<CommitEvents>): Promise<CommitEvents[]> {
  const list: CommitEvents[] = [];
  for await (const item of items) list.push(item);
  return list;
}

test("a thread tells a long history as it is told in place, events sharing their commit", async () => {
  const { history, tip } = longHistory();
  const { log, objects } = openRepositoryLog(history);
  expect(existsSync(WORKER)).toBe(true);
  const inPlace = await all(log.history(null, tip));
  const here = vi.spyOn(log, "history");
  const told = await all(wholeHistory(log, history, readAhead(), WORKER)(tip));
  // Not read here, so it was there.
  expect(here).not.toHaveBeenCalled();
  expect(told).toEqual(inPlace);
  expect(told).toHaveLength(COMMITS);
  for (const { commit, events } of told) for (const event of events) expect(event.commit).toBe(commit);
  objects.close();
});

test("with a long history come the blobs that its events write, for whoever folds it", async () => {
  const { history, tip } = longHistory();
  const { log, objects } = openRepositoryLog(history);
  const ahead = readAhead();
  let taken = 0;
  for await (const { events } of wholeHistory(log, history, ahead, WORKER)(tip)) {
    for (const event of events) {
      const bytes = event.kind === "written" ? ahead.take(event.after) : undefined;
      if (event.kind !== "written" || bytes === undefined) continue;
      expect(bytes.equals(objects.read("blob", event.after))).toBe(true);
      taken++;
    }
  }
  expect(taken).toBeGreaterThan(COMMITS * 0.9);
  objects.close();
});

test("who stops reading early ends the thread, and damage met there is told as it is in place", async () => {
  const { repo, history, tip } = longHistory();
  const { log, objects } = openRepositoryLog(history);
  for await (const { commit } of wholeHistory(log, history)(tip)) {
    expect(commit.parents).toEqual([]);
    break;
  }
  const [root = ""] = repo.git("rev-list", "--max-parents=0", "main").split("\n");
  const tree = repo.git("rev-parse", `${root}^{tree}`);
  const entry = repo
    .git("verify-pack", "-v", ...packsOf(repo.gitdir).map((name) => `${name}.idx`))
    .split("\n")
    .find((line) => line.startsWith(tree));
  const [pack = ""] = packsOf(repo.gitdir);
  const bytes = readFileSync(`${pack}.pack`);
  const at = Number(entry?.split(/ +/)[4]) + 6;
  bytes[at] = (bytes[at] ?? 0) ^ 255;
  chmodSync(`${pack}.pack`, 0o644);
  writeFileSync(`${pack}.pack`, bytes);
  await expect(all(wholeHistory(log, history)(tip))).rejects.toMatchObject({
    code: "STORAGE",
    data: { object: tree },
  });
  objects.close();
});

const packsOf = (gitdir: string) =>
  readdirSync(join(gitdir, "objects/pack"))
    .filter((name) => name.endsWith(".pack"))
    .map((name) => join(gitdir, "objects/pack", name.slice(0, -5)));
