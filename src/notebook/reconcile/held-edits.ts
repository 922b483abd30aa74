/**
 * The books of hand edits that hold a secret: which files, what was found in them, and since when. Kept in
 * `<gitdir>/notesd/held`, so that a start reports them as before and looks at none of them again. Who looks, and what
 * becomes of an edit, is not here.
 * Invariant: nothing of a file's text is in these books, only where a value lies, its kind and its fingerprint.
 */
import { readFileSync, unlinkSync } from "node:fs";
import { z } from "zod";
import type { BlobId, RepoPath } from "../../domain/note.ts";
import type { SecretMatch } from "../../domain/secrets/secrets.ts";
import type { Warn } from "../../lib/bus.ts";
import { orAbsent, writeDurably } from "../../lib/durable-file.ts";
import type { SecretFinder } from "./secret-check.ts";

/** A hand edit that stays uncommitted for what it holds. */
export interface HeldEdit {
  readonly path: RepoPath;
  /** Those that nobody allowed. */
  readonly matches: readonly SecretMatch[];
  /** ISO 8601: when an edit of this file first was held; it stands while each later save is held too. */
  readonly since: string;
}

export interface HeldEdits {
  /** Whether this very text, on top of this very text of the branch, is known to hold what nobody allowed. */
  stands(path: RepoPath, blob: BlobId | null, was: BlobId | null): boolean;
  /** Where the note of a held new file lay before; null: it is no move, or not held. */
  from(path: RepoPath): RepoPath | null;
  /** What this very text of a file holds that nobody allowed, as far as these books know; null: nothing. */
  of(path: RepoPath, blob: BlobId | null): HeldEdit | null;
  /** Paths in these books, also those whose matches are all allowed by now. */
  paths(): RepoPath[];
  /** Write down an edit. Told to people once for each text. */
  hold(found: {
    readonly path: RepoPath;
    readonly blob: BlobId;
    readonly was: BlobId | null;
    readonly matches: readonly SecretMatch[];
    readonly from: RepoPath | null;
    /** The value is in the path: then that is written down nowhere. */
    readonly isName: boolean;
  }): void;
  /** The file is level, committed, or gone. */
  forget(path: RepoPath): void;
  /** Resolves when the file says what is here. */
  flush(): Promise<void>;
}

const blob = z.custom<BlobId>((value) => typeof value === "string" && /^[0-9a-f]{40}$/.test(value));

const path = z.custom<RepoPath>((value) => typeof value === "string" && value !== "");

const Row = z.object({
  path,
  /** What the file holds, and what the branch holds there. */
  blob,
  was: blob.nullable(),
  matches: z.array(z.object({ kind: z.string(), line: z.number(), fingerprint: z.string() })),
  since: z.string(),
  from: path.nullable(),
});
type Row = z.infer<typeof Row>;

const HeldFile = z.object({ format: z.literal(1), edits: z.array(Row) });

interface HeldOptions {
  /** Null: kept in memory alone. */
  readonly file: string | null;
  readonly secrets: Pick<SecretFinder, "isAllowed" | "noteHeld">;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly warn: Warn;
}

/** Open the books. What can't be read counts as empty: the next look at the files finds it again. */
export function openHeldEdits({ file, secrets, now, warn }: HeldOptions): HeldEdits {
  const rows = new Map(read(file, warn).map((row) => [row.path, row]));
  /** Paths that hold a value themselves. */
  const named = new Set<RepoPath>();
  let isWritten = true;
  let writing: Promise<void> = Promise.resolve();

  function of(path: RepoPath, text: BlobId | null): HeldEdit | null {
    const row = rows.get(path);
    if (row === undefined || row.blob !== text) return null;
    const matches = row.matches.filter(({ fingerprint }) => !secrets.isAllowed(fingerprint));
    return matches.length === 0 ? null : { path, matches, since: row.since };
  }

  async function write(): Promise<void> {
    if (file === null || isWritten) return;
    isWritten = true;
    try {
      const edits = [...rows.values()].filter(({ path }) => !named.has(path));
      if (edits.length === 0) orAbsent(() => unlinkSync(file));
      else await writeDurably(file, JSON.stringify({ format: 1, edits }), { mode: 0o600 });
    } catch (error) {
      // Trigger: a full disk. Why: the books only spare a start one look. Outcome: found again, since that start.
      warn("the list of held edits could not be written", { trigger: file, why: messageOf(error) });
    }
  }

  function changed(): void {
    isWritten = false;
    writing = writing.then(write);
  }

  return {
    stands: (path, text, was) => of(path, text) !== null && rows.get(path)?.was === was,
    of,
    from: (path) => rows.get(path)?.from ?? null,
    paths: () => [...rows.keys()].sort(),
    hold({ path, blob, was, matches, from, isName }) {
      const known = rows.get(path);
      const kept = matches.map(({ kind, line, fingerprint }) => ({ kind, line, fingerprint }));
      const since = known?.since ?? new Date(now()).toISOString();
      rows.set(path, { path, blob, was, matches: kept, since, from });
      if (isName) named.add(path);
      changed();
      if (known?.blob === blob) return;
      const shown = isName ? "a file whose name holds it" : path;
      for (const match of kept) secrets.noteHeld(match, shown);
      warn("a hand edit holds a secret and is not committed", {
        path: shown,
        found: matchWords(kept),
        outcome: `it stays on the disk as it is: ${WAYS_OUT}`,
      });
    },
    forget(path) {
      named.delete(path);
      if (rows.delete(path)) changed();
    },
    flush: () => writing,
  };
}

/** What ends a hold, as half a sentence. */
export const WAYS_OUT =
  "take the value out and save, or, where it is none, let it pass with notesd allow FINGERPRINT";

const MOST_WORDS = 5;

const placeOf = (line: number) => (line === 0 ? "its name or title" : `line ${line}`);

/** Where what lies, in words, without the values. */
export function matchWords(matches: readonly SecretMatch[]): string {
  const some = matches
    .slice(0, MOST_WORDS)
    .map(({ kind, line, fingerprint }) => `${kind} in ${placeOf(line)} (fingerprint ${fingerprint})`);
  const more = matches.length - some.length;
  return `${some.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

function read(file: string | null, warn: Warn): Row[] {
  const text = file === null ? null : orAbsent(() => readFileSync(file, "utf8"));
  if (text === null) return [];
  try {
    return HeldFile.parse(JSON.parse(text)).edits;
  } catch (error) {
    warn("the list of held edits can't be read", {
      trigger: file,
      why: messageOf(error),
      outcome: "they are found again by the first look at the files",
    });
    return [];
  }
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
