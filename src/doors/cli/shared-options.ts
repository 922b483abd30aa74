/** Options that many commands share, and what they mean for which repository and who is calling. */
import { type Command, InvalidArgumentError } from "commander";
import type { Flags } from "./host.ts";

/** What commander leaves in its options, whatever the command. */
export type Options = Readonly<Record<string, unknown>>;

export function number(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value)) throw new InvalidArgumentError("A number is expected.");
  return value;
}

export function port(text: string): number {
  const value = number(text);
  if (!Number.isInteger(value) || value < 0 || value > 65_535) {
    throw new InvalidArgumentError("A port is 0 to 65535; 0 picks a free one.");
  }
  return value;
}

export const collect = (text: string, before: readonly string[] | undefined): string[] => [
  ...(before ?? []),
  text,
];

/** Options of every command that is about one repository. */
export function withRepository(command: Command): Command {
  return command
    .option("--repo <dir>", "the note repository (NOTESD_REPO; else around the current folder)")
    .option("--config <file>", "settings file (default: notes.config.json in the current folder)")
    .option("--json", "the result as JSON");
}

/** Options of every command that asks the daemon. */
export function withDaemon(command: Command): Command {
  return withRepository(command)
    .option("--as <agent>", "be this agent (NOTESD_AGENT; else the person)")
    .option("--no-start", "don't start a daemon when none is running")
    .option("--params <json>", "parameters as a JSON object, - for standard input; options win over it");
}

/** Settings among a command's options. */
export function flagsOf(options: Options): Flags {
  const { repo, config, host, port: wanted, roots } = options;
  return {
    ...(typeof repo === "string" ? { repo } : {}),
    ...(typeof config === "string" ? { config } : {}),
    ...(typeof host === "string" ? { host } : {}),
    ...(typeof wanted === "number" ? { port: wanted } : {}),
    ...(Array.isArray(roots) ? { roots: roots.map(String) } : {}),
  };
}
