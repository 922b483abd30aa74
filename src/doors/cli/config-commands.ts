/** `config get|set`: the settings that hold, and the repository's own file of them. */
import type { Command } from "commander";
import { ProcessError } from "../../domain/process-error.ts";
import type { CliHost } from "./host.ts";
import { flagsOf, type Options, withArgument, withRepository } from "./shared-options.ts";

/** Add `config get` and `config set`. */
export function addConfigCommands(program: Command, host: CliHost): void {
  const config = program.command("config").summary("settings");
  withRepository(config.command("get"))
    .argument("[key]", "e.g. port or reconcile.quiet_ms; all when absent")
    .summary("settings that hold, wherever they come from")
    .action(async (key: string | undefined, options: Options) => {
      const value = await host.getConfig(flagsOf(options), key ?? null);
      if (value === undefined)
        throw new ProcessError("NOT_FOUND", `${key} is not set, so its default holds.`);
      const text =
        typeof value === "string" && !options["json"]
          ? value
          : JSON.stringify(value, null, options["json"] ? 0 : 2);
      host.io.out(`${text}\n`);
    });
  const set = withArgument(withRepository(config.command("set")), "key", "e.g. port or reconcile.quiet_ms");
  withArgument(set, "value", "text, or JSON; null takes the setting away")
    .summary("set one for this repository; a running daemon takes it at its next start")
    .action(async (key: string, value: string, options: Options) => {
      // From --params a value may be no text.
      const text = typeof value === "string" ? value : JSON.stringify(value);
      await host.setConfig(await host.locate(flagsOf(options)), key, text);
      host.io.err("The next start of the daemon takes it.\n");
    });
}
