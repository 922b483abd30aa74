/** The figures that storage is to reach, each with where its value is in a result. Pure. @see spec: storage, section 4 */
import { short } from "./stats.mjs";

/**
 * @typedef {object} Aim
 * @property {string} figure
 * @property {string} aim  in words
 * @property {"atLeast" | "atMost"} direction
 * @property {number} bound
 * @property {string} unit
 * @property {(sizes: Map<number, import("./size.mjs").SizeResult>) => number | undefined | null} value
 */
/** @typedef {{ figure: string, aim: string, measured: string, value: number | null, verdict: "met" | "missed" | "not measured" }} Verdict */

const K1 = 1_000;
const K10 = 10_000;
const K100 = 100_000;

const times = (notes, id, other) => (sizes) => sizes.get(notes)?.figures[id]?.times[other];
const worstLock = (notes) => (sizes) => {
  const p99 = Object.values(sizes.get(notes)?.locks ?? {}).map(({ p99Ms }) => p99Ms);
  return p99.length === 0 ? null : Math.max(...p99);
};
const worst = (of) => (sizes) => {
  const values = [...sizes.values()].map(of).filter((value) => value !== undefined && value !== null);
  return values.length === 0 ? null : Math.max(...values);
};
const atLeast = (figure, bound, unit, value) => ({
  figure,
  bound,
  unit,
  value,
  direction: "atLeast",
  aim: `≥ ${bound} ${unit}`,
});
const atMost = (figure, bound, unit, value) => ({
  figure,
  bound,
  unit,
  value,
  direction: "atMost",
  aim: `≤ ${bound} ${unit}`,
});

/** @type {readonly Aim[]} */
export const AIMS = [
  atLeast("1 writer, 10k notes", 8, "× native", times(K10, "create@1", "native")),
  atMost("1 writer, 10k notes, p50", 8, "ms", (sizes) => sizes.get(K10)?.figures["create@1"]?.p50Ms),
  atLeast("64 writers, 10k notes", 50, "× native", times(K10, "create@64", "native")),
  atLeast("64 writers, 100k notes", 200, "× native", times(K100, "create@64", "native")),
  atLeast("64 writers, 100k notes", 0.4, "× fast-import", (sizes) =>
    overImport(sizes, "fast-import", "create@64"),
  ),
  atLeast("store alone, 64 writers, 100k notes", 1, "× fast-import", (sizes) =>
    overImport(sizes, "fast-import-alone", "store@64"),
  ),
  atMost("growth, 1 writer, 100k against 1k notes", 2, "×", (sizes) => {
    const [small, large] = [K1, K100].map((notes) => sizes.get(notes)?.figures["create@1"]?.msEach);
    return small === undefined || large === undefined ? null : large / small;
  }),
  atMost("bytes a commit, 100k notes, alone", 8_000, "bytes", (sizes) => sizes.get(K100)?.bytes?.alone),
  atMost(
    "bytes a commit, 100k notes, groups of 64",
    8_000,
    "bytes",
    (sizes) => sizes.get(K100)?.bytes?.grouped,
  ),
  atMost(
    "bytes a commit, 100k notes, after upkeep",
    3_000,
    "bytes",
    (sizes) => sizes.get(K100)?.bytes?.afterUpkeep,
  ),
  atMost("start, warm, 100k notes", 0.125, "× git log --raw", (sizes) => sizes.get(K100)?.start?.warmTimes),
  atMost("start, cold, 100k notes", 1, "× git log --raw", (sizes) => sizes.get(K100)?.start?.coldTimes),
  atMost(
    "memory beside the text, 100k notes",
    1_000,
    "bytes a note",
    (sizes) => sizes.get(K100)?.memory?.heapBytesANote,
  ),
  atMost(
    "packs while writing",
    500,
    "packs",
    worst(({ packs }) => (packs.most > 0 ? packs.most : null)),
  ),
  atMost(
    "packs after 10 s of quiet",
    50,
    "packs",
    worst(({ packs }) => packs.afterQuiet),
  ),
  atMost("locks held, p99, 10k notes", 10, "ms", worstLock(K10)),
  atMost("locks held, p99, 100k notes", 20, "ms", worstLock(K100)),
  atMost(
    "a person's Git refused beside one agent",
    2,
    "% of commands",
    worst(({ git }) => git && git.share * 100),
  ),
  atMost(
    "the agent's p99 beside a person's Git",
    1_500,
    "ms",
    worst(({ git }) => git?.agentP99Ms),
  ),
];

/** Ours over fast-import of the same commits, in the same rounds. */
function overImport(sizes, peer, ours) {
  const figures = sizes.get(K100)?.figures;
  const other = figures?.[peer]?.times[ours];
  return other === undefined ? null : 1 / other;
}

/**
 * @param {readonly import("./size.mjs").SizeResult[]} results
 * @param {readonly Aim[]} [aims]
 * @returns {Verdict[]}
 */
export function judge(results, aims = AIMS) {
  const sizes = new Map(results.map((result) => [result.notes, result]));
  return aims.map(({ figure, aim, unit, bound, direction, value: of }) => {
    const value = of(sizes) ?? null;
    if (value === null || Number.isNaN(value)) {
      return { figure, aim, measured: "–", value: null, verdict: "not measured" };
    }
    const met = direction === "atLeast" ? value >= bound : value <= bound;
    return { figure, aim, measured: `${short(value)} ${unit}`, value, verdict: met ? "met" : "missed" };
  });
}
