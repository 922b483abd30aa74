/** One command for every action, made from its schema: adding an action adds its command. */
import { Argument, type Command, Option } from "commander";
import type { AnyAction, Registry } from "../../actions/action.ts";
import { type CliCommand, type CliOption, cliCommand } from "../../actions/describe.ts";
import { parseParams } from "../../actions/invoke.ts";
import { actionParams } from "./action-params.ts";
import type { CliHost } from "./host.ts";
import { collect, type Options, withDaemon } from "./shared-options.ts";
import { show } from "./show.ts";
import { withClient } from "./with-client.ts";

/** Add the command of each action that has one. @param except  methods whose command is made elsewhere */
export function addActionCommands(
  program: Command,
  registry: Registry,
  host: CliHost,
  except: ReadonlySet<string>,
): void {
  for (const action of registry.values()) {
    const described = cliCommand(action);
    if (described && !except.has(action.name)) addActionCommand(program, action, described, host);
  }
}

/** Add one action's command, under its own name or another. */
export function addActionCommand(
  program: Command,
  action: AnyAction,
  described: CliCommand,
  host: CliHost,
): Command {
  const [name = "", group] = described.command.split(" ").reverse();
  const command = (group === undefined ? program : groupOf(program, group))
    .command(name)
    .summary(inList(described.summary))
    .description(described.description);
  for (const option of described.options) {
    if (option.positional) command.addArgument(new Argument(`[${option.name}]`, option.description));
    for (const made of optionsFor(option)) command.addOption(option.positional ? made.hideHelp() : made);
  }
  withDaemon(command);
  const named = described.options.filter((option) => option.positional).map((option) => option.flag);
  if (named.length > 0) {
    command.addHelpText(
      "after",
      `\nArguments may be named too (${named.join(", ")}). A text of - is read from standard input.`,
    );
  }
  command.action(async (...given: unknown[]) => {
    // commander's own order: arguments, options, command.
    const options = given.at(-2) as Options;
    const positional = given.slice(0, -2).map((word) => (word === undefined ? undefined : String(word)));
    const params = await actionParams(described, options, positional, host.io.readInput);
    // What the schema refuses is refused here, without starting a daemon for it.
    parseParams(action, params);
    const result = await withClient(host, options, (client) => client.callAny(action.name, params));
    host.io.out(options["json"] ? `${JSON.stringify(result)}\n` : show(action.name, result, host.io));
  });
  return command;
}

/** The command that others stand below: `feedback` of `feedback save`. */
function groupOf(program: Command, name: string): Command {
  const made = program.commands.find((command) => command.name() === name);
  return made ?? program.command(name).summary(GROUPS[name] ?? "");
}

const GROUPS: Readonly<Record<string, string>> = { feedback: "rules of how to behave" };

/** An action's parameter as options: `--note-type`, and `--type` beside it; `--tag` several times, or `--tags`. */
function optionsFor(option: CliOption): Option[] {
  const about = option.description || option.name.replaceAll("_", " ");
  const value = option.name.replaceAll("_", "-");
  if (option.kind === "boolean") {
    return [
      new Option(option.flag, about),
      new Option(option.flag.replace("--", "--no-"), `the opposite of ${option.flag}`),
    ];
  }
  if (option.kind === "json") {
    return [
      new Option(`${option.flag} <key=value>`, `${about} Several times, or one JSON object.`).argParser(
        collect,
      ),
    ];
  }
  const list = option.kind === "list" || option.kind === "numbers";
  const placeholder = list ? value.replace(/s$/, "") : option.kind === "number" ? "number" : value;
  const flags = [option.flag];
  if (list && value.endsWith("s")) flags.unshift(option.flag.slice(0, -1));
  if (value.startsWith("note-") && value !== "note-id") flags.push(option.flag.replace("note-", ""));
  return flags.map((flag, at) => {
    const made = new Option(`${flag} <${placeholder}>`, list ? `${about} Several times for several.` : about);
    made.attributeName = () => camel(option.flag);
    if (list) made.argParser(collect);
    else if (option.choices) made.choices([...option.choices]);
    return at === 0 ? made : made.hideHelp();
  });
}

const camel = (flag: string): string =>
  flag.replace(/^--/, "").replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** A sentence as a line of the list of commands: `Create a typed note.` → `create a typed note` */
const inList = (sentence: string): string =>
  `${sentence.charAt(0).toLowerCase()}${sentence.slice(1).replace(/\.$/, "")}`;
