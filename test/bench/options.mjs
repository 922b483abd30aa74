/** What the command line asks for. */
import { parseArgs } from "node:util";

const PARTS = [
  "create",
  "update",
  "append",
  "read",
  "list",
  "search",
  "history",
  "start",
  "memory",
  "bytes",
  "packs",
  "git",
];
const FULL = { notes: "1000,10000,100000", rounds: "5", slotMs: 1_500, besideMs: 30_000 };
const QUICK = { notes: "1000,10000", rounds: "2", slotMs: 250, besideMs: 6_000 };

export const USAGE = `npm run bench -- [options]
  --quick            1k and 10k notes in about two minutes (plus making the repositories once)
  --notes N,…        sizes; default ${FULL.notes}
  --writers N,…      default 1,8,64,256
  --rounds N         alternating rounds; default ${FULL.rounds}
  --only PART,…      ${PARTS.join(", ")}
  --json FILE        the result as JSON        --svg FILE   cost against size, from this result
  --endurance N      instead: so many writes in one daemon, its memory and packs sampled`;

/**
 * @typedef {object} Options
 * @property {boolean} quick
 * @property {readonly number[]} notes
 * @property {readonly number[]} writers
 * @property {number} rounds
 * @property {number} slotMs  of one contestant in one round
 * @property {number} besideMs  of a person's Git
 * @property {(part: string) => boolean} wanted
 * @property {string | null} json
 * @property {string | null} svg
 * @property {number | null} endurance  writes
 */

/** @param {readonly string[]} args @returns {Options} @throws Error that says what can't be read */
export function readOptions(args) {
  const text = { type: "string" };
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: "boolean", default: false },
      notes: text,
      writers: text,
      rounds: text,
      only: text,
      json: text,
      svg: text,
      endurance: text,
    },
  });
  const defaults = values.quick ? QUICK : FULL;
  const only = values.only?.split(",") ?? PARTS;
  const strange = only.find((part) => !PARTS.includes(part));
  if (strange !== undefined) throw new Error(`--only ${strange}: there are ${PARTS.join(", ")}`);
  return {
    quick: values.quick,
    notes: numbers("--notes", values.notes ?? defaults.notes),
    writers: numbers("--writers", values.writers ?? "1,8,64,256"),
    rounds: numbers("--rounds", values.rounds ?? defaults.rounds)[0],
    slotMs: defaults.slotMs,
    besideMs: defaults.besideMs,
    wanted: (part) => only.includes(part),
    json: values.json ?? null,
    svg: values.svg ?? null,
    endurance: values.endurance === undefined ? null : numbers("--endurance", values.endurance)[0],
  };
}

/** Whole positive numbers, `10k` for ten thousand. */
function numbers(flag, text) {
  return text.split(",").map((part) => {
    const [, digits, thousand] = /^(\d+)(k?)$/.exec(part.trim()) ?? [];
    const number = Number(digits) * (thousand === "k" ? 1_000 : 1);
    if (!(number > 0)) throw new Error(`${flag} ${text}: give whole numbers over 0, e.g. 1000 or 10k`);
    return number;
  });
}
