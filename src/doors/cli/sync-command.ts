/** `notesd sync`: level with a remote, now. */
import { type Command, Option } from "commander";
import type { SyncResult } from "../../notebook/sync/sync-result.ts";
import type { Outcome } from "./daemon-commands.ts";
import type { CliHost } from "./host.ts";
import { type Options, withDaemon } from "./shared-options.ts";
import { plain } from "./text-table.ts";
import { withClient } from "./with-client.ts";

/** Exit codes by state, as errors of that kind have them; others are 1. */
const EXITS: Readonly<Partial<Record<SyncResult["state"], number>>> = {
  ok: 0,
  diverged: 5,
  denied: 6,
  busy: 7,
};

export function addSyncCommand(program: Command, host: CliHost, outcome: Outcome): void {
  withDaemon(program.command("sync"))
    .summary("bring the repository and its remote level")
    .description(
      "Fetch from the remote, merge note by note, and push. Nothing is forced, and nothing of either side is lost.",
    )
    .option(
      "--remote <remote>",
      "a remote's name, as git remote lists them (default: the setting sync.remote)",
    )
    .option("--status", "only tell how the two stand")
    .addOption(
      new Option(
        "--accept-remote",
        "the remote's history was rewritten: take it over; yours stays under refs/notesd/backup",
      ).conflicts("keepLocal"),
    )
    .option(
      "--keep-local",
      "the remote's history was rewritten: push a merge of both that holds what this repository holds",
    )
    .action(async (options: Options) => {
      const remote = typeof options["remote"] === "string" ? { remote: options["remote"] } : {};
      const diverged =
        options["acceptRemote"] === true
          ? ({ diverged: "accept_remote" } as const)
          : options["keepLocal"] === true
            ? ({ diverged: "keep_local" } as const)
            : {};
      const result = await withClient(host, options, (client) =>
        options["status"] === true
          ? client.call("sync.status", remote)
          : client.call("sync.run", { ...remote, ...diverged }),
      );
      outcome.code = options["status"] === true ? 0 : (EXITS[result.state] ?? 1);
      host.io.out(options["json"] ? `${JSON.stringify(result)}\n` : `${plain(sentence(result))}\n`);
    });
}

function sentence({
  remote,
  state,
  message,
  ahead,
  behind,
  pulled,
  pushed,
  conflicts,
}: Omit<SyncResult, "head">): string {
  const done = [
    ...(pulled > 0 ? [`${pulled} pulled`] : []),
    ...(pushed > 0 ? [`${pushed} pushed`] : []),
    ...(ahead > 0 ? [`${ahead} ahead`] : []),
    ...(behind > 0 ? [`${behind} behind`] : []),
  ];
  const told = state === "ok" ? "level" : state;
  const kept = conflicts > 0 ? `\n${conflicts} conflicts are kept: notesd conflicts lists them.` : "";
  return `${remote}: ${[told, ...done].join(", ")}${message === null ? "" : `\n${message}`}${kept}`;
}
