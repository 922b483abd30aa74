/**
 * `npm run bench`: durable writes through the daemon's WebSocket against native `git add` + `git commit`
 * (`core.fsync=committed,reference`) on a copy of the same repository, in one run, in alternating rounds.
 * Prints ratios of medians; `--notes N`, `--rounds N`, `--json FILE`.
 */
import { execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { WebSocket } from "ws";

const { values: options } = parseArgs({
  options: {
    notes: { type: "string", default: "1000" },
    rounds: { type: "string", default: "5" },
    json: { type: "string" },
  },
});
const BIN = fileURLToPath(new URL("../../dist/main/bin.js", import.meta.url));
const notes = Number(options.notes);
const rounds = Number(options.rounds);
const work = mkdtempSync(join(tmpdir(), "notesd-bench-"));
const PERSON = ["-c", "user.name=bench", "-c", "user.email=bench@example.com"];

const git = (dir, ...args) =>
  execFileSync("git", ["-C", dir, ...args], { encoding: "utf8", maxBuffer: 1 << 28 });
const percentile = (list, p) =>
  [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * p))];
const median = (list) => percentile(list, 0.5);
const round1 = (value) => Math.round(value * 10) / 10;
const body = (i) => `What was concluded at step ${i}, and why it matters for the next one.\n`.repeat(12);
const file = (id, title, text) => `---\nid: ${id}\ntitle: ${title}\ntype: general\n---\n\n${text}`;

/** A repository that `init` made, with `count` notes of about 1 kB in day folders, in one commit. */
function seed(dir, count) {
  execFileSync(process.execPath, [BIN, "init", dir], { stdio: "ignore" });
  for (let i = 0; i < count; i++) {
    const day = String(1 + (Math.floor(i / 128) % 28)).padStart(2, "0");
    const folder = join(dir, "notes/2026/01", `${day}.${Math.floor(i / 3584) + 2}`);
    const id = `note_20260101_${String(i).padStart(6, "0")}_seeded`;
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${id}.md`), file(id, `Seeded ${i}`, body(i)));
  }
  git(dir, "add", "-A");
  git(dir, ...PERSON, "commit", "-qm", "seed");
}

async function startDaemon(dir) {
  const child = spawn(process.execPath, [BIN, "start", "--repo", dir, "--port", "0"], { stdio: "ignore" });
  const ready = join(dir, ".git/notesd/daemon.json");
  while (!existsSync(ready)) {
    if (child.exitCode !== null) throw new Error(`the daemon ended with ${child.exitCode}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const { host, port } = JSON.parse(readFileSync(ready, "utf8"));
  const token = readFileSync(join(dir, ".git/notesd/token"), "utf8").trim();
  return { child, url: `ws://${host}:${port}/rpc`, token };
}

async function openSocket({ url, token }) {
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${token}` } });
  const waiting = new Map();
  socket.on("message", (data) => {
    const reply = JSON.parse(String(data));
    const resolve = waiting.get(reply.id);
    waiting.delete(reply.id);
    resolve?.(reply);
  });
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  let next = 0;
  return {
    async call(method, params) {
      const id = ++next;
      const reply = await new Promise((resolve) => {
        waiting.set(id, resolve);
        socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
      });
      if (reply.error) throw new Error(JSON.stringify(reply.error));
      return reply.result;
    },
    close: () => socket.close(),
  };
}

/** Each socket creates notes, one after the other, for at least `ms`; creates a second and latencies in ms. */
async function ours(sockets, ms, salt) {
  const latencies = [];
  const start = performance.now();
  let i = 0;
  const writer = async (socket) => {
    while (performance.now() - start < ms) {
      const from = performance.now();
      await socket.call("notes.create", { title: `Bench ${salt} ${i}`, content: body(i++) });
      latencies.push(performance.now() - from);
    }
  };
  await Promise.all(sockets.map(writer));
  return { perSecond: (latencies.length / (performance.now() - start)) * 1000, latencies };
}

/** Native Git, a process each for add and commit, for at least `ms`. */
function native(dir, ms, salt) {
  const latencies = [];
  const start = performance.now();
  for (let i = 0; performance.now() - start < ms; i++) {
    const id = `native_${salt}_${i}`;
    const from = performance.now();
    writeFileSync(join(dir, `notes/${id}.md`), file(id, `Bench ${i}`, body(i)));
    git(dir, "add", `notes/${id}.md`);
    git(dir, ...PERSON, "commit", "-qm", `create(general): Bench ${i}`);
    latencies.push(performance.now() - from);
  }
  return { perSecond: (latencies.length / (performance.now() - start)) * 1000, latencies };
}

const LABELS = { native: "native git add + commit", one: "notesd, 1 writer", many: "notesd, 64 writers" };
const runs = { native: [], one: [], many: [] };
try {
  const mine = join(work, "ours");
  const theirs = join(work, "native");
  seed(mine, notes);
  cpSync(mine, theirs, { recursive: true });
  git(theirs, "config", "core.fsync", "committed,reference");
  git(theirs, "config", "--unset-all", "core.hooksPath");
  git(theirs, "config", "gc.auto", "0");
  git(theirs, "reset", "-q", "--hard");
  const daemon = await startDaemon(mine);
  const sockets = await Promise.all(Array.from({ length: 64 }, () => openSocket(daemon)));
  await ours(sockets, 500, "warm");
  for (let round = 0; round < rounds; round++) {
    runs.native.push(native(theirs, 1500, round));
    runs.one.push(await ours(sockets.slice(0, 1), 1500, `one ${round}`));
    runs.many.push(await ours(sockets, 1500, `many ${round}`));
  }
  for (const socket of sockets) socket.close();
  daemon.child.kill("SIGTERM");
  await new Promise((resolve) => daemon.child.once("exit", resolve));
  git(mine, "fsck", "--strict");
  const base = median(runs.native.map((run) => run.perSecond));
  const rows = Object.entries(runs).map(([name, list]) => ({
    what: LABELS[name],
    commitsPerSecond: round1(median(list.map((run) => run.perSecond))),
    timesNative: round1(median(list.map((run) => run.perSecond)) / base),
    p50Ms: round1(median(list.map((run) => median(run.latencies)))),
    p99Ms: round1(median(list.map((run) => percentile(run.latencies, 0.99)))),
  }));
  const commits = git(mine, "rev-list", "--count", "HEAD").trim();
  console.log(
    `${notes} notes, medians of ${rounds} alternating rounds, full durability, ${commits} commits, fsck clean`,
  );
  console.log(
    `${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}, ${git(mine, "--version").trim()}`,
  );
  console.table(Object.fromEntries(rows.map(({ what, ...row }) => [what, row])));
  if (options.json) writeFileSync(options.json, `${JSON.stringify({ notes, rounds, rows }, null, 2)}\n`);
} finally {
  rmSync(work, { recursive: true, force: true });
}
