/** Cost against size as an SVG, from a result. Pure. */
import { decades, plotSvg } from "./plot.mjs";
import { short } from "./stats.mjs";

const LINES = [
  ["create@1", "notesd, 1 writer"],
  ["create@64", "notesd, 64 writers"],
  ["native", "git add + commit"],
  ["isomorphic", "isomorphic-git"],
  ["json-index", "json-index, no Git"],
];
const sizeText = (notes) => (notes >= 1_000 ? `${notes / 1_000}k` : String(notes));

/**
 * @param {readonly import("./size.mjs").SizeResult[]} sizes
 * @param {string} machineLine
 * @returns {string}
 */
export function costSvg(sizes, machineLine) {
  const series = LINES.map(([id, label]) => ({
    label,
    points: sizes.flatMap(({ notes, figures }) => (figures[id] ? [[notes, figures[id].msEach]] : [])),
  }));
  const costs = series.flatMap(({ points }) => points.map(([, ms]) => ms));
  if (costs.length === 0) throw new Error("nothing was created in this run, so there is no cost to plot");
  return plotSvg({
    title: "What one durable write costs as the repository grows",
    x: { label: "notes", log: true, ticks: decades(sizes.map(({ notes }) => notes)), text: sizeText },
    y: { label: "milliseconds a write", log: true, ticks: decades(costs), text: short },
    series,
    note: machineLine,
  });
}
