/**
 * notes.search over the head. `substring` answers what a plain scan of the folded texts would, no more and no
 * less; the text index only spares it looking at notes that can't match. `ranked` orders by words.
 *
 * @see spec: retrieval, section 1
 */
import { fold } from "../../lib/text.ts";
import type { HeadState } from "../head-state.ts";
import type { SearchQuery, SearchRow } from "../note-index.ts";
import { rankingWords } from "./rank.ts";
import { snippetOf } from "./snippet.ts";
import type { TextIndex } from "./text-index.ts";
import { sightOf, toLookAt } from "./visible.ts";

interface Hit {
  /** The path's number. */
  readonly path: number;
  readonly score: number;
}

/**
 * Search. Without a query every note in sight matches, newest first. A ranked query without a single word
 * (`:`) is looked for literally. Files that can't be read as notes are searched by their text.
 * @returns yields between steps, so that others can have their turn; what changes meanwhile counts as it is then
 */
export function* searchNotes(
  head: HeadState,
  texts: TextIndex,
  query: SearchQuery,
): Generator<void, { rows: SearchRow[]; total: number }> {
  const { query: text } = query;
  const sees = sightOf(head, query);
  if (text === null || text === "") {
    const hits = allHits(toLookAt(head, query).filter(sees).reverse());
    return answer(head, hits, query, hits.length, []);
  }
  const folded = fold(text);
  const words = rankingWords(text);
  const shown = (path: number) => head.holds(path) && sees(path);
  if (query.mode === "substring" || words.length === 0) {
    const found = yield* literal(head, texts, query, folded, shown);
    // What went in between two steps is no hit any more.
    const hits = allHits(found.filter(shown));
    return answer(head, bestOf(head, hits, query.limit), query, hits.length, [folded]);
  }
  const hits: Hit[] = [];
  for (const [i, { key: path, score }] of (yield* texts.rank(text)).entries()) {
    if (shown(path)) hits.push({ path, score });
    if (i % RANKED_STEP === RANKED_STEP - 1) yield;
  }
  // As above: others had their turn since these were looked at.
  const still = hits.filter(({ path }) => shown(path));
  const best = bestOf(head, still, Math.max(query.limit, LITERAL_LOOKED_AT));
  return answer(head, preferLiteral(head, best, folded), query, still.length, [folded, ...words]);
}

const LITERAL_LOOKED_AT = 100;
/** How much of what is missing to 1 the bonus gives. */
const LITERAL_BONUS = 0.25;

/** Among the best, a note that holds the query as it was typed (`C++`, `a-b`) stands above one that doesn't. */
function preferLiteral(head: HeadState, hits: readonly Hit[], folded: string): Hit[] {
  const best = hits
    .slice(0, LITERAL_LOOKED_AT)
    .map((hit) =>
      holds(head, hit.path, folded, true)
        ? { ...hit, score: hit.score + (1 - hit.score) * LITERAL_BONUS }
        : hit,
    );
  return [...inOrder(head, best), ...hits.slice(LITERAL_LOOKED_AT)];
}

const allHits = (paths: Iterable<number>) => Array.from(paths, (path): Hit => ({ path, score: 1 }));

/** Notes whose text is looked at in a step. */
const STEP = 256;
/** Ranked notes looked at in a step. */
const RANKED_STEP = 8_192;

function* literal(
  head: HeadState,
  texts: TextIndex,
  query: SearchQuery,
  folded: string,
  shown: (path: number) => boolean,
): Generator<void, number[]> {
  const withTags = query.fields === "title-body-tags";
  const found: number[] = [];
  let looked = 0;
  for (const path of texts.mayContain(folded) ?? head.paths()) {
    if (shown(path) && holds(head, path, folded, withTags)) found.push(path);
    if (++looked % STEP === 0) yield;
  }
  return found;
}

/** Text that no neighbour changes when it is folded: where it stands in a source, it stands in the fold. */
const STEADY = /^[a-z0-9 \u4e00-\u9fff]+$/;

function holds(head: HeadState, path: number, folded: string, withTags: boolean): boolean {
  if (STEADY.test(folded) && head.bodyBytes(path)?.includes(folded)) return true;
  const note = head.at(path);
  return (
    note !== null &&
    (fold(note.meta.title).includes(folded) ||
      fold(note.body).includes(folded) ||
      (withTags && note.meta.tags.some((tag) => fold(tag).includes(folded))))
  );
}

/** The best so many and those that stand level with the last of them, in order; the others needn't be sorted. */
function bestOf(head: HeadState, hits: Hit[], count: number): Hit[] {
  if (count <= 0 || hits.length <= count) return inOrder(head, hits);
  const { updatedMs } = head.columns;
  const lowest = largest(hits, count, ({ score }) => score);
  const above = hits.filter(({ score }) => score > lowest);
  const level = hits.filter(({ score }) => score === lowest);
  const oldestMs = largest(level, count - above.length, ({ path }) => updatedMs.at(path));
  return inOrder(head, [...above, ...level.filter(({ path }) => updatedMs.at(path) >= oldestMs)]);
}

/** The `nth` largest of what `of` tells of the hits, from 1 on. */
function largest(hits: readonly Hit[], nth: number, of: (hit: Hit) => number): number {
  return Float64Array.from(hits, of).sort()[hits.length - nth] ?? Number.NEGATIVE_INFINITY;
}

/** Best first, then newest first, then by id. */
function inOrder(head: HeadState, hits: Hit[]): Hit[] {
  const { updatedMs } = head.columns;
  return hits.sort(
    (a, b) => b.score - a.score || updatedMs.at(b.path) - updatedMs.at(a.path) || byId(head, a.path, b.path),
  );
}

function byId(head: HeadState, a: number, b: number): number {
  const [left, right] = [head.idOf(a), head.idOf(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}

const SCORE_DECIMALS = 1e4;

function answer(
  head: HeadState,
  hits: readonly Hit[],
  query: SearchQuery,
  total: number,
  needles: readonly string[],
): { rows: SearchRow[]; total: number } {
  const rows = hits.slice(0, query.limit).flatMap(({ path, score }): SearchRow[] => {
    const note = head.at(path);
    if (note === null) return [];
    return [
      {
        note: note.meta,
        content: note.body,
        score: Math.round(score * SCORE_DECIMALS) / SCORE_DECIMALS,
        snippet: snippetOf(note.body, needles),
      },
    ];
  });
  return { rows, total };
}
