/**
 * notes.search over the state of an earlier commit, without an index of it. Notes that are still as they were are
 * narrowed down by the head's words and read from memory; each of the others costs its blob. Bounded: only hits are
 * remembered, as numbers, and of very many only the newest are ranked by words.
 * Invariant: what matches is what the same search would have found then.
 */

import type { ReadBlob } from "../../domain/event.ts";
import { matches } from "../../domain/filters.ts";
import { type CommitId, TRUSTS } from "../../domain/note.ts";
import { slicer } from "../../lib/slicer.ts";
import { fold } from "../../lib/text.ts";
import { taggedWith } from "../entry-table.ts";
import { type LiveNote, liveNote } from "../metadata.ts";
import type { SearchQuery, SearchRow } from "../note-index.ts";
import type { ParseFile } from "../parsed-file.ts";
import type { Parts } from "../parts.ts";
import { finishInTurns } from "../slices.ts";
import { rankingWords } from "./rank.ts";
import { snippetOf } from "./snippet.ts";
import { MemoryTextIndex } from "./text-index.ts";
import { wordForms } from "./word-forms.ts";

interface PastHit {
  /** The entry's number. */
  readonly entry: number;
  readonly updatedMs: number;
  readonly id: string;
  readonly score: number;
}

interface Past {
  readonly parts: Parts;
  readonly commit: CommitId;
  readonly parse: ParseFile;
  readonly read: ReadBlob;
}

/** More hits than these are not ranked by their words: the newest are, and the others are counted. */
const MOST_RANKED = 4_096;
const LITERAL_LOOKED_AT = 100;
const LITERAL_BONUS = 0.25;
const SCORE_DECIMALS = 1e4;

/**
 * @cost one look at each path, a blob for each note that is another by now, the words of the hits; in turns of 5 ms. Of
 *   50,000 notes of 1 kB some 50 ms of CPU while they are as they were, 0.7 s (and the reading of 25,000 blobs) when
 *   half of them changed since; up to 1.1 s where half of all match. Some 80 MB at most, until it answers
 */
export async function searchPast(
  past: Past,
  query: SearchQuery,
): Promise<{ rows: readonly SearchRow[]; total: number }> {
  const text = query.query ?? "";
  const words = rankingWords(text);
  const ranked = query.mode === "ranked" && words.length > 0 && text !== "";
  const may = await candidates(past.parts, text, ranked);
  const { hits, size } = await allHits(past, query, may, hasText(text, ranked ? words : null, query));
  hits.sort(inOrder);
  const looked = ranked ? hits.slice(0, MOST_RANKED) : hits;
  const scored = ranked ? await rankedHits(past, looked, text, size) : hits;
  const needles = text === "" ? [] : ranked ? [fold(text), ...words] : [fold(text)];
  const rows: SearchRow[] = [];
  for (const { entry, score } of scored.slice(0, query.limit)) {
    const { meta, body } = await noteOf(past, entry);
    const rounded = Math.round(score * SCORE_DECIMALS) / SCORE_DECIMALS;
    rows.push({ note: meta, content: body, score: rounded, snippet: snippetOf(body, needles) });
  }
  // What holds a word as a part of another one only is no hit.
  return { rows, total: hits.length - (looked.length - scored.length) };
}

const inOrder = (a: PastHit, b: PastHit) =>
  b.score - a.score || b.updatedMs - a.updatedMs || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

/** Paths of which the head's index knows that an unchanged note may match; null: any may, or the head moved since. */
async function candidates(
  { texts, ...parts }: Parts,
  text: string,
  ranked: boolean,
): Promise<(head: number, path: number) => boolean> {
  const { head } = parts;
  const found = text === "" ? null : ranked ? await finishInTurns(texts.rank(text)) : null;
  const keys = found?.map(({ key }) => key) ?? (text === "" ? null : texts.mayContain(fold(text)));
  const known = keys === null ? null : new Set(keys);
  return (now, path) => known === null || now !== head || known.has(path);
}

/** Whether a note has what is looked for: the text literally, or one of the words in any of its forms. */
function hasText(
  text: string,
  words: readonly string[] | null,
  { fields }: SearchQuery,
): (note: LiveNote) => boolean {
  // A file that can't be read as a note is found by its text alone.
  if (text === "") return ({ quarantined }) => quarantined === null;
  const forms = (words ?? []).flatMap((word) => [word, ...wordForms(word)]);
  const needles = words === null ? [fold(text)] : forms;
  const withTags = words !== null || fields === "title-body-tags";
  return ({ meta, body }) => {
    const held = [meta.title, body, ...(withTags ? meta.tags : [])].map(fold);
    return needles.some((needle) => held.some((one) => one.includes(needle)));
  };
}

