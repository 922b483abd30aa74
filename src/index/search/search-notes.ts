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
import { sightOf } from "./visible.ts";

interface Hit {
  /** The path's number. */
  readonly path: number;
  readonly score: number;
}

/**
 * Search. Without a query every note in sight matches, newest first. A ranked query without a single word
 * (`:`) is looked for literally. Files that can't be read as notes are searched by their text.
 */
export function searchNotes(
  head: HeadState,
  texts: TextIndex,
  query: SearchQuery,
): { rows: SearchRow[]; total: number } {
  const { query: text } = query;
  const sees = sightOf(head, query);
  if (text === null || text === "")
    return answer(head, allHits(head.inOrder().filter(sees).reverse()), query, []);
  const folded = fold(text);
  const words = rankingWords(text);
  if (query.mode === "substring" || words.length === 0) {
    const hits = allHits(literal(head, texts, query, folded, sees));
    return answer(head, inOrder(head, hits), query, [folded]);
  }
  const hits: Hit[] = [];
  for (const { key: path, score } of texts.rank(text)) {
    if (head.holds(path) && sees(path)) hits.push({ path, score });
  }
  return answer(head, preferLiteral(head, inOrder(head, hits), folded), query, [folded, ...words]);
}

const LITERAL_LOOKED_AT = 100;
/** How much of what is missing to 1 the bonus gives. */
const LITERAL_BONUS = 0.25;

/** Among the best, a note that holds the query as it was typed (`C++`, `a-b`) stands above one that doesn't. */
function preferLiteral(head: HeadState, hits: Hit[], folded: string): Hit[] {
  const best = hits
    .splice(0, LITERAL_LOOKED_AT)
    .map((hit) =>
      holds(head, hit.path, folded, true)
        ? { ...hit, score: hit.score + (1 - hit.score) * LITERAL_BONUS }
        : hit,
    );
  return [...inOrder(head, best), ...hits];
}

const allHits = (paths: Iterable<number>) => Array.from(paths, (path): Hit => ({ path, score: 1 }));

function* literal(
  head: HeadState,
  texts: TextIndex,
  query: SearchQuery,
  folded: string,
  sees: (path: number) => boolean,
): Generator<number> {
  const withTags = query.fields === "title-body-tags";
  for (const path of texts.mayContain(folded) ?? head.paths()) {
    if (head.holds(path) && sees(path) && holds(head, path, folded, withTags)) yield path;
  }
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
  return { rows, total: hits.length };
}
