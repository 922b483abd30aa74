/** A daemon of the built product as a process of its own, with the probe in it; and a socket to it. */
import { spawn } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { WebSocket } from "ws";
import { BIN } from "./seed/write.mjs";

const PROBE = new URL("./probe.mjs", import.meta.url).href;
const LOOK_EVERY_MS = 2;

/**
 * @typedef {object} Daemon
 * @property {string} url  WebSocket address
 * @property {string} token  the person's
 * @property {number} pid
 * @property {number} beganMs  `performance.now()` before the process was made
 * @property {(what: "locks" | "memory" | "memory-now") => Promise<any>} ask  of the probe
 * @property {() => Promise<void>} stop
 */

/**
 * Start it and wait until it says that it answers.
 * @param {string} dir
 * @param {{ probe?: boolean }} [options]  without the probe nothing but the product is in the process
 * @returns {Promise<Daemon>}
 */
export async function startDaemon(dir, { probe = true } = {}) {
  const gitdir = join(dir, ".git");
  const said = `${dir}.log`;
  const log = openSync(said, "w");
  const beganMs = performance.now();
  const flags = probe ? ["--expose-gc", "--import", PROBE] : [];
  const child = spawn(process.execPath, [...flags, BIN, "start", "--repo", dir, "--port", "0"], {
    stdio: ["ignore", "ignore", log, ...(probe ? ["ipc"] : [])],
  });
  closeSync(log);
  const ended = new Promise((resolve) => child.once("exit", resolve));
  // A bench that fails on its way must not leave a daemon behind.
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  child.once("exit", () => process.off("exit", kill));
  const file = join(gitdir, "notesd/daemon.json");
  while (!existsSync(file)) {
    if (child.exitCode !== null)
      throw new Error(`the daemon ended with ${child.exitCode}: ${readFileSync(said)}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
  const { url } = JSON.parse(readFileSync(file, "utf8"));
  let asked = 0;
  return {
    url: `${url.replace(/^http/, "ws").replace(/\/(rpc)?$/, "")}/rpc`,
    token: readFileSync(join(gitdir, "notesd/token"), "utf8").trim(),
    pid: child.pid ?? 0,
    beganMs,
    ask(what) {
      const id = ++asked;
      return new Promise((resolve) => {
        const answered = (message) => {
          if (message.id !== id) return;
          child.off("message", answered);
          resolve(message.value);
        };
        child.on("message", answered);
        child.send({ id, ask: what });
      });
    },
    async stop() {
      child.kill("SIGTERM");
      const code = await ended;
      if (code !== 0) throw new Error(`the daemon ended with ${code}: ${readFileSync(said)}`);
      rmSync(said, { force: true });
    },
  };
}

/**
 * Open a socket that calls one method after the other or several at once.
 * @param {{ url: string, token: string }} where
 */
export async function openSocket({ url, token }) {
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${token}` } });
  const waiting = new Map();
  socket.on("message", (data) => {
    const reply = JSON.parse(String(data));
    waiting.get(reply.id)?.(reply);
    waiting.delete(reply.id);
  });
  socket.on("close", () => {
    for (const answer of waiting.values()) answer({ error: { message: "the socket closed" } });
  });
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  let next = 0;
  return {
    /** @param {string} method @param {object} params @returns {Promise<any>} the result @throws Error with `data` */
    async call(method, params) {
      const id = ++next;
      const reply = await new Promise((resolve) => {
        waiting.set(id, resolve);
        socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
      });
      if (!reply.error) return reply.result;
      throw Object.assign(new Error(`${method}: ${JSON.stringify(reply.error)}`), { data: reply.error.data });
    },
    close: () => socket.close(),
  };
}
