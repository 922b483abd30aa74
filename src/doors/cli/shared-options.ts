/** Options that many commands share, and what they mean for which repository and who is calling. */
import { type Command, InvalidArgumentError } from "commander";
import { ProcessError } from "../../domain/process-error.ts";
import { nearest } from "../../lib/nearest.ts";
import type { Flags } from "./host.ts";
import { optionKey, parseObject } from "./params-text.ts";

const REPO = "the note repository (NOTESD_REPO; else around the current folder)";
const CONFIG = "settings file (default: notes.config.json in the current folder)";

/** What commander leaves in its options, whatever the command. */
export type Options = Readonly<Record<string, unknown>>;

/** Read an option's number. @throws InvalidArgumentError */
export function number(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value)) throw new InvalidArgumentError("A number is expected.");
  return value;
}

/** Read an option's port, 0 to 65535. @throws InvalidArgumentError */
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

/** Commands whose --params are an action's, which its schema judges; of the others they stand for options. */
const OWN_PARAMS = new WeakSet<Command>();
const NEEDED = new WeakMap<Command, readonly string[]>();

/** Add an argument that must be given, on the command line or in --params. */
export function withArgument(command: Command, name: string, about: string): Command {
  NEEDED.set(command, [...(NEEDED.get(command) ?? []), name]);
  return command.argument(`[${name}]`, about);
}

/**
 * Before a command runs: let `--params` stand for options and arguments that the command line lacks.
 * @throws ProcessError USAGE an unknown name, or an argument that is in neither
 */
export function applyParams(command: Command): void {
  const { params } = command.opts<Options>();
  if (typeof params === "string" && !OWN_PARAMS.has(command)) {
    for (const [key, value] of Object.entries(parseObject(params, "--params"))) setOne(command, key, value);
  }
  const names = command.registeredArguments.map((argument) => argument.name());
  const missing = (NEEDED.get(command) ?? []).filter(
    (name) => command.processedArgs[names.indexOf(name)] === undefined,
  );
  if (missing.length > 0)
    throw new ProcessError("USAGE", `missing ${missing.join(" and ")}. Usage: ${usageOf(command)}`);
}

/** `notesd agent add [options] [name]` */
function usageOf(command: Command): string {
  const names: string[] = [];
  for (let at: Command | null = command; at; at = at.parent) names.unshift(at.name());
  return `${names.join(" ")} ${command.usage()}`;
}

function setOne(command: Command, key: string, value: unknown): void {
  const names = command.registeredArguments.map((argument) => argument.name());
  const options = command.options.map((option) => option.attributeName());
  const option = optionKey(key);
  if (names.includes(key)) command.processedArgs[names.indexOf(key)] ??= value;
  else if (!options.includes(option) || option === "params") {
    const near = nearest(key, [...names, ...options]);
    throw new ProcessError(
      "USAGE",
      `--params: ${key} is unknown here${near ? `; did you mean ${near}?` : "."}`,
    );
  } else if (command.getOptionValueSource(option) !== "cli") {
    command.setOptionValueWithSource(option, value, "config");
  }
}

/** Options of every command that is about one repository. */
export function withRepository(command: Command): Command {
  return command
    .option("--params <json>", "options and arguments as a JSON object; the command line wins over it")
    .option("--repo <dir>", REPO)
    .option("--config <file>", CONFIG)
    .option("--json", "the result as JSON");
}

/** Options of every command that asks the daemon. */
export function withDaemon(command: Command): Command {
  OWN_PARAMS.add(command);
  return command
    .option("--repo <dir>", REPO)
    .option("--config <file>", CONFIG)
    .option("--json", "the result as JSON")
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
