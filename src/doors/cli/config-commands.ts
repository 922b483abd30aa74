/**
 * `config get|set`: the settings that hold, and the repository's own file of them; and the key that proves commits, which
 * is no setting: it is shown when it is asked for by name, and comes in on standard input alone.
 */
import type { Command } from "commander";
import { ProcessError } from "../../domain/process-error.ts";
import type { CliHost } from "./host.ts";
import { flagsOf, type Options, withArgument, withRepository } from "./shared-options.ts";

/** How a person may name the key: as a setting is written, or as its file is called. */
const PROOF_KEY: ReadonlySet<string | undefined> = new Set(["proof_key", "proof.key"]);

/** Add `config get` and `config set`. */
export function addConfigCommands(program: Command, host: CliHost): void {
  const config = program.command("config").summary("settings");
  withRepository(config.command("get"))
    .argument(
      "[key]",
      "e.g. port or reconcile.quiet_ms; all when absent; proof_key: the key that proves commits",
    )
    .summary("settings that hold, wherever they come from")
    .action(async (key: string | undefined, options: Options) => {
      if (PROOF_KEY.has(key)) {
        const text = await host.getProofKey(await host.locate(flagsOf(options)));
        host.io.out(`${options["json"] ? JSON.stringify(text) : text}\n`);
        return;
      }
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
  withArgument(
    set,
    "value",
    "text, or JSON; null takes the setting away; - for proof_key: from standard input",
  )
    .summary("set one for this repository; a running daemon takes it at its next start")
    .option("--replace", "proof_key: also where commits that the present key proves would be only text")
    .action(async (key: string, value: string, options: Options) => {
      if (PROOF_KEY.has(key)) return setProofKey(host, value, options);
      // From --params a value may be no text.
      const text = typeof value === "string" ? value : JSON.stringify(value);
      await host.setConfig(await host.locate(flagsOf(options)), key, text);
      host.io.err("The next start of the daemon takes it.\n");
    });
}

async function setProofKey(host: CliHost, value: unknown, options: Options): Promise<void> {
  if (value !== "-") {
    throw new ProcessError(
      "USAGE",
      "A key among the arguments stays in the shell's history and shows in the list of processes. Give - and send it on standard input: notesd config get proof_key | ssh HOST notesd config set proof_key -",
    );
  }
  const place = await host.locate(flagsOf(options));
  const taken = await host.setProofKey(place, await host.io.readInput(), options["replace"] === true);
  host.io.err(
    taken
      ? "Commits that this key proves are believed from the next start on. The key before lies in notesd/proof.key.earlier.\n"
      : "This is the key already.\n",
  );
}
