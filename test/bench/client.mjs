/** The clients' process, from the side of the bench. */
import { forkChild } from "./child.mjs";
import { openSocket } from "./daemon.mjs";

const AGENTS = ["planner", "builder", "reviewer", "tester"];

/**
 * @param {import("./daemon.mjs").Daemon} daemon
 * @param {number} count  sockets
 */
export async function openClients(daemon, count, seed = Date.now() % 1e9) {
  const person = await openSocket(daemon);
  const tokens = [];
  for (const name of AGENTS) tokens.push((await person.call("agent.token", { name })).token);
  person.close();
  const child = forkChild(new URL("./client-process.mjs", import.meta.url));
  await child.tell("open", { url: daemon.url, tokens, count, seed });
  return {
    /**
     * @param {{ operation: string, writers: number, ms: number, most?: number, patient?: boolean }} how
     * @returns {Promise<{ ms: number, latencies: number[], refused: number }>}
     */
    run: (how) => child.tell("run", how),
    /** Take the ids of the notes there are now. */
    ids: () => child.tell("ids"),
    close: () => child.end(),
  };
}
