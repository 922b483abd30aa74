/**
 * The log: one JSON line an entry, to standard error. It says what happened to which door, method and
 * reference, and never holds a note's content, a parameter's value or a token.
 */
import { type Clock, systemClock } from "./clock.ts";

const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
type LogLevel = (typeof LOG_LEVELS)[number];

type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

interface LogOptions {
  /** Entries below this level are dropped. Default: info. */
  readonly level?: LogLevel;
  readonly clock?: Clock;
  /** Receives each line with its LF. Default: standard error. */
  readonly write?: (line: string) => void;
}

/** Make a log. An entry is `{at, level, message, …fields}`, `at` ISO 8601 in UTC. */
export function createLog(options: LogOptions = {}): Log {
  const { level: least = "info", clock = systemClock } = options;
  const write = options.write ?? ((line: string) => void process.stderr.write(line));
  const entry =
    (level: LogLevel) =>
    (message: string, fields: LogFields = {}) => {
      if (LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(least)) return;
      const at = new Date(clock.now()).toISOString();
      write(`${JSON.stringify({ at, level, message, ...fields })}\n`);
    };
  return { debug: entry("debug"), info: entry("info"), warn: entry("warn"), error: entry("error") };
}

/** An error as log fields: its stack, which only the log may hold, cut to 4,000 characters. */
export function errorFields(error: unknown): LogFields {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { error: text.slice(0, 4000) };
}
