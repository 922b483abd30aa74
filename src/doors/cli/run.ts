/**
 * The command line from arguments to exit code. Every refusal becomes a sentence on standard error and the
 * code that the tables give it; nothing but results is ever written to standard output.
 *
 * @see spec: protocol, section 6
 */
import { type Argument, Command, CommanderError } from "commander";
import type { Registry } from "../../actions/action.ts";
import { UnansweredError } from "../../client/unanswered.ts";
import { ERRORS, NotesError } from "../../domain/errors.ts";
import { PROCESS_EXITS, ProcessError } from "../../domain/process-error.ts";
import { addActionCommands } from "./action-commands.ts";
import { addAllowCommand } from "./allow-command.ts";
import { addConfigCommands } from "./config-commands.ts";
import { addDaemonCommands, type Outcome } from "./daemon-commands.ts";
import { addDoctorCommand } from "./doctor-command.ts";
import type { CliHost } from "./host.ts";
import { addIdentityCommands } from "./identity-commands.ts";
import { addDeinitCommand, addInitCommand } from "./init-command.ts";
import { addNoteCommands } from "./note-commands.ts";
import { addPurgeCommand } from "./purge-command.ts";
import { addReviewCommands, OWN_COMMANDS } from "./review-commands.ts";
import { applyParams } from "./shared-options.ts";
import { addSyncCommand } from "./sync-command.ts";
import { plain, styled } from "./text-table.ts";

/**
 * The program with every command; without those of notes where another one is asked for, since making them of all
 * schemas takes longer than many commands do.
 */
function cliProgram(registry: Registry, host: CliHost, outcome: Outcome, asked: string | undefined): Command {
  const program = new Command("notesd")
    .description("Notes whose store is Git: typed notes for agents and people, every write a commit.")
    .version(host.version)
    .helpCommand(true)
    .showHelpAfterError("(--help shows what there is)")
    .enablePositionalOptions();
  program.configureOutput({
    writeOut: (text) => host.io.out(text),
    writeErr: (text) => host.io.err(text),
  });
  // Every command has options; the list is for names and arguments.
  program.configureHelp({
    subcommandTerm: (command) =>
      [
        [command.name(), ...command.aliases()].join("|"),
        ...command.registeredArguments.map((argument) => humanReadable(argument)),
      ].join(" "),
  });
  program.exitOverride();
  program.hook("preAction", (_program, command) => applyParams(command));
  program.commandsGroup("Repository and daemon:");
  addInitCommand(program, host);
  addDaemonCommands(program, host, outcome);
  addDoctorCommand(program, host, outcome);
  addDeinitCommand(program, host);
  addPurgeCommand(program, host, outcome);
  if (!program.commands.some((command) => command.name() === asked)) {
    program.commandsGroup("Notes:");
    addActionCommands(program, registry, host, OWN_COMMANDS);
    addReviewCommands(program, registry, host);
    addNoteCommands(program, registry, host, outcome);
  }
  program.commandsGroup("Who may call, and settings:");
  addSyncCommand(program, host, outcome);
  addIdentityCommands(program, host);
  addAllowCommand(program, host);
  addConfigCommands(program, host);
  inherit(program);
  return program;
}

function humanReadable(argument: Argument): string {
  const name = `${argument.name()}${argument.variadic ? "..." : ""}`;
  return argument.required ? `<${name}>` : `[${name}]`;
}

/** What commander only copies to commands that are made later. */
function inherit(command: Command): void {
  for (const sub of command.commands) {
    sub.copyInheritedSettings(command);
    inherit(sub);
  }
}

/**
 * Run one command.
 * @param args without node and script
 * @returns the exit code; nothing is thrown
 */
export async function runCli(args: readonly string[], registry: Registry, host: CliHost): Promise<number> {
  const outcome: Outcome = { code: 0 };
  try {
    const program = cliProgram(registry, host, outcome, args[0]);
    if (args.length === 0) {
      host.io.err(program.helpInformation());
      return 2;
    }
    await program.parseAsync([...args], { from: "user" });
    return outcome.code;
  } catch (error) {
    return refusal(error, args.includes("--json"), host);
  }
}

/** Refusals that have a code of their own. */
const isKnown = (error: unknown): error is NotesError | ProcessError | UnansweredError =>
  error instanceof NotesError || error instanceof ProcessError || error instanceof UnansweredError;

function exitOf(error: unknown): number {
  if (error instanceof NotesError) return ERRORS[error.code].exit;
  if (error instanceof UnansweredError) return PROCESS_EXITS.NO_DAEMON;
  return error instanceof ProcessError ? error.exit : 1;
}

function dataOf(error: unknown): Readonly<Record<string, unknown>> {
  if (error instanceof UnansweredError)
    return { outcome: error.outcome, idempotency_key: error.idempotencyKey };
  return error instanceof NotesError ? error.data : {};
}

function refusal(error: unknown, json: boolean, host: CliHost): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  const known = isKnown(error);
  const message = error instanceof Error ? error.message : String(error);
  const exit = exitOf(error);
  if (json) {
    const code = known ? error.code : "INTERNAL";
    const data = dataOf(error);
    host.io.err(`${JSON.stringify({ error: { code, message, data } })}\n`);
  } else {
    host.io.err(`${styled(host.io, "red", "notesd:")} ${plain(withIssues(message, error))}\n`);
    if (!known && host.env["NOTESD_DEBUG"] && error instanceof Error) host.io.err(`${error.stack ?? ""}\n`);
  }
  return exit;
}

/** The message with every issue of INVALID_PARAMS, and with the way to data that it speaks of. */
function withIssues(message: string, error: unknown): string {
  if (error instanceof UnansweredError && error.outcome === "unknown" && error.idempotencyKey !== null) {
    return `${message}\n  the same command with --idempotency-key ${error.idempotencyKey} tells what became of it`;
  }
  const issues = error instanceof NotesError ? error.data["issues"] : null;
  if (!Array.isArray(issues) || issues.length < 2) {
    return /\bdata\.\w/.test(message) ? `${message} (--json shows data.)` : message;
  }
  const others = issues.slice(1).map((issue) => `  ${issue.path} ${issue.message}`);
  return [message.replace(/ \(and \d+ more, see data\.issues\)\.$/, "; also:"), ...others].join("\n");
}
