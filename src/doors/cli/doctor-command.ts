/** `notesd doctor`: findings as lines, and exit 1 when one of them is bad. */
import type { Command } from "commander";
import type { Outcome } from "./daemon-commands.ts";
import type { CliHost } from "./host.ts";
import { flagsOf, type Options, withRepository } from "./shared-options.ts";
import { plain, styled } from "./text-table.ts";

const SHOWN = { ok: "green", note: "yellow", bad: "red" } as const;

/** Add `doctor`. */
export function addDoctorCommand(program: Command, host: CliHost, outcome: Outcome): void {
  withRepository(program.command("doctor"))
    .summary("look for what keeps things from working")
    .description(
      "Look at program, repository, settings, hooks, secrets, daemon and notes. Changes and starts nothing. " +
        "Exit 1 when something is bad.",
    )
    .action(async (options: Options) => {
      const findings = await host.doctor(flagsOf(options));
      const fine = findings.every(({ state }) => state !== "bad");
      if (!fine) outcome.code = 1;
      if (options["json"]) return host.io.out(`${JSON.stringify({ ok: fine, findings })}\n`);
      for (const { name, state, text } of findings) {
        host.io.out(`${styled(host.io, SHOWN[state], state.padEnd(5))} ${name.padEnd(11)} ${plain(text)}\n`);
      }
    });
}
