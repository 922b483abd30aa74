/**
 * notes.search over the head. `substring` answers what a plain scan of the folded texts would, no more and no
 * less; the text index only spares it looking at notes that can't match. `ranked` orders by words.
 *
 * @see spec: retrieval, section 1
 */
import type { RepoPath } from "../../domain/note.ts";
import { fold } from "../../lib/text.ts";
import type { HeadState } from "../head-state.ts";
import type { LiveNote } from "../metadata.ts";
import type { SearchQuery, SearchRow } from "../note-index.ts";
import { rankingWords } from "./rank.ts";
import { snippetOf } from "./snippet.ts";
import type { TextIndex } from "./text-index.ts";
import { sees } from "./visible.ts";

interface Hit {
  readonly note: LiveNote;
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
  if (text === null || text === "") return answer(newest(inSight(head.inOrder(), query)), query, []);
  const folded = fold(text);
  const words = rankingWords(text);
  if (query.mode === "substring" || words.length === 0) {
    return answer(newest(literal(head, texts, query, folded)), query, [folded]);
  }
  const hits: Hit[] = [];
  for (const { key, score } of texts.rank(text)) {
    // Keys of the text index are the paths that were put there.
    const note = head.files.get(key as RepoPath);
    if (note && sees(query, note)) hits.push({ note, score });
  }
  hits.sort((a, b) => b.score - a.score || byNewest(a.note, b.note));
  return answer(preferLiteral(hits, folded), query, [folded, ...words]);
}

const LITERAL_LOOKED_AT = 100;
/** How much of what is missing to 1 the bonus gives. */
const LITERAL_BONUS = 0.25;

/** Among the best, a note that holds the query as it was typed (`C++`, `a-b`) stands above one that doesn't. */
function preferLiteral(hits: Hit[], folded: string): Hit[] {
  const best = hits
    .splice(0, LITERAL_LOOKED_AT)
    .map((hit) =>
      holds(hit.note, folded, true) ? { ...hit, score: hit.score + (1 - hit.score) * LITERAL_BONUS } : hit,
    )
    .sort((a, b) => b.score - a.score || byNewest(a.note, b.note));
  return [...best, ...hits];
}

function* inSight(notes: Iterable<LiveNote>, query: SearchQuery): Generator<Hit> {
  for (const note of notes) if (sees(query, note)) yield { note, score: 1 };
}

function* literal(head: HeadState, texts: TextIndex, query: SearchQuery, folded: string): Generator<Hit> {
  const withTags = query.fields === "title-body-tags";
  const keys = texts.mayContain(folded);
  for (const hit of inSight(keys === null ? head.files.values() : notesOf(head, keys), query)) {
    if (holds(hit.note, folded, withTags)) yield hit;
  }
}

function* notesOf(head: HeadState, keys: Iterable<string>): Generator<LiveNote> {
  for (const key of keys) {
    // Keys of the text index are the paths that were put there.
    const note = head.files.get(key as RepoPath);
    if (note) yield note;
  }
}

/** Text that no neighbour changes when it is folded: where it stands in a source, it stands in the fold. */
const STEADY = /^[a-z0-9 \u4e00-\u9fff]+$/;

function holds(note: LiveNote, folded: string, withTags: boolean): boolean {
  return (
    (STEADY.test(folded) && note.body.includes(folded)) ||
    fold(note.meta.title).includes(folded) ||
    fold(note.body).includes(folded) ||
    (withTags && note.meta.tags.some((tag) => fold(tag).includes(folded)))
  );
}

function newest(hits: Iterable<Hit>): Hit[] {
  return [...hits].sort((a, b) => byNewest(a.note, b.note));
}

function byNewest(a: LiveNote, b: LiveNote): number {
  return b.updatedMs - a.updatedMs || (a.entry.id < b.entry.id ? -1 : a.entry.id > b.entry.id ? 1 : 0);
}

const SCORE_DECIMALS = 1e4;

function answer(
  hits: readonly Hit[],
  query: SearchQuery,
  needles: readonly string[],
): { rows: SearchRow[]; total: number } {
  const rows = hits.slice(0, query.limit).map(({ note, score }) => ({
    note: note.meta,
    content: note.body,
    score: Math.round(score * SCORE_DECIMALS) / SCORE_DECIMALS,
    snippet: snippetOf(note.body, needles),
  }));
  return { rows, total: hits.length };
}
