/**
 * The product's store without daemon, socket, validation and index, in a process of its own: drafts that are ready
 * are committed, files and Git index included. Told over its channel: `open`, `commit` for a time, `bytes`, `close`.
 */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { openGitStore } from "../../../dist/store/git-store.js";
import { newNotes } from "../seed/history.mjs";
import { storeOptions } from "../seed/write.mjs";

let store;
let dir = "";
let drafts;

const take = (count) => Array.from({ length: count }, () => drafts.next().value);

async function commitGroup(count) {
  const { outcomes } = await store.commit(take(count));
  const refused = outcomes.find(({ kind }) => kind !== "committed");
  if (refused !== undefined) throw new Error(`a draft was not committed: ${JSON.stringify(refused)}`);
}

/** Bytes of each pack with its idx, by name. */
function packs() {
  const folder = join(dir, ".git/objects/pack");
  const sizes = new Map();
  for (const name of readdirSync(folder)) {
    const [, stem] = /^(pack-.*)\.(?:pack|idx)$/.exec(name) ?? [];
    if (stem !== undefined) sizes.set(stem, (sizes.get(stem) ?? 0) + statSync(join(folder, name)).size);
  }
  return sizes;
}

const commands = {
  async open({ repository }) {
    dir = repository;
    store = await openGitStore(storeOptions(dir));
    drafts = newNotes(Date.now());
  },

  /** Groups of `writers` drafts, as when so many writers wait at once. */
  async commit({ writers, ms }) {
    const latencies = [];
    const began = performance.now();
    let count = 0;
    while (performance.now() - began < ms) {
      const from = performance.now();
      await commitGroup(writers);
      count += writers;
      latencies.push(performance.now() - from);
    }
    return { ms: performance.now() - began, count, latencies };
  },

  /** @returns {Promise<number>} bytes a commit of the packs as they were written, idx included */
  async bytes({ writers, groups }) {
    let bytes = 0;
    for (let n = 0; n < groups; n++) {
      const before = packs();
      await commitGroup(writers);
      // Packs put together in the meantime are new too, and larger.
      const made = [...packs()].flatMap(([name, size]) => (before.has(name) ? [] : [size]));
      bytes += Math.min(...made);
    }
    return bytes / (groups * writers);
  },

  async close() {
    await store.close();
  },
};

process.on("message", async ({ id, command, given }) => {
  try {
    process.send?.({ id, value: await commands[command](given) });
  } catch (error) {
    process.send?.({ id, error: String(error?.stack ?? error) });
  }
});
// Without the bench there is nobody to answer.
process.on("disconnect", () => process.exit());
