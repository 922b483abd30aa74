/** Who runs in the rounds of one size, in the order in which they run. */

import { query, READS, WRITES } from "../operations.mjs";
import { openFastImport } from "../peers/fast-import.mjs";
import { openIsomorphic } from "../peers/isomorphic.mjs";
import { openJsonIndex } from "../peers/json-index.mjs";
import { logOfPath } from "../peers/log-path.mjs";
import { nativeCommits } from "../peers/native.mjs";
import { scanFiles } from "../peers/scan.mjs";
import { pick, randomFrom } from "../seed/random.mjs";

/** Enough of a slow peer for a rate. */
const LEAST = 3;
/** Readers wait for nothing, so more of them tell no more. */
const READERS = [1, 64];

/**
 * @param {object} at
 * @param {Record<string, string>} at.folders  one for each that writes
 * @param {readonly string[]} at.paths  of notes, as seeded
 * @param {Awaited<ReturnType<typeof import("../client.mjs").openClients>>} at.clients
 * @param {ReturnType<typeof import("../child.mjs").forkChild>} at.store  the store alone
 * @param {readonly number[]} at.writers
 * @param {(operation: string) => boolean} at.wanted
 * @param {number} at.ms  of a slot
 * @param {(writers: number) => Promise<void>} at.wrote  after a slot of our creates
 * @returns {import("./rounds.mjs").Contestant[]}
 */
export function contestantsOf(at) {
  const { folders, paths, wanted } = at;
  const isToRun = wanted("create") || wanted("search");
  const jsonIndex = isToRun ? openJsonIndex(folders.jsonIndex, folders.native, paths) : null;
  return [...creating(at, jsonIndex), ...changing(at), ...reading(at, jsonIndex)];
}

function creating({ folders, clients, store, writers, wanted, ms, wrote }, jsonIndex) {
  if (!wanted("create")) return [];
  const isomorphic = openIsomorphic(folders.isomorphic);
  const imports = openFastImport(folders.ours, folders.import);
  const importsAlone = openFastImport(folders.alone, folders.importAlone);
  const one = (id, label, run, against = []) => ({ id, label, run, against });
  const ours = writers.flatMap((count) => {
    const create = async () => {
      if (count === 64) imports.level();
      const sample = await clients.run({ operation: "create", writers: count, ms });
      await wrote(count);
      return sample;
    };
    const mine = one(`create@${count}`, `create, ${writersText(count)}`, create, [
      "native",
      "isomorphic",
      "json-index",
    ]);
    if (count !== 64) return [mine];
    const peer = one("fast-import", "git fast-import of the same", () => imports.importNew(), [
      "native",
      "create@64",
    ]);
    return [mine, peer];
  });
  const alone = async () => {
    importsAlone.level();
    return store.tell("commit", { writers: 64, ms });
  };
  return [
    one("native", "native git add + commit", () => nativeCommits(folders.native, { ms, least: LEAST })),
    one("isomorphic", "isomorphic-git add + commit", () => isomorphic({ ms, least: 1 }), ["native"]),
    one(
      "json-index",
      "json-index, no Git: a file and the whole index",
      () => jsonIndex.create({ ms, least: LEAST }),
      ["native"],
    ),
    ...ours,
    one("store@64", "store alone, 64 writers", alone, ["native"]),
    one("fast-import-alone", "git fast-import of the store's", () => importsAlone.importNew(), [
      "native",
      "store@64",
    ]),
  ];
}

function changing({ clients, writers, wanted, ms }) {
  return WRITES.filter((operation) => operation !== "create" && wanted(operation)).flatMap((operation) =>
    writers.map((count) => ({
      id: `${operation}@${count}`,
      label: `${operation}, ${writersText(count)}`,
      against: ["native"],
      run: () => clients.run({ operation, writers: count, ms }),
    })),
  );
}

function reading({ folders, paths, clients, writers, wanted, ms }, jsonIndex) {
  const random = randomFrom(3);
  const how = { ms, least: LEAST, query: () => query(random) };
  const peers = {
    search: [
      { id: "scan", label: "plain scan of all files", run: () => scanFiles(folders.native, paths, how) },
      {
        id: "json-index-search",
        label: "json-index search: every file read",
        run: () => jsonIndex.search(how),
      },
    ],
    history: [
      {
        id: "log-path",
        label: "git log -- path",
        run: () => logOfPath(folders.native, () => pick(random, paths), how),
      },
    ],
  };
  return READS.filter(wanted).flatMap((operation) => {
    const others = (peers[operation] ?? []).map((peer) => ({ ...peer, against: [] }));
    const mine = READERS.filter((count) => count <= Math.max(...writers)).map((count) => ({
      id: `${operation}@${count}`,
      label: `${operation}, ${writersText(count).replace("writer", "reader")}`,
      against: others.map(({ id }) => id),
      run: () => clients.run({ operation, writers: count, ms }),
    }));
    return [...others, ...mine];
  });
}

const writersText = (count) => (count === 1 ? "1 writer" : `${count} writers`);
