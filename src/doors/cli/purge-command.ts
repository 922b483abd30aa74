/**
 * `notesd purge`: a leaked value out of the history. It looks first; only `--yes` changes anything. The value never
 * comes as an argument, where the shell's history and every process list would keep it.
 */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Command } from "commander";
import { type DaemonFile, runningDaemon } from "../../client/discover.ts";
import { NotesError } from "../../domain/errors.ts";
import { ProcessError } from "../../domain/process-error.ts";
import type { GitPlace } from "../../lib/git-dir.ts";
import type { Outcome } from "./daemon-commands.ts";
import type { CliHost, Flags } from "./host.ts";
import { type PurgeReport, type PurgeWish, purgeText } from "./purge-report.ts";
import { collect, flagsOf, type Options, withRepository } from "./shared-options.ts";

const FINGERPRINT = /^[0-9a-f]{16}$/;

const ABOUT = `Take a leaked value, or a whole note, out of the repository: out of every version of every file, messages of
commits, paths, refs, logs of refs, caches. Every commit from the first that holds it on is made again; what other
clones, hosts and backups hold nobody can take back from here, so change the value where it is used.

Without --yes nothing is changed: it shows where the value stands, with lines masked. With --yes a running daemon is
stopped for it and started again with the settings that hold here (give --config as at its start). Give the value on standard input (-), in a file, or at the prompt.`;

/** Add `purge`. @param outcome 1 when something here still holds it */
export function addPurgeCommand(program: Command, host: CliHost, outcome: Outcome): void {
  withRepository(program.command("purge"))
    .summary("take a leaked value out of the history")
    .description(ABOUT)
    .argument("[what]", "- for a value on standard input, or the fingerprint of a refused secret")
    .option("--value-file <file>", "a file that holds the value alone; several times for several", collect)
    .option("--note <note>", "a note's id or path: every version of it goes")
    .option("--yes", "do it; without it only look")
    .action(async (what: string | undefined, options: Options) => {
      if (host.env["NOTESD_AGENT"])
        throw new NotesError("FORBIDDEN", "Only a person purges. Ask the person whose notes these are.");
      const wish = await wishOf(host, what, options);
      const report = await run(host, options, wish);
      if (wish.apply && !report.complete) outcome.code = 1;
      host.io.out(options["json"] ? `${JSON.stringify(report)}\n` : purgeText(report));
    });
}

async function wishOf(host: CliHost, what: string | undefined, options: Options): Promise<PurgeWish> {
  const { io, cwd } = host;
  const files = Array.isArray(options["valueFile"]) ? options["valueFile"].map(String) : [];
  const note = typeof options["note"] === "string" ? options["note"] : null;
  const values: string[] = [];
  for (const file of files) values.push(await readText(resolve(cwd, file)));
  const fingerprints: string[] = [];
  if (what === "-") values.push(await io.readInput());
  else if (what !== undefined && FINGERPRINT.test(what)) fingerprints.push(what);
  else if (what !== undefined)
    throw new ProcessError(
      "USAGE",
      "A value given as an argument stays in the shell's history: give it on standard input (notesd purge -), in a file (--value-file), or at the prompt. What was given is used for nothing.",
    );
  if (values.length + fingerprints.length === 0 && note === null) {
    if (io.askSecret === undefined || io.askSecret === null)
      throw new ProcessError("USAGE", "Nothing to purge was given. See notesd purge --help.");
    values.push(await io.askSecret("The value to purge (it is not shown):"));
  }
  return { values, fingerprints, note, apply: options["yes"] === true };
}

async function readText(file: string): Promise<string> {
  const bytes = await readFile(file).catch((error: unknown) => {
    throw new ProcessError("USAGE", `${file} can't be read.`, error);
  });
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new ProcessError("USAGE", `${file} is no UTF-8 text.`, error);
  }
}

/** With a daemon running it is stopped for the purge, and started again where it listened. */
async function run(host: CliHost, options: Options, wish: PurgeWish): Promise<PurgeReport> {
  const flags = flagsOf(options);
  if (!wish.apply) return host.purge(flags, wish);
  // What can't be purged is told before a daemon is stopped for it.
  const place = await host.locate(flags);
  const daemon = await running(place);
  if (daemon !== null) {
    await host.purge(flags, { ...wish, apply: false });
    await host.stop(place);
  }
  let left = false;
  try {
    const report = await host.purge(flags, wish);
    left = report.files.some(({ path, done }) => done === "left" && path.endsWith(".md"));
    return report;
  } finally {
    if (daemon !== null && left)
      host.io.err("notesd: the daemon is not started again: it would commit the files that are left.\n");
    else if (daemon !== null) await startAgain(host, { ...flags, repo: place.root }, daemon);
  }
}

/** Whatever became of the purge is told first: that no daemon could be started is only said. */
async function startAgain(host: CliHost, flags: Flags, { host: address, port }: DaemonFile): Promise<void> {
  try {
    await host.startDetached({ ...flags, host: address, port });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    host.io.err(`notesd: the daemon was stopped for this and could not be started again: ${why}\n`);
  }
}

async function running(place: GitPlace): Promise<DaemonFile | null> {
  try {
    return await runningDaemon(place);
  } catch (error) {
    if (error instanceof ProcessError && error.code === "NO_DAEMON") return null;
    throw error;
  }
}
