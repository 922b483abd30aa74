/**
 * Every entry and text that the fold remembers, in columns: an entry is a number here, and an object only while
 * somebody looks at it. Invariant: what a number stands for never changes.
 */
import { type BlobId, type NoteId, type RepoPath, TRUSTS } from "../domain/note.ts";
import { counts, flags, mustBeLevel, type Rows } from "../lib/held/column.ts";
import { HexRows } from "../lib/held/hex-rows.ts";
import type { TextPool } from "../lib/held/text-pool.ts";
import type { Entry } from "./entry.ts";
import { PINS } from "./pin.ts";

/** The texts of an index, numbered apart so that what belongs to a path or an id can stand in columns. */
export interface Texts {
  readonly paths: TextPool;
  readonly ids: TextPool;
  /** Titles, types, lists of tags, sessions, actions. */
  readonly words: TextPool;
}

const TAGS_HELD_MAX = 4_096;
/** Of an entry's flags: the pin, above the trust. */
const PIN_UNIT = 8;

export class EntryTable {
  readonly #texts: Texts;
  readonly #paths = counts();
  readonly #blobs = new HexRows();
  readonly #ids = counts();
  readonly #fallbacks = counts();
  readonly #firsts = counts();
  readonly #changed = counts();
  readonly #trusts = flags();
  readonly #titles = counts();
  readonly #types = counts();
  readonly #tags = counts();
  readonly #claims = counts();
  /** Lists of tags that were read lately, so that most notes share theirs. */
  readonly #tagLists = new Map<number, readonly string[]>();

  readonly rows: readonly Rows[] = [
    this.#paths,
    ...this.#blobs.rows,
    this.#ids,
    this.#fallbacks,
    this.#firsts,
    this.#changed,
    this.#trusts,
    this.#titles,
    this.#types,
    this.#tags,
    this.#claims,
  ];

  constructor(texts: Texts) {
    this.#texts = texts;
  }

  get length(): number {
    return this.#paths.length;
  }

  /** Keep an entry. @returns its number */
  push(entry: Entry): number {
    const { paths, ids, words } = this.#texts;
    const { title, type, tags, claim } = entry.brief;
    this.#paths.push(paths.of(entry.path));
    this.#blobs.push(entry.blob);
    this.#ids.push(ids.of(entry.id));
    this.#fallbacks.push(ids.ofOrNull(entry.fallback));
    this.#firsts.push(entry.first);
    this.#changed.push(entry.changed);
    this.#trusts.push(TRUSTS.indexOf(entry.trust) + PINS.indexOf(entry.pin) * PIN_UNIT);
    this.#titles.push(words.of(title));
    this.#types.push(words.ofOrNull(type));
    this.#tags.push(tags.length === 0 ? 0 : words.of(JSON.stringify(tags)));
    return this.#claims.push(ids.ofOrNull(claim));
  }

