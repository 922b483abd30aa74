/** `notesd init` and `notesd deinit`. */
import type { Command } from "commander";
import type { CliHost, DeinitReport } from "./host.ts";
import type { Options } from "./shared-options.ts";
import { collect, flagsOf, withRepository } from "./shared-options.ts";
import { styled } from "./text-table.ts";

/** Add `init`. */
export function addInitCommand(program: Command, host: CliHost): void {
  program
    .command("init")
    .argument("[dir]", "the folder; made when absent")
    .summary("make a note repository, or adopt one")
    .description(
      "Make a note repository, or adopt the one that is there. Nothing of yours is changed; safe to repeat.",
    )
    .option("--here", "use this repository although it holds other files")
    .option("--roots <dir...>", "folders with Markdown beside notes and memory; . is the whole tree")
    .option("--branch <name>", "the branch whose tip is the truth (default: the current one)")
    .option("--remote <url>", "set the remote origin")
    .option("--params <json>", "options and arguments as a JSON object; the command line wins over it")
    .option("--json", "the result as JSON")
    .action(async (dir: string | undefined, options: Options) => {
      const text = (name: string) => (typeof options[name] === "string" ? options[name] : null);
      const report = await host.init({
        dir: dir ?? null,
        here: options["here"] === true,
        roots: Array.isArray(options["roots"])
          ? options["roots"].map(String).reduce<string[]>(collectAll, [])
          : null,
        branch: text("branch"),
        remote: text("remote"),
      });
      if (options["json"]) return host.io.out(`${JSON.stringify(report)}\n`);
      const done = report.again
        ? "is a note repository already"
        : report.made
          ? "is a new note repository"
          : "is now a note repository; what it held is as it was";
      const outside = report.markdown_outside_roots;
      host.io.out(
        `${styled(host.io, "bold", report.repo)} ${done} (branch ${report.branch}, roots ${report.roots.join(", ")}).\n${
          outside > 0
            ? `${outside} Markdown files lie outside the roots and are not notes; notesd init --roots . takes them all.\n`
            : ""
        }git notesd-log and git notesd-blame show who did what and why; notesd deinit takes them away again.\n`,
      );
    });
}

/** Add `deinit`. */
export function addDeinitCommand(program: Command, host: CliHost): void {
  withRepository(program.command("deinit"))
    .summary("make it a plain repository again")
    .description(
      "Take away the mark, the hooks, the Git settings, the attributes and the owner's token that init made. Notes, " +
        "history, settings, the key that proves who wrote, and identities stay; init goes on with them. Stop the daemon first.",
    )
    .action(async (options: Options) => {
      const report = await host.deinit(flagsOf(options));
      host.io.out(
        options["json"]
          ? `${JSON.stringify(report)}\n`
          : plainAgain(styled(host.io, "bold", report.repo), report),
      );
    });
}

const plainAgain = (repo: string, { state_folder, index_file_stays }: DeinitReport) =>
  `${repo} is a plain repository again; its notes and history stay. notesd init goes on.
${state_folder} stays: with its proof.key and identities a later init knows who wrote what. Delete it to forget that for good.
${index_file_stays ? "notes_index.json stays for other tools, and the line of .git/info/exclude that hides it.\n" : ""}`;

/** `--roots a,b` and `--roots a b` are the same. */
const collectAll = (before: string[], text: string): string[] =>
  text.split(",").reduce((list, part) => (part.trim() === "" ? list : collect(part.trim(), list)), before);
