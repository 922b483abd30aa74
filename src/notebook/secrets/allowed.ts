/**
 * `<gitdir>/notesd/allowed`: what looks like a secret and is none, as a person said, a fingerprint a line with its kind,
 * when and who. Every process reads it at each use, so a change holds at once. Beside it `refused` tells what the
 * fingerprints of late refusals were of. Invariant: neither holds a value.
 */
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { orAbsent, writeDurably } from "../../lib/durable-file.ts";

export interface SecretEntry {
  readonly fingerprint: string;
  readonly kind: string;
  /** ISO 8601; empty in a line that was written by hand. */
  readonly at: string;
  /** Who allowed it; of a refusal, what it was in. */
  readonly note: string;
}

export interface AllowedSecrets {
  has(fingerprint: string): boolean;
  /** Oldest first. */
  list(): readonly SecretEntry[];
  /** @returns false: it was allowed already */
  add(fingerprint: string, who: string): boolean;
  /** @returns false: it was not allowed */
  remove(fingerprint: string): Promise<boolean>;
  /** What was refused lately and is not allowed, each once, newest last. */
  refused(): readonly SecretEntry[];
  /** Remember a refusal. @param what it was in: a path, or a part of a commit */
  noteRefusal(match: { readonly kind: string; readonly fingerprint: string }, what: string): void;
}

const LINE = /^([0-9a-f]{16})(?: (\S+))?(?: (\S+))?(?: (.*))?$/;
const KIND_UNKNOWN = "unknown";
/** When there are twice as many refusals, the older half is dropped. */
const REFUSALS_KEPT = 200;

/** @param stateDir `<gitdir>/notesd` */
export function allowedSecrets(stateDir: string, nowMs: () => number): AllowedSecrets {
  const allowedFile = join(stateDir, "allowed");
  const refusedFile = join(stateDir, "refused");
  const list = () => entriesOf(textOf(allowedFile));
  const has = (fingerprint: string) => list().some((entry) => entry.fingerprint === fingerprint);
  const at = () => new Date(nowMs()).toISOString();
  const append = (file: string, entry: SecretEntry, flush: boolean) => {
    mkdirSync(stateDir, { recursive: true, mode: 0o700 });
    const gap = /[^\n]$/.test(textOf(file)) ? "\n" : "";
    appendFileSync(file, gap + lineOf(entry), { mode: 0o600, flush });
  };

  return {
    has,
    list,
    add(fingerprint, who) {
      if (has(fingerprint)) return false;
      const refusal = entriesOf(textOf(refusedFile)).findLast((entry) => entry.fingerprint === fingerprint);
      append(allowedFile, { fingerprint, kind: refusal?.kind ?? KIND_UNKNOWN, at: at(), note: who }, true);
      return true;
    },
    async remove(fingerprint) {
      if (!has(fingerprint)) return false;
      const kept = list().filter((entry) => entry.fingerprint !== fingerprint);
      await writeDurably(allowedFile, kept.map(lineOf).join(""), { mode: 0o600 });
      return true;
    },
    refused() {
      const allowed = new Set(list().map(({ fingerprint }) => fingerprint));
      const last = new Map<string, SecretEntry>();
      for (const entry of entriesOf(textOf(refusedFile))) {
        last.delete(entry.fingerprint);
        if (!allowed.has(entry.fingerprint)) last.set(entry.fingerprint, entry);
      }
      return [...last.values()].slice(-REFUSALS_KEPT);
    },
    noteRefusal({ kind, fingerprint }, what) {
      try {
        const known = entriesOf(textOf(refusedFile));
        if (known.length >= 2 * REFUSALS_KEPT)
          writeFileSync(refusedFile, known.slice(-REFUSALS_KEPT).map(lineOf).join(""), { mode: 0o600 });
        append(refusedFile, { fingerprint, kind, at: at(), note: what }, false);
      } catch {
        // Trigger: a full or read-only disk. Why: the refusal itself must reach its caller. Outcome: one line less in
        // a list that is for a person's convenience.
      }
    },
  };
}

const textOf = (file: string): string => orAbsent(() => readFileSync(file, "utf8")) ?? "";

function entriesOf(text: string): SecretEntry[] {
  return text.split("\n").flatMap((line) => {
    const [, fingerprint, kind = KIND_UNKNOWN, at = "", note = ""] = LINE.exec(line.trimEnd()) ?? [];
    return fingerprint === undefined ? [] : [{ fingerprint, kind, at, note }];
  });
}

const lineOf = ({ fingerprint, kind, at, note }: SecretEntry) =>
  `${fingerprint} ${kind} ${at} ${note.replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, " ")}`.trimEnd().concat("\n");