  /** Rows were appended. @throws RangeError  no entries: they name what isn't there */
  restored(commits: number): void {
    const { paths, ids, words } = this.#texts;
    mustBeLevel(this.length, [this.#blobs, this.#ids, this.#fallbacks, this.#firsts, this.#changed]);
    mustBeLevel(this.length, [this.#trusts, this.#titles, this.#types, this.#tags, this.#claims]);
    this.#paths.mustBeBelow(paths.size);
    for (const column of [this.#ids, this.#fallbacks, this.#claims]) column.mustBeBelow(ids.size);
    for (const column of [this.#titles, this.#types, this.#tags]) column.mustBeBelow(words.size);
    for (const column of [this.#firsts, this.#changed]) column.mustBeBelow(commits);
  }

  at(number: number): Entry {
    const { paths, ids, words } = this.#texts;
    // Brands: what was pushed had them.
    return {
      path: paths.at(this.pathOf(number)) as RepoPath,
      blob: this.#blobs.at(number) as BlobId,
      id: ids.at(this.idOf(number)) as NoteId,
      fallback: ids.atOrNull(this.#fallbacks.at(number)) as NoteId | null,
      first: this.firstOf(number),
      changed: this.#changed.at(number),
      trust: TRUSTS[this.trustOf(number)] ?? "pushed",
      pin: PINS[Math.floor(this.#trusts.at(number) / PIN_UNIT)] ?? "claimed",
      brief: {
        title: words.at(this.titleOf(number)),
        type: words.atOrNull(this.typeOf(number)),
        tags: this.tagList(this.tagsOf(number)),
        claim: ids.atOrNull(this.#claims.at(number)),
      },
    };
  }

  /** Whether a number stands for an entry that says the same. */
  equals(number: number, entry: Entry): boolean {
    if (this.#changed.at(number) !== entry.changed || this.firstOf(number) !== entry.first) return false;
    const { blob, id, fallback, trust, pin, brief } = this.at(number);
    return (
      blob === entry.blob &&
      id === entry.id &&
      fallback === entry.fallback &&
      trust === entry.trust &&
      pin === entry.pin &&
      brief.title === entry.brief.title &&
      brief.type === entry.brief.type &&
      brief.claim === entry.brief.claim &&
      brief.tags.length === entry.brief.tags.length &&
      brief.tags.every((tag, i) => tag === entry.brief.tags[i])
    );
  }

  /** Number of the path, in `paths`. */
  pathOf(number: number): number {
    return this.#paths.at(number);
  }
  /** Number of the id it is served under, in `ids`. */
  idOf(number: number): number {
    return this.#ids.at(number);
  }
  /** Number of the valid `id` of the front matter, in `ids`; 0: none. */
  claimOf(number: number): number {
    return this.#claims.at(number);
  }
  fallbackOf(number: number): number {
    return this.#fallbacks.at(number);
  }
  blobOf(number: number): BlobId {
    return this.#blobs.at(number) as BlobId; // what was pushed had the brand
  }
  firstOf(number: number): number {
    return this.#firsts.at(number);
  }
  /** Place in `TRUSTS`. */
  trustOf(number: number): number {
    return this.#trusts.at(number) % PIN_UNIT;
  }
  /** Number of the type in `words`; 0: the file can't be read as a note. */
  typeOf(number: number): number {
    return this.#types.at(number);
  }
  titleOf(number: number): number {
    return this.#titles.at(number);
  }
  /** Number of the list of tags, for `tagList`; 0: none. */
  tagsOf(number: number): number {
    return this.#tags.at(number);
  }

  /** Whether a list of tags may hold one of these, as JSON writes them: a look at its text. */
  tagged(tags: number, quoted: readonly string[]): boolean {
    if (tags === 0) return false;
    const text = this.#texts.words.at(tags);
    return quoted.some((tag) => text.includes(tag));
  }

  tagList(tags: number): readonly string[] {
    if (tags === 0) return NO_TAGS;
    const held = this.#tagLists.get(tags);
    if (held) return held;
    // What `push` wrote.
    const list = Object.freeze(JSON.parse(this.#texts.words.at(tags)) as string[]);
    if (this.#tagLists.size >= TAGS_HELD_MAX) this.#tagLists.clear();
    this.#tagLists.set(tags, list);
    return list;
  }
}

const NO_TAGS: readonly string[] = Object.freeze([]);

/** Whether a list of tags holds any of these; each list is looked at once. Undefined where none are asked for. */
export function taggedWith(
  entries: EntryTable,
  wanted: readonly string[] | undefined,
): ((tags: number) => boolean) | undefined {
  if (wanted === undefined) return undefined;
  const known = new Map<number, boolean>();
  const quoted = wanted.map((tag) => JSON.stringify(tag));
  return (tags) => {
    const said = known.get(tags);
    if (said !== undefined) return said;
    const holds = entries.tagged(tags, quoted) && wanted.some((tag) => entries.tagList(tags).includes(tag));
    known.set(tags, holds);
    return holds;
  };
}
