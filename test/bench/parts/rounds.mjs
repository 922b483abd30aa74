/** Contestants in alternating rounds: one after the other, again and again, so that a busy minute meets all alike. */
import { median, percentile } from "../stats.mjs";

/**
 * @typedef {object} Contestant
 * @property {string} id  e.g. `create@64`
 * @property {string} label
 * @property {readonly string[]} against  ids that come earlier in each round
 * @property {() => Sample | Promise<Sample>} run
 */
/** @typedef {{ ms: number, latencies?: readonly number[], count?: number }} Sample */
/**
 * @typedef {object} Figure
 * @property {string} label
 * @property {number} perSecond
 * @property {number} msEach
 * @property {number | null} p50Ms
 * @property {number | null} p99Ms
 * @property {number} samples
 * @property {Record<string, number>} times  how often the other's rate, median of the rounds' ratios
 */

/**
 * @param {readonly Contestant[]} contestants
 * @param {number} rounds
 * @returns {Promise<Record<string, Figure>>} by id
 */
export async function inRounds(contestants, rounds) {
  /** @type {Map<string, Sample[]>} */
  const samples = new Map(contestants.map(({ id }) => [id, []]));
  for (let round = 0; round < rounds; round++) {
    for (const { id, run } of contestants) samples.get(id).push(await run());
  }
  return figures(contestants, samples);
}

/** @param {readonly Pick<Contestant, "id" | "label" | "against">[]} contestants @param {Map<string, readonly Sample[]>} samples */
export function figures(contestants, samples) {
  const rateOf = ({ ms, latencies = [], count = latencies.length }) => (count / ms) * 1000;
  const rates = (id) => samples.get(id).map(rateOf);
  return Object.fromEntries(
    contestants.map(({ id, label, against }) => {
      const mine = rates(id);
      const all = samples.get(id).flatMap(({ latencies = [] }) => latencies);
      const times = against
        .filter((other) => samples.has(other))
        .map((other) => [other, median(rates(other).map((rate, round) => mine[round] / rate))]);
      const figure = {
        label,
        perSecond: median(mine),
        msEach: 1000 / median(mine),
        p50Ms: all.length === 0 ? null : percentile(all, 0.5),
        p99Ms: all.length === 0 ? null : percentile(all, 0.99),
        samples: all.length,
        times: Object.fromEntries(times),
      };
      return [id, figure];
    }),
  );
}
