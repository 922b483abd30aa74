/** One size of repository, measured in every way that was asked for. Every copy is checked in the end. */
import { join } from "node:path";
import { checkRepository } from "./checks.mjs";
import { forkChild } from "./child.mjs";
import { openClients } from "./client.mjs";
import { startDaemon } from "./daemon.mjs";
import { measureBesideGit } from "./parts/beside-git.mjs";
import { measureBytes, QUIET_MS } from "./parts/bytes.mjs";
import { contestantsOf } from "./parts/contestants.mjs";
import { measureMemory } from "./parts/memory.mjs";
import { inRounds } from "./parts/rounds.mjs";
import { measureStart } from "./parts/start.mjs";
import { makePlain } from "./peers/native.mjs";
import { git, packCount } from "./seed/write.mjs";
import { seedRepository } from "./seed.mjs";
import { percentile } from "./stats.mjs";

/**
 * @typedef {object} SizeResult
 * @property {number} notes
 * @property {Record<string, import("./parts/rounds.mjs").Figure>} figures
 * @property {Record<string, { p50Ms: number, p99Ms: number, holds: number }>} locks  by number of writers
 * @property {import("./parts/start.mjs").Start} [start]
 * @property {import("./parts/memory.mjs").Memory} [memory]
 * @property {import("./parts/bytes.mjs").BytesACommit} [bytes]
 * @property {import("./parts/beside-git.mjs").BesideGit} [git]
 * @property {{ most: number, afterQuiet: number | null }} packs
 * @property {number} commits  in our repository in the end
 */

const PACKS_EVERY_MS = 250;

/**
 * @param {number} notes
 * @param {import("./options.mjs").Options} options
 * @param {{ work: string, empty: any, say: (line: string) => void }} around
 * @returns {Promise<SizeResult>}
 */
export async function measureSize(notes, options, { work, empty, say }) {
  const { wanted, writers, rounds } = options;
  const folder = join(work, String(notes));
  const names = ["ours", "native", "isomorphic", "jsonIndex", "alone", "import", "importAlone"];
  const folders = Object.fromEntries(names.map((name) => [name, join(folder, name)]));
  const writing = wanted("create");
  const storeToo = writing || wanted("bytes");
  const copies = ["ours", "native", ...(writing ? ["isomorphic"] : []), ...(storeToo ? ["alone"] : [])];
  for (const name of copies) await seedRepository(folders[name], notes, { say });
  git(folders.ours, "config", "gc.auto", "0");
  makePlain(folders.native);
  const paths = git(folders.native, "ls-files", "--", "notes").trim().split("\n");

  /** @type {SizeResult} */
  const result = { notes, figures: {}, locks: {}, packs: { most: 0, afterQuiet: null }, commits: 0 };
  if (wanted("start")) {
    say("starts");
    result.start = await measureStart(folders.ours, Math.min(rounds, 3));
  }
  const store = storeToo ? forkChild(new URL("./peers/store-alone.mjs", import.meta.url)) : null;
  await store?.tell("open", { repository: folders.alone });
  const daemon = await startDaemon(folders.ours);
  if (wanted("memory")) result.memory = await measureMemory(daemon, folders.ours, paths, empty);

  const clients = await openClients(daemon, Math.max(64, ...writers));
  const look = setInterval(() => {
    result.packs.most = Math.max(result.packs.most, packCount(folders.ours));
  }, PACKS_EVERY_MS);
  say("rounds");
  await clients.run({ operation: "create", writers: 8, ms: options.slotMs });
  await daemon.ask("locks");
  const holds = new Map();
  const wrote = async (count) => {
    const times = await daemon.ask("locks");
    if (times.length === 0) throw new Error("writes were answered, and no lock of Git was seen taken");
    holds.set(count, [...(holds.get(count) ?? []), ...times]);
  };
  const ms = options.slotMs;
  const contestants = contestantsOf({ folders, paths, clients, store, writers, wanted, ms, wrote });
  result.figures = await inRounds(contestants, rounds);
  for (const [count, times] of holds) {
    result.locks[count] = {
      p50Ms: percentile(times, 0.5),
      p99Ms: percentile(times, 0.99),
      holds: times.length,
    };
  }
  if (wanted("git")) {
    say("a person's Git beside");
    result.git = await measureBesideGit(folders.ours, clients, options.besideMs);
  }
  clearInterval(look);
  if (store !== null && wanted("bytes")) {
    say("bytes a commit");
    result.bytes = await measureBytes(store, folders.alone);
  } else if (wanted("packs")) await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
  if (wanted("bytes") || wanted("packs")) result.packs.afterQuiet = packCount(folders.ours);
  await clients.close();
  await daemon.stop();
  await store?.end();
  result.commits = Number(git(folders.ours, "rev-list", "--count", "HEAD"));
  say("fsck --strict and verify-pack of each");
  for (const name of copies) checkRepository(folders[name], { clean: name === "ours" || name === "alone" });
  if (writing) for (const name of ["import", "importAlone"]) checkRepository(folders[name]);
  return result;
}
