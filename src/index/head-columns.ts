/**
 * What a query asks of a note at the head before it shows it, by path, in columns. Knows no order and no ids.
 * Invariant: a row says what `metadata.ts` makes of the same file.
 */
import { SCOPES, STATUSES } from "../domain/note.ts";
import { pinCounts } from "../domain/trust.ts";
import { counts, flags, reals } from "../lib/held/column.ts";
import type { TextPool } from "../lib/held/text-pool.ts";
import type { LiveNote } from "./metadata.ts";

/** Units of the flags: status (0..3), then scope (0..3) and single bits. */
const SCOPE_UNIT = 4;
const QUARANTINED = 16;
const HIDDEN = 32;
const KEYED = 64;
const EXTRA = 128;
/** Bits of the marks. */
const PINNED = 1;
const DISAGREES = 2;

/** A row as it is set and saved, in this order. */
const NAMES = [
  "entry",
  "text",
  "updatedMs",
  "expiresMs",
  "flags",
  "marks",
  "agent",
  "agentName",
  "ref",
] as const;

export class HeadColumns {
  /** The entry's number, from 1 on; 0: the path holds nothing. */
  readonly entry = counts();
  /** Position of the record. */
  readonly text = counts();
  readonly updatedMs = reals();
  /** Infinity: never. */
  readonly expiresMs = reals();
  readonly flags = flags();
  readonly marks = flags();
  /** The notebook's agent id, from 1 on; 0: none. */
  readonly agent = counts();
  /** Numbers in `words`; 0: none. */
  readonly agentName = counts();
  readonly ref = counts();
  readonly #words: TextPool;

  constructor(words: TextPool) {
    this.#words = words;
  }

  set(path: number, entry: number, text: number, note: LiveNote): void {
    const { meta, quarantined } = note;
    this.entry.set(path, entry + 1);
    this.text.set(path, text);
    this.updatedMs.set(path, note.updatedMs);
    this.expiresMs.set(path, note.expiresMs ?? Number.POSITIVE_INFINITY);
    this.flags.set(
      path,
      STATUSES.indexOf(meta.status) +
        SCOPES.indexOf(meta.scope) * SCOPE_UNIT +
        (quarantined ? QUARANTINED : 0) +
        (meta.key?.startsWith("__") ? HIDDEN : 0) +
        (meta.key === null ? 0 : KEYED) +
        (Object.keys(meta.extra).length > 0 ? EXTRA : 0),
    );
    this.marks.set(path, (pinCounts(meta) ? PINNED : 0) + (note.disagreements.length > 0 ? DISAGREES : 0));
    this.agent.set(path, (meta.agent_id ?? -1) + 1);
    this.agentName.set(path, this.#words.ofOrNull(meta.agent_name));
    this.ref.set(path, this.#words.ofOrNull(meta.scope_ref_id));
  }

  clear(path: number): void {
    this.entry.set(path, 0);
  }

  /** Place in `STATUSES`. */
  statusOf(path: number): number {
    return this.flags.at(path) % SCOPE_UNIT;
  }
  /** Place in `SCOPES`. */
  scopeOf(path: number): number {
    return Math.floor((this.flags.at(path) % QUARANTINED) / SCOPE_UNIT);
  }
  isQuarantined(path: number): boolean {
    return (this.flags.at(path) & QUARANTINED) !== 0;
  }
  /** Whether its key is none that callers see (`__…`). */
  isHidden(path: number): boolean {
    return (this.flags.at(path) & HIDDEN) !== 0;
  }
  hasKey(path: number): boolean {
    return (this.flags.at(path) & KEYED) !== 0;
  }
  /** Whether it is pinned, by who may pin. */
  isPinned(path: number): boolean {
    return (this.marks.at(path) & PINNED) !== 0;
  }
  /** Whether its words say of a memory what its path doesn't. */
  disagrees(path: number): boolean {
    return (this.marks.at(path) & DISAGREES) !== 0;
  }
  hasExtra(path: number): boolean {
    return (this.flags.at(path) & EXTRA) !== 0;
  }

  /** Rows of these paths, column by column, in copies. */
  copy(paths: Uint32Array): readonly Uint8Array[] {
    return NAMES.map((name) => this[name].gather(paths));
  }

  /** Set rows from what `copy` gave. @throws RangeError  not as many as paths */
  restore(paths: Uint32Array, copied: readonly Uint8Array[]): void {
    for (const [i, name] of NAMES.entries()) this[name].scatter(paths, copied[i] ?? new Uint8Array(0));
  }
}
