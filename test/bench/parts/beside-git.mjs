/** A person who edits, stages, commits and looks, beside one agent that writes all the time: who is refused, who waits. */
import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { percentile } from "../stats.mjs";

const FILE = "README.md";
const ROUND = [
  ["status", "--short"],
  ["add", FILE],
  ["diff", "--cached", "--stat"],
  ["commit", "-qm", "A person's own words"],
  ["log", "--oneline", "-5"],
  ["status", "--short"],
];
/** A quick person's pause between two commands. */
const PAUSE_MS = 100;
const LEFT_TRIES = 20;

/** @typedef {{ commands: number, failed: number, share: number, agentP50Ms: number, agentP99Ms: number, agentWrites: number, firstFailure: string | null }} BesideGit */

/**
 * @param {string} dir
 * @param {Awaited<ReturnType<typeof import("../client.mjs").openClients>>} clients
 * @param {number} ms
 * @returns {Promise<BesideGit>}
 */
export async function measureBesideGit(dir, clients, ms) {
  const agent = clients.run({ operation: "create", writers: 1, ms, patient: true });
  const failures = [];
  let commands = 0;
  const began = performance.now();
  for (let n = 0; performance.now() - began < ms || n % ROUND.length > 0; n++) {
    const args = ROUND[n % ROUND.length];
    if (args[0] === "add") appendFileSync(join(dir, FILE), `Line ${n}\n`);
    const { code, said } = await run(dir, args);
    commands++;
    // What the first refusal left out is committed by a later round; an empty commit is no refusal.
    if (code !== 0 && !/nothing (?:added )?to commit/.test(said))
      failures.push(`git ${args[0]}: ${said.trim()}`);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  const { latencies } = await agent;
  // What the last commit was refused is still staged.
  for (let n = 0; n < LEFT_TRIES && (await run(dir, ["diff", "--cached", "--quiet"])).code !== 0; n++) {
    await run(dir, ["commit", "-qm", "A person's last words"]);
  }
  return {
    commands,
    failed: failures.length,
    share: failures.length / commands,
    agentP50Ms: percentile(latencies, 0.5),
    agentP99Ms: percentile(latencies, 0.99),
    agentWrites: latencies.length,
    firstFailure: failures[0] ?? null,
  };
}

function run(dir, args) {
  return new Promise((resolve, reject) => {
    const child = spawn("git", ["-C", dir, ...args], { stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    for (const out of [child.stdout, child.stderr]) out.on("data", (data) => (said += data));
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, said }));
  });
}
