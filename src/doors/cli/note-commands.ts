/** Commands about notes that an action's schema alone does not make: watch, commit, call. */
import { relative, resolve, sep } from "node:path";
import type { Command } from "commander";
import type { Registry } from "../../actions/action.ts";
import { cliCommand } from "../../actions/describe.ts";
import { addActionCommand } from "./action-commands.ts";
import { actionParams } from "./action-params.ts";
import type { CliHost } from "./host.ts";
import { parseObject } from "./params-text.ts";
import { flagsOf, type Options, withDaemon } from "./shared-options.ts";
import { changeLine, show } from "./show.ts";
import { plain } from "./text-table.ts";
import { withClient } from "./with-client.ts";

/** Add `watch`, `commit` and `call`. */
export function addNoteCommands(program: Command, registry: Registry, host: CliHost): void {
  addWatch(program, registry, host);
  addCommit(program, host);
  addCall(program, host);
}

function addWatch(program: Command, registry: Registry, host: CliHost): void {
  const subscribe = registry.get("notes.subscribe");
  if (!subscribe) return;
  const described = cliCommand({ ...subscribe, cli: { command: "watch", positional: [] } });
  if (!described) return;
  const command = addActionCommand(program, subscribe, described, host)
    .summary("changes as they happen")
    .description("Print each change of a note that passes the filters, until interrupted.");
  command.action(async (options: Options) => {
    const { since, ...filter } = await actionParams(described, options, [], host.io.readInput);
    await withClient(host, options, async (client) => {
      const lines = await client.subscribe(
        { ...filter, ...(typeof since === "string" ? { since } : {}) },
        {
          changed: (change) =>
            host.io.out(options["json"] ? `${JSON.stringify(change)}\n` : changeLine(change, host.io)),
          resync: (cursor) =>
            host.io.err(`What happened in between is not known here any more; going on from ${cursor}.\n`),
          ended: (error) => host.io.err(`${plain(error.message)}\n`),
        },
      );
      host.io.err("watching; interrupt to end\n");
      await host.interrupted();
      await lines.close();
    });
  });
}

function addCommit(program: Command, host: CliHost): void {
  withDaemon(program.command("commit"))
    .argument("[path...]", "files, relative to the current folder; all when absent")
    .summary("commit hand edits at once")
    .description("Commit what was saved in the working files, without waiting for it to settle.")
    .option("-m, --reason <why>", "goes into the commit's message")
    .action(async (files: string[], options: Options) => {
      const given = typeof options["params"] === "string" ? parseObject(options["params"], "--params") : {};
      const params = {
        ...given,
        ...(files.length > 0 ? { paths: await repositoryPaths(host, options, files) } : {}),
        ...(typeof options["reason"] === "string" ? { reason: options["reason"] } : {}),
      };
      const { commits } = await withClient(host, options, (client) => client.call("notes.commit", params));
      if (options["json"]) host.io.out(`${JSON.stringify({ commits })}\n`);
      else
        host.io.out(commits.length === 0 ? "nothing to commit\n" : commits.map((id) => `${id}\n`).join(""));
    });
}

/** Paths as a person names them from where they are, relative to the repository's top. */
async function repositoryPaths(host: CliHost, options: Options, files: readonly string[]): Promise<string[]> {
  if (host.env["NOTESD_URL"]) return [...files];
  const { root } = await host.locate(flagsOf(options));
  return files.map((file) => {
    const path = relative(root, resolve(host.cwd, file));
    // Named from outside the repository, it is meant as the repository itself has it.
    return path.startsWith("..") ? file : path.split(sep).join("/");
  });
}

function addCall(program: Command, host: CliHost): void {
  withDaemon(program.command("call"))
    .argument("<method>", "e.g. notes.read")
    .summary("call any method")
    .description("Call any method with --params and print its result as JSON.")
    .action(async (method: string, options: Options) => {
      const given = typeof options["params"] === "string" ? options["params"] : "{}";
      const params = parseObject(given === "-" ? await host.io.readInput() : given, "--params");
      const result = await withClient(host, options, (client) => client.callAny(method, params));
      host.io.out(options["json"] ? `${JSON.stringify(result)}\n` : show("", result, host.io));
    });
}
