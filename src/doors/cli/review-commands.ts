/** Commands for reading what happened: log, diff. What they show is an action's result. */
import { type Command, Option } from "commander";
import type { Registry } from "../../actions/action.ts";
import { cliCommand } from "../../actions/describe.ts";
import { parseParams } from "../../actions/invoke.ts";
import { addActionCommand } from "./action-commands.ts";
import { actionParams } from "./action-params.ts";
import type { CliHost } from "./host.ts";
import type { Options } from "./shared-options.ts";
import { diffText, wordDiffText } from "./show-history.ts";
import { withClient } from "./with-client.ts";

/** Actions whose command is made here, and not from the schema alone. */
export const OWN_COMMANDS: ReadonlySet<string> = new Set(["notes.diff"]);

/** Add `log` and `diff`. */
export function addReviewCommands(program: Command, registry: Registry, host: CliHost): void {
  addLog(program, registry, host);
  addDiff(program, registry, host);
}

/** `log`: history with everything but the note as options, and the short names that people guess. */
function addLog(program: Command, registry: Registry, host: CliHost): void {
  const history = registry.get("notes.history");
  const described = history && cliCommand(history);
  if (!history || !described) return;
  const options = described.options.map((option) => ({ ...option, positional: false }));
  addActionCommand(program, history, { ...described, command: "log", options }, host)
    .summary("what happened: when, who, what and why")
    .addOption(named("--agent <agent>", "Only what this agent did.", "filterAgentId"))
    .addOption(named("--note <note>", "Only of this note; deleted ones too.", "noteId"));
}

function named(flags: string, about: string, key: string): Option {
  const option = new Option(flags, about);
  option.attributeName = () => key;
  return option;
}

function addDiff(program: Command, registry: Registry, host: CliHost): void {
  const diff = registry.get("notes.diff");
  const described = diff && cliCommand(diff);
  if (!diff || !described) return;
  addActionCommand(program, diff, described, host)
    .option("--word", "Word by word, not line by line.")
    .action(async (noteId: string | undefined, options: Options) => {
      const params = await actionParams(described, options, [noteId], host.io.readInput);
      parseParams(diff, params);
      const result = await withClient(host, options, (client) => client.callAny("notes.diff", params));
      // The daemon answers what the action's schema says.
      const shown = result as Parameters<typeof diffText>[0];
      const text = options["word"] ? wordDiffText(shown, host.io) : diffText(shown, host.io);
      host.io.out(options["json"] ? `${JSON.stringify(result)}\n` : text);
    });
}
