/** One person who fetches and pushes over HTTP while agents write: how many tries it takes. Tries are counted, not times. */
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { removeFolder, servedRepo, tempFolder } from "../support/daemon.ts";
import { cloneFrom, gitUrl } from "../support/pusher.ts";
import { until } from "../support/wait.ts";

const PUSHES = Number(process.env["NOTESD_PUSHES"] ?? 20);
const WRITES_PER_SECOND = 20;
const TRIES = 3;

const served = servedRepo();
const folder = tempFolder();
afterAll(() => removeFolder(folder));

/** Agents that write so many notes a second. @returns each answer's wait in ms, once stopped */
function agents(): { stop(): Promise<readonly number[]> } {
  let going = true;
  const open = new Set<Promise<void>>();
  const waitedMs: number[] = [];
  const startedMs = performance.now();
  const write = async (i: number) => {
    const askedMs = performance.now();
    await served.rpc.call("notes.create", { title: `Agent ${i}`, content: "text" });
    waitedMs.push(performance.now() - askedMs);
  };
  const run = async () => {
    for (let i = 0; going; i++) {
      const due = () => performance.now() - startedMs >= (i * 1000) / WRITES_PER_SECOND;
      await until("the next write", due, 60_000);
      const one: Promise<void> = write(i).finally(() => open.delete(one));
      open.add(one);
    }
    await Promise.all(open);
  };
  const done = run();
  return {
    async stop() {
      going = false;
      await done;
      return waitedMs.sort((a, b) => a - b);
    },
  };
}

test(`fetch and push beside ${WRITES_PER_SECOND} writes a second land within ${TRIES} tries nearly always`, async () => {
  const theirs = await cloneFrom(gitUrl(served.daemon, served.daemon.token), join(folder, "clone"));
  const busy = agents();
  const tries: number[] = [];
  const fetchToPushMs: number[] = [];
  for (let i = 0; i < PUSHES; i++) {
    theirs.commit({ [`notes/mine/${i}.md`]: `# Mine ${i}\n` });
    for (let count = 1; ; count++) {
      expect(await theirs.run("pull", "-q", "--rebase")).toMatchObject({ code: 0 });
      const startedMs = performance.now();
      const pushed = await theirs.run("push", "-q", "origin", "HEAD:main");
      fetchToPushMs.push(performance.now() - startedMs);
      if (pushed.code === 0 || count > 10) {
        tries.push(count);
        break;
      }
      expect(pushed.text).toMatch(
        /newer commits by now|fetch first|non-fast-forward|stale info|again in a moment/,
      );
    }
  }
  const waited = await busy.stop();
  const at = (all: readonly number[], share: number) => Math.round(all[Math.floor(all.length * share)] ?? 0);
  const pushMs = fetchToPushMs.sort((a, b) => a - b);
  console.log(
    `tries ${tries.join(" ")}; a push takes ${at(pushMs, 0.5)} ms (p90 ${at(pushMs, 0.9)}); ${waited.length} writes waited p50 ${at(waited, 0.5)} ms, p99 ${at(waited, 0.99)} ms`,
  );
  const within = tries.filter((count) => count <= TRIES).length;
  expect(within / tries.length).toBeGreaterThanOrEqual(0.9);
});
