/**
 * How intents lie on disk: lines in logs of `<gitdir>/notesd/intents/`, each with its checksum, read up to the first that is
 * torn. A log costs one file for hundreds of groups, and no sync of its folder beside the one that makes it.
 * Earlier versions wrote one file an intent, `<name>.json`, called `<name>.placed` later: read here too, never written.
 * Which intents there are, and what they mean, is `intents.ts`.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { orAbsent } from "../../lib/durable-file.ts";
import { jsonOrNull } from "../../lib/json-text.ts";
import type { Intent } from "./intents.ts";

/** One step in the life of the intents of a log. */
export type LogEntry =
  | { readonly open: string; readonly intent: Intent }
  | { readonly placed: readonly string[] }
  | { readonly closed: readonly string[] };

/** What was read of a log. */
export interface ReadLog {
  readonly entries: readonly LogEntry[];
  /** Bytes up to the end of the last whole line: where the next one goes. */
  readonly end: number;
}

const NEWLINE = 0x0a;
const CHECKSUM_DIGITS = 8;
const LOG = /^\d{12}\.log$/;
const SINGLE = /^\d{12}\.(?:json|placed)$/;

/**
 * A line of a log.
 * @param unplaced how many intents of the log are neither placed nor closed after this line. Last in the line, for
 *   `hooks/pre-commit`, which reads no more than the end of a log
 */
export function logLine(entry: LogEntry, unplaced: number): Buffer {
  const text = JSON.stringify({ ...entry, unplaced });
  return Buffer.from(`${crc32(text).toString(16).padStart(CHECKSUM_DIGITS, "0")} ${text}\n`);
}

/** Read a log up to its first torn line, which a crash left, or the write of another process that isn't done. */
export function readLog(bytes: Buffer): ReadLog {
  const entries: LogEntry[] = [];
  let end = 0;
  for (;;) {
    const newline = bytes.indexOf(NEWLINE, end);
    const entry = newline < 0 ? null : entryOf(bytes.subarray(end, newline));
    if (entry === null) return { entries, end };
    entries.push(entry);
    end = newline + 1;
  }
}

function entryOf(line: Buffer): LogEntry | null {
  const text = line.subarray(CHECKSUM_DIGITS + 1);
  if (crc32(text) !== Number.parseInt(line.toString("latin1", 0, CHECKSUM_DIGITS), 16)) return null;
  // Written by us, whole: the checksum says so.
  return JSON.parse(text.toString()) as LogEntry;
}

/** An intent as it lies on disk. */
export interface StoredIntent {
  readonly name: string;
  readonly intent: Intent;
  readonly placed: boolean;
}

/** The file of one or many intents. */
export interface IntentFolderFile {
  readonly file: string;
  /** Null: one of an earlier version. */
  readonly log: ReadLog | null;
  /** Those that are not closed, oldest first. */
  readonly open: readonly StoredIntent[];
}

/** Every file of intents, oldest first; one that is gone or can't be read was never complete, and holds none. */
export function readIntentFiles(home: string): IntentFolderFile[] {
  const names = readdirSync(home).filter((name) => LOG.test(name) || SINGLE.test(name));
  return names.sort().map((name) => {
    const file = join(home, name);
    const bytes = orAbsent(() => readFileSync(file)) ?? Buffer.alloc(0);
    if (SINGLE.test(name)) return { file, log: null, open: single(name, bytes) };
    const log = readLog(bytes);
    return { file, log, open: openOf(log.entries) };
  });
}

function openOf(entries: readonly LogEntry[]): StoredIntent[] {
  const open = new Map<string, StoredIntent>();
  for (const entry of entries) {
    if ("open" in entry) {
      open.set(entry.open, { name: entry.open, intent: entry.intent, placed: false });
    } else if ("placed" in entry) {
      for (const name of entry.placed) {
        const found = open.get(name);
        if (found !== undefined) open.set(name, { ...found, placed: true });
      }
    } else for (const name of entry.closed) open.delete(name);
  }
  return [...open.values()];
}

function single(name: string, bytes: Buffer): StoredIntent[] {
  const value = jsonOrNull(bytes.toString());
  const whole = typeof value === "object" && value !== null && "format" in value && value.format === 1;
  // Written by us, whole, under a name that only a rename of the finished file could give.
  return whole
    ? [{ name: name.slice(0, 12), intent: value as Intent, placed: name.endsWith(".placed") }]
    : [];
}
