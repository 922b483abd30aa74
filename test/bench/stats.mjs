/** Numbers out of samples: percentiles, medians, rounding for people. Pure. */

/**
 * The smallest sample that so many of all don't exceed (nearest rank).
 * @param {readonly number[]} samples
 * @param {number} share  0 to 1
 * @returns {number} NaN without samples
 */
export function percentile(samples, share) {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

/** The middle sample, or the mean of the middle two. @param {readonly number[]} samples */
export function median(samples) {
  const sorted = [...samples].sort((a, b) => a - b);
  const half = sorted.length / 2;
  if (sorted.length % 2 === 1) return sorted[Math.floor(half)];
  return (sorted[half - 1] + sorted[half]) / 2;
}

/** Three significant digits, for a table; `–` for what was not measured. @param {number | null | undefined} value */
export function short(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString("en");
  return String(Number(value.toPrecision(3)));
}

/**
 * Growth per step of a line through points (least squares).
 * @param {readonly (readonly [number, number])[]} points  x and y
 * @returns {number} NaN for fewer than two different x
 */
export function slope(points) {
  const mean = (at) => points.reduce((sum, point) => sum + point[at], 0) / points.length;
  const [x, y] = [mean(0), mean(1)];
  const above = points.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0);
  return above / points.reduce((sum, point) => sum + (point[0] - x) ** 2, 0);
}
