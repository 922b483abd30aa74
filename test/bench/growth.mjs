/** What the samples of an endurance run say: growth over the second half, and a plot. Pure. */
import { plotSvg, steps } from "./plot.mjs";
import { short, slope } from "./stats.mjs";

/** @typedef {{ writes: number, seconds: number, rss: number, heap: number, packs: number, bytes: number }} Point */

/** Least squares over the second half. @param {readonly Point[]} points @param {"rss" | "heap"} of */
export function growth(points, of) {
  const half = (points.at(-1)?.writes ?? 0) / 2;
  return slope(points.filter(({ writes }) => writes >= half).map((point) => [point.writes, point[of]]));
}

/** Memory, packs and bytes on disk against writes. @param {readonly Point[]} points @param {string} machineLine */
export function enduranceSvg(points, machineLine) {
  const series = [
    { label: "RSS, MB", points: points.map(({ writes, rss }) => [writes, rss / 1e6]) },
    { label: "heap, MB", points: points.map(({ writes, heap }) => [writes, heap / 1e6]) },
    { label: "packs", points: points.map(({ writes, packs }) => [writes, packs]) },
    { label: "on disk, 10 MB", points: points.map(({ writes, bytes }) => [writes, bytes / 1e7]) },
  ];
  const values = series.flatMap((one) => one.points.map(([, value]) => value));
  return plotSvg({
    title: "One daemon, write after write",
    x: {
      label: "writes",
      ticks: steps(points.map(({ writes }) => writes)),
      text: (writes) => `${writes / 1_000}k`,
    },
    y: { label: "MB, or packs", ticks: steps(values), text: short },
    series,
    note: machineLine,
  });
}
