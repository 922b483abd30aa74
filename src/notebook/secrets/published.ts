/**
 * Secrets that came in with commits of others: a sync, or a person's own commit past the hooks. They are history by then,
 * so refusing them would protect nothing; they are told, in the log and in `daemon.status`, until the note is without.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { BlobId, RepoPath } from "../../domain/note.ts";
import { decodeNote } from "../../domain/note-text.ts";
import { mayHoldSecret } from "../../domain/secrets/secrets.ts";
import type { NoteChange } from "../../index/note-index.ts";
import type { Warn } from "../../lib/bus.ts";
import type { NoteStore } from "../../store/note-store.ts";
import type { SecretGuard } from "./secret-guard.ts";

export interface PublishedSecrets {
  /** Look at what came in, note by note, beside everything else. */
  came(changes: readonly NoteChange[]): void;
  /** Look again at those of our own commits that change what was told. */
  wrote(changes: readonly NoteChange[]): void;
  /** Notes that hold one, with what is to be done. What was allowed since is left out. */
  reported(): readonly { readonly path: RepoPath; readonly reason: string }[];
  /** Look at no more. @returns when nothing is read any more */
  stop(): Promise<void>;
}

interface Looked {
  readonly path: RepoPath;
  /** Null: the note is gone. */
  readonly revision: BlobId | null;
  readonly before: BlobId | null;
}

type Told = Awaited<ReturnType<SecretGuard["find"]>>;

export function publishedSecrets(
  guard: SecretGuard,
  store: Pick<NoteStore, "readBlob">,
  warn: Warn,
): PublishedSecrets {
  /** By path: what comes again before it was looked at counts as it is then. */
  const waiting = new Map<RepoPath, Looked>();
  const told = new Map<RepoPath, Told>();
  let looking: Promise<void> | null = null;

  async function textOf(id: BlobId | null): Promise<string | null> {
    return id === null ? null : decodeNote(await store.readBlob(id)).text;
  }

  async function look({ path, revision, before }: Looked): Promise<void> {
    const text = await textOf(revision);
    const isKnown = told.has(path);
    const found =
      text !== null && mayHoldSecret(text)
        ? await guard.find(text, isKnown ? null : await textOf(before))
        : [];
    if (found.length === 0) {
      told.delete(path);
      return;
    }
    told.set(path, found);
    for (const match of isKnown ? [] : found) {
      guard.allowed.noteRefusal(match, `${path}:${match.line}, in history already`);
      warn("a note that came in holds what looks like a secret", { path, ...match });
    }
  }

  async function lookAtAll(): Promise<void> {
    for (;;) {
      const [next] = waiting.values();
      if (next === undefined) break;
      waiting.delete(next.path);
      try {
        await look(next);
      } catch (error) {
        // Trigger: a blob can't be read now. Why: nobody waits for this look. Outcome: that note is not told of.
        warn("a note that came in could not be looked through for secrets", {
          path: next.path,
          why: error instanceof Error ? error.message : String(error),
        });
      }
      await nextTurn();
    }
    looking = null;
  }

  function add(changes: readonly NoteChange[]): void {
    for (const { path, revision, before } of changes) {
      const first = waiting.get(path);
      // A revision of the index is a blob's id.
      const was = first === undefined ? ((before?.revision ?? null) as BlobId | null) : first.before;
      waiting.set(path, { path, revision, before: was });
    }
    if (waiting.size > 0) looking ??= lookAtAll();
  }

  return {
    came: add,
    wrote(changes) {
      if (told.size > 0) add(changes.filter(({ path }) => told.has(path)));
    },
    reported() {
      if (told.size === 0) return [];
      const allowed = new Set(guard.allowed.list().map(({ fingerprint }) => fingerprint));
      return [...told].flatMap(([path, found]) => {
        const first = found.find(({ fingerprint }) => !allowed.has(fingerprint));
        if (first === undefined) return [];
        const { kind, line, fingerprint } = first;
        const reason = `line ${line} holds what looks like a secret (${kind}, fingerprint ${fingerprint}), and it is in history: make it worthless where it opens something. If it is none: notesd allow ${fingerprint}`;
        return [{ path, reason }];
      });
    },
    async stop() {
      waiting.clear();
      await looking;
    },
  };
}
