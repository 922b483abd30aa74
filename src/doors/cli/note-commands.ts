/** Commands about notes that an action's schema alone does not make: watch, commit, call. */
import { relative, resolve, sep } from "node:path";
import type { Command } from "commander";
import type { Registry } from "../../actions/action.ts";
import { cliCommand } from "../../actions/describe.ts";
import { ERRORS } from "../../domain/errors.ts";
import { addActionCommand } from "./action-commands.ts";
import { actionParams } from "./action-params.ts";
import type { Outcome } from "./daemon-commands.ts";
import type { CliHost } from "./host.ts";
import { parseObject } from "./params-text.ts";
import { flagsOf, type Options, withDaemon } from "./shared-options.ts";
import { changeLine, show } from "./show.ts";
import { plain } from "./text-table.ts";
import { withClient } from "./with-client.ts";

/** Add `watch`, `commit` and `call`. @param outcome receives the exit codes that they decide themselves */
export function addNoteCommands(program: Command, registry: Registry, host: CliHost, outcome: Outcome): void {
  addWatch(program, registry, host);
  addCommit(program, host, outcome);
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

function addCommit(program: Command, host: CliHost, outcome: Outcome): void {
  withDaemon(program.command("commit"))
    .argument("[path...]", "files, relative to the current folder; all when absent")
    .summary("commit hand edits at once")
    .description(
      "Commit what was saved in the working files, without waiting for it to settle. Exit 5 when a file stays uncommitted for a secret in it.",
    )
    .option("-m, --reason <why>", "goes into the commit's message")
    .action(async (files: string[], options: Options) => {
      const given = typeof options["params"] === "string" ? parseObject(options["params"], "--params") : {};
      const params = {
        ...given,
        ...(files.length > 0 ? { paths: await repositoryPaths(host, options, files) } : {}),
        ...(typeof options["reason"] === "string" ? { reason: options["reason"] } : {}),
      };
      const done = await withClient(host, options, (client) => client.call("notes.commit", params));
      const { commits, held = [] } = done;
      if (held.some(({ why }) => why === "secret")) outcome.code = ERRORS.CONFLICT.exit;
      if (options["json"]) host.io.out(`${JSON.stringify(done)}\n`);
      else if (commits.length > 0) host.io.out(commits.map((id) => `${id}\n`).join(""));
      else if (held.length === 0) host.io.out("nothing to commit\n");
      if (!options["json"]) for (const file of held) host.io.err(heldText(file));
    });
}

const HELD: Readonly<Record<string, string>> = {
  staged: "staged, for your own git commit",
  conflict: "it does not merge with the note; see notesd conflicts",
};

/** A file that stays uncommitted, and what its owner can do. */
function heldText({
  path,
  why,
  matches,
}: {
  readonly path: string;
  readonly why: string;
  readonly matches: readonly { readonly kind: string; readonly line: number; readonly fingerprint: string }[];
}): string {
  const name = plain(path);
  if (why !== "secret") return `not committed: ${name}: ${HELD[why] ?? why}\n`;
  const places = matches.map(
    ({ kind, line, fingerprint }) =>
      `  ${name}:${line}: ${kind}; if it is no secret: notesd allow ${fingerprint}\n`,
  );
  return `not committed: ${name} holds a secret. Take it out and save, and it is committed by itself.\n${places.join("")}`;
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
