/**
 * `npm run bench`: what the daemon does, end to end from the WebSocket request to the durable answer, against peers
 * in the same run. Prints medians, ratios and the aims with met or missed; see `options.mjs`, or `--help`.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { judge } from "./aims.mjs";
import { costSvg } from "./cost-plot.mjs";
import { runEndurance } from "./endurance.mjs";
import { load, machine, machineLine } from "./machine.mjs";
import { readOptions, USAGE } from "./options.mjs";
import { measureEmpty } from "./parts/memory.mjs";
import { measureSize } from "./size.mjs";
import { aimsText, sizeText } from "./table.mjs";

const began = performance.now();
const say = (line) =>
  console.error(`${String(Math.round((performance.now() - began) / 1000)).padStart(5)} s  ${line}`);

/** @param {import("./options.mjs").Options} options @param {string} work */
async function bench(options, work) {
  const on = machine();
  const loadBefore = load();
  const empty = options.wanted("memory") ? await measureEmpty(join(work, "empty")) : null;
  const sizes = [];
  for (const notes of options.notes) {
    const about = (line) => say(`${notes.toLocaleString("en")} notes: ${line}`);
    about("copying the repository");
    sizes.push(await measureSize(notes, options, { work, empty, say: about }));
    console.log(`\n${sizeText(sizes.at(-1))}\n`);
    rmSync(join(work, String(notes)), { recursive: true, force: true });
  }
  const aims = judge(sizes);
  const seconds = Math.round((performance.now() - began) / 1000);
  const { rounds, slotMs, quick } = options;
  const result = {
    format: 1,
    at: new Date().toISOString(),
    machine: on,
    load: { before: loadBefore, after: load() },
    run: { quick, rounds, slotMs, seconds, durability: "full" },
    sizes,
    aims,
  };
  console.log(aimsText(aims));
  console.log(
    `${machineLine(on)}\nload ${result.load.before} before, ${result.load.after} after; medians of ${rounds} alternating rounds of ${slotMs} ms; full durability; every repository passes fsck --strict and verify-pack`,
  );
  if (options.json !== null) writeFileSync(options.json, `${JSON.stringify(result, rounded, 2)}\n`);
  if (options.svg !== null) writeFileSync(options.svg, costSvg(sizes, machineLine(on)));
}

/** Four digits say all there is to say. */
const rounded = (_key, value) =>
  typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value;

if (process.argv.includes("--help")) {
  console.log(USAGE);
} else {
  const options = readOptions(process.argv.slice(2));
  const work = mkdtempSync(join(tmpdir(), "notesd-bench-"));
  // However it ends: children with an open channel would keep a bench that failed, and each ends with this process.
  process.once("exit", () => rmSync(work, { recursive: true, force: true, maxRetries: 5 }));
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));
  try {
    await (options.endurance === null ? bench(options, work) : runEndurance(options, work, say));
    process.exit(0);
  } catch (error) {
    console.error(error);
    process.exit(1);
  }
}
