/**
 * `--endurance N`: one daemon takes N writes, and its memory, packs and bytes on disk are sampled all along. The notes
 * stop growing in number early, so that what is left to grow is what each commit leaves behind: its line of history.
 * That line is told by itself; memory is flat when nothing else grows. Fails when it does, or when packs exceed their bound.
 */
import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkRepository } from "./checks.mjs";
import { openClients } from "./client.mjs";
import { startDaemon } from "./daemon.mjs";
import { enduranceSvg, growth } from "./growth.mjs";
import { load, machine, machineLine } from "./machine.mjs";
import { QUIET_MS } from "./parts/bytes.mjs";
import { git, init, packCount } from "./seed/write.mjs";
import { short } from "./stats.mjs";
import { table } from "./table.mjs";

const WRITERS = 64;
/** Notes there are after the first tenth; from then on they are updated. */
const MOST_NOTES = 10_000;
const SAMPLE_MS = 5_000;
/** What the index holds of each commit for history and cursors, in columns that grow by an eighth: docs/engine.md. */
const COMMIT_BYTES = 180;
/** Of heap and RSS, over the second half and beside that: flat, but for what samples differ by. */
const BOUND_BYTES_A_WRITE = 100;
const MOST_PACKS = 500;
const MOST_PACKS_QUIET = 50;

/** @param {import("./options.mjs").Options} options @param {string} work @param {(line: string) => void} say */
export async function runEndurance(options, work, say) {
  const writes = options.endurance ?? 0;
  const dir = join(work, "endurance");
  init(dir);
  const daemon = await startDaemon(dir);
  const clients = await openClients(daemon, WRITERS);
  /** @type {import("./growth.mjs").Point[]} */
  const points = [];
  const began = performance.now();
  let done = 0;
  let mostPacks = 0;
  const look = setInterval(() => {
    mostPacks = Math.max(mostPacks, packCount(dir));
  }, 200);
  const sample = async () => {
    // Collected first: what is garbage is no growth.
    const { rss, heapUsed, external } = await daemon.ask("memory");
    const seconds = Math.round((performance.now() - began) / 1000);
    points.push({
      writes: done,
      seconds,
      rss,
      heap: heapUsed + external,
      packs: packCount(dir),
      bytes: packBytes(dir),
    });
    const { heap } = points.at(-1);
    say(`${done} writes: ${short(rss / 1e6)} MB RSS, ${short(heap / 1e6)} MB heap, ${packCount(dir)} packs`);
  };
  const write = async (operation, until) => {
    while (done < until) {
      const { latencies } = await clients.run({
        operation,
        writers: WRITERS,
        ms: SAMPLE_MS,
        most: until - done,
      });
      done += latencies.length;
      await sample();
    }
  };
  await write("create", Math.min(MOST_NOTES, Math.ceil(writes / 10)));
  await clients.ids();
  await write("update", writes);
  clearInterval(look);
  const seconds = (performance.now() - began) / 1000;
  await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
  const quietPacks = packCount(dir);
  await sample();
  await clients.close();
  await daemon.stop();
  say("fsck --strict and verify-pack");
  checkRepository(dir, { clean: true });
  const commits = Number(git(dir, "rev-list", "--count", "HEAD"));
  report(options, points, { writes, seconds, commits, mostPacks, quietPacks });
}

function report(options, points, { writes, seconds, commits, mostPacks, quietPacks }) {
  const rows = [
    [
      "heap, bytes a write over the second half, beside its line of history",
      growth(points, "heap") - COMMIT_BYTES,
      BOUND_BYTES_A_WRITE,
    ],
    ["RSS, the same", growth(points, "rss") - COMMIT_BYTES, BOUND_BYTES_A_WRITE],
    ["packs at most", mostPacks, MOST_PACKS],
    ["packs after 10 s of quiet", quietPacks, MOST_PACKS_QUIET],
  ].map(([what, value, bound]) => ({ what, value, bound, met: value <= bound }));
  console.log(
    `${writes} writes by ${WRITERS} writers in ${Math.round(seconds)} s (${short(writes / seconds)} a second), ${commits} commits, fsck --strict and verify-pack clean`,
  );
  console.log(
    table(
      ["", "measured", "bound", ""],
      rows.map(({ what, value, bound, met }) => [what, short(value), short(bound), met ? "met" : "missed"]),
    ),
  );
  console.log(`${machineLine(machine())}; load ${load()}`);
  if (options.json !== null) {
    const result = {
      at: new Date().toISOString(),
      machine: machine(),
      load: load(),
      writes,
      seconds,
      commits,
      rows,
      points,
    };
    writeFileSync(options.json, `${JSON.stringify(result, null, 2)}\n`);
  }
  if (options.svg !== null) writeFileSync(options.svg, enduranceSvg(points, machineLine(machine())));
  const missed = rows.filter(({ met }) => !met);
  if (missed.length > 0) throw new Error(`out of bounds: ${missed.map(({ what }) => what).join(", ")}`);
}

function packBytes(dir) {
  const folder = join(dir, ".git/objects/pack");
  // A pack may be put together with others between the list and the look.
  return readdirSync(folder).reduce(
    (sum, name) => sum + (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}