async function allHits(
  past: Past,
  query: SearchQuery,
  mayMatch: (head: number, path: number) => boolean,
  has: (note: LiveNote) => boolean,
): Promise<{ hits: PastHit[]; size: number }> {
  const { parts, commit } = past;
  const { graph, state } = parts;
  const number = graph.numberOf(commit) ?? -1;
  const turn = slicer();
  const passes = entryFilter(parts, query);
  const sees = sightOf(query);
  const hits: PastHit[] = [];
  let size = 0;
  for (let path = 1; path < graph.texts.paths.size; path++) {
    const pause = turn();
    if (pause) await pause;
    const entry = graph.entryNumberAt(number, path);
    if (entry < 0) continue;
    size += 1;
    if (!passes(entry)) continue;
    const same = state.holds(path) && state.entryOf(path) === entry;
    if (same && !mayMatch(parts.head, path)) continue;
    const note = await noteOf(past, entry);
    if (!sees(note) || !has(note)) continue;
    hits.push({ entry, updatedMs: note.updatedMs, id: note.meta.note_id, score: 1 });
  }
  return { hits, size };
}

/** What of a filter an entry alone can answer, so that fewer notes are read. */
function entryFilter({ graph }: Parts, { filter }: SearchQuery): (entry: number) => boolean {
  const { entries, texts } = graph;
  const types = filter.types && new Set(filter.types.map((type) => texts.words.find(type)));
  const tagged = taggedWith(entries, filter.tags);
  const minTrust = filter.minTrust && TRUSTS.indexOf(filter.minTrust);
  return (entry) =>
    // A file that can't be read as a note has no type and is shown as a general one.
    (!types || types.has(entries.typeOf(entry)) || entries.typeOf(entry) === 0) &&
    (!tagged || tagged(entries.tagsOf(entry))) &&
    (minTrust === undefined || entries.trustOf(entry) <= minTrust);
}

/** As `visible.ts` says it of the head. */
function sightOf({ filter, viewer, nowMs }: SearchQuery): (note: LiveNote) => boolean {
  const own = filter.agentIds === undefined && viewer.kind === "agent" ? viewer.agentId : null;
  return ({ meta, expiresMs }) => {
    if ((expiresMs !== null && expiresMs <= nowMs) || meta.key?.startsWith("__")) return false;
    const isOthers = meta.key !== null && meta.scope !== "workspace" && meta.agent_id !== own;
    return !(own !== null && isOthers) && matches(filter, meta);
  };
}

/** A note as an entry left it: from memory where the head still has it, else from its blob. */
async function noteOf({ parts: { graph, state }, parse, read }: Past, number: number): Promise<LiveNote> {
  const path = graph.entries.pathOf(number);
  const held = state.holds(path) && state.entryOf(path) === number ? state.at(path) : null;
  if (held) return held;
  const entry = graph.entries.at(number);
  return liveNote(graph, entry, parse(entry.path, await read(entry.blob)));
}

/** Hits by their words, as the head's are ranked; what holds none after all is left out. @param size  of all notes */
async function rankedHits(
  past: Past,
  hits: readonly PastHit[],
  text: string,
  size: number,
): Promise<PastHit[]> {
  const index = new MemoryTextIndex();
  const turn = slicer();
  for (const [key, { entry }] of hits.entries()) {
    const { meta, body } = await noteOf(past, entry);
    index.put(key, 0, { title: meta.title, tags: meta.tags, body });
    await turn();
  }
  const { averageLength } = past.parts.texts;
  const scored = (await finishInTurns(index.rank(text, { size, averageLength }))).flatMap(
    ({ key, score }) => {
      const hit = hits[key];
      return hit ? [{ ...hit, score }] : [];
    },
  );
  scored.sort(inOrder);
  const best = scored.slice(0, LITERAL_LOOKED_AT);
  const folded = fold(text);
  for (const [at, hit] of best.entries()) {
    const { meta, body } = await noteOf(past, hit.entry);
    const literal = [meta.title, body, ...meta.tags].some((one) => fold(one).includes(folded));
    if (literal) best[at] = { ...hit, score: hit.score + (1 - hit.score) * LITERAL_BONUS };
  }
  return [...best.sort(inOrder), ...scored.slice(LITERAL_LOOKED_AT)];
}
