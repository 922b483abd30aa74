/** `notesd allow`: what looks like a secret and is none. It works on the repository's files, daemon or not. */
import type { Command } from "commander";
import { ProcessError } from "../../domain/process-error.ts";
import { isFingerprint } from "../../domain/secrets/fingerprint.ts";
import type { SecretEntry } from "../../notebook/secrets/allowed.ts";
import type { CliHost, Io } from "./host.ts";
import { flagsOf, type Options, withRepository } from "./shared-options.ts";
import { minute, table } from "./text-table.ts";

/** Add `allow`. */
export function addAllowCommand(program: Command, host: CliHost): void {
  const { io } = host;
  withRepository(program.command("allow"))
    .summary("let a value in that looks like a secret and is none")
    .description(
      "Notes that hold what looks like a secret are refused, held or not taken with a push, and named by a fingerprint. " +
        "Allow it here when it is none; it holds at once, in this repository.",
    )
    .argument("[fingerprint]", "16 hex digits, as the refusal says them")
    .option("--list", "what is allowed, and what was refused lately")
    .option("--remove", "refuse it again from now on")
    .action(async (given: string | undefined, options: Options) => {
      const place = await host.locate(flagsOf(options));
      const secrets = host.allowedSecrets(place);
      if (options["list"] === true) return list(io, options, secrets.list(), secrets.refused());
      const fingerprint = checked(given);
      const remove = options["remove"] === true;
      const known = [...secrets.list(), ...secrets.refused()].find((one) => one.fingerprint === fingerprint);
      const kind = known?.kind ?? "unknown";
      const changed = await (remove ? secrets.remove(fingerprint) : host.allowSecret(place, fingerprint));
      if (remove && !changed)
        throw new ProcessError("NOT_FOUND", `${fingerprint} is not allowed. See: notesd allow --list`);
      if (known === undefined)
        io.err("Nothing that was refused here lately has this fingerprint; it is allowed all the same.\n");
      if (options["json"] === true)
        return io.out(`${JSON.stringify({ fingerprint, kind, allowed: !remove, changed })}\n`);
      io.out(
        `${remove ? "refused from now on" : changed ? "allowed" : "allowed already"}: ${fingerprint} ${kind}\n`,
      );
    });
}

function checked(given: string | undefined): string {
  const fingerprint = given?.trim().toLowerCase() ?? "";
  if (isFingerprint(fingerprint)) return fingerprint;
  throw new ProcessError(
    "USAGE",
    given === undefined
      ? "allow needs a fingerprint. Those of late refusals: notesd allow --list"
      : "A fingerprint has 16 hex digits, as the refusal says them. Those of late refusals: notesd allow --list",
  );
}

function list(
  io: Io,
  options: Options,
  allowed: readonly SecretEntry[],
  refused: readonly SecretEntry[],
): void {
  if (options["json"] === true) {
    io.out(`${JSON.stringify({ allowed, refused })}\n`);
    return;
  }
  const rows = (entries: readonly SecretEntry[]) =>
    entries.map(({ fingerprint, kind, at, note }) => [fingerprint, kind, at === "" ? "" : minute(at), note]);
  io.out(table(io, ["allowed", "kind", "since", "by"], rows(allowed)) || "nothing is allowed\n");
  if (refused.length > 0) io.out(`\n${table(io, ["refused", "kind", "at", "in"], rows(refused))}`);
}
