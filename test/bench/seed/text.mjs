/**
 * Text for notes that compresses and can be searched as notes of people do: a vocabulary of some thousand words of
 * which few are frequent and most are rare, in sentences and paragraphs. Nothing here knows what a note is.
 */
import { pick, randomFrom } from "./random.mjs";

const COMMON =
  "the of and to in a is that for it was on are as with be this from at by not have which when or an they one can all but were there so if no up out into than then them some could these two may first any my now only other our over after also new because how its who through where before between must under still same while each during without again against both few more most such too very here why".split(
    " ",
  );
const TRADE =
  "token login session migration index commit branch merge cache query schema table column server client socket request reply error retry timeout deploy release build test coverage fixture config secret review patch rollback queue worker thread lock race memory leak heap profile latency throughput disk file folder path encoding parser lexer grammar module package version upgrade dependency license agent planner note decision blocker reference conclusion action owner deadline customer invoice payment currency region locale font layout button dialog screen keyboard gesture notification email webhook signature proof hash digest backup restore snapshot replica shard cluster node region budget".split(
    " ",
  );
const SYLLABLES = "ba de ki lo mu na pe ri so tu va we xi yo za cor dal fen gar hol jin kal lem mor".split(
  " ",
);

/** @param {number} count @returns {string[]} */
function rareWords(count) {
  const random = randomFrom(7);
  const words = new Set();
  while (words.size < count) {
    const length = 2 + Math.floor(random() * 3);
    words.add(Array.from({ length }, () => pick(random, SYLLABLES)).join(""));
  }
  return [...words];
}

const WORDS = [...COMMON, ...TRADE, ...rareWords(4_000)];

/** A word, the earlier ones of the vocabulary far more often (Zipf). @param {() => number} random */
export const word = (random) => WORDS[Math.floor(WORDS.length ** random()) - 1] ?? "the";

/** @param {() => number} random @param {number} words */
function sentence(random, words) {
  const text = Array.from({ length: words }, () => word(random)).join(" ");
  return `${text[0].toUpperCase()}${text.slice(1)}${random() < 0.1 ? "?" : "."}`;
}

/**
 * A body of Markdown.
 * @param {() => number} random
 * @param {number} bytes  about as long; within a sentence of it
 */
export function body(random, bytes) {
  let text = random() < 0.3 ? `## ${title(random)}\n\n` : "";
  while (text.length < bytes) {
    text += sentence(random, 5 + Math.floor(random() * 14));
    text += random() < 0.2 ? "\n\n" : random() < 0.1 ? "\n- " : " ";
  }
  return `${text.trimEnd()}\n`;
}

/** A title of three to eight words. @param {() => number} random */
export function title(random) {
  return sentence(random, 3 + Math.floor(random() * 6)).slice(0, -1);
}
