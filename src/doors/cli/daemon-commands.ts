/** Commands about the process: start, stop, status, logs, list-daemons, recover and verify. */
import { open, stat } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import type { Command } from "commander";
import { runningDaemon } from "../../client/discover.ts";
import { ProcessError } from "../../domain/process-error.ts";
import type { CliHost } from "./host.ts";
import { collect, flagsOf, type Options, port, withDaemon, withRepository } from "./shared-options.ts";
import { show } from "./show.ts";
import { minute, plain, plainJson, table } from "./text-table.ts";
import { withClient } from "./with-client.ts";

/** An exit code that a command decided itself. */
export interface Outcome {
  code: number;
}

/** Add the commands about the process. @param outcome receives the exit codes that they decide themselves */
export function addDaemonCommands(program: Command, host: CliHost, outcome: Outcome): void {
  const { io } = host;
  const json = (value: unknown) => io.out(`${JSON.stringify(value)}\n`);

  withRepository(program.command("start").alias("serve"))
    .summary("serve a repository")
    .description("Serve a note repository until a signal ends it.")
    .option("--host <address>", "address to listen on (default 127.0.0.1)")
    .option("--port <number>", "port (default 6683, or the next free one; 0 picks one)", port)
    .option(
      "--roots <dir>",
      "folder with Markdown beside notes and memory; several times for several",
      collect,
    )
    .option("--detach", "go on in the background; return when it answers")
    .action(async (options: Options) => {
      if (!options["detach"]) {
        outcome.code = await host.serve(flagsOf(options));
        return;
      }
      const place = await host.locate(flagsOf(options));
      const first = await runningDaemon(place).catch(() => null);
      if (first) {
        throw new ProcessError(
          "ALREADY_RUNNING",
          `${place.root} is served already by process ${first.pid} at ${first.url}.`,
        );
      }
      const daemon = await host.startDetached(flagsOf(options));
      if (options["json"]) json({ pid: daemon.pid, host: daemon.host, port: daemon.port, url: daemon.url });
      else io.out(`notesd listens at ${daemon.url} (process ${daemon.pid})\n`);
    });

  withRepository(program.command("stop"))
    .summary("stop the daemon of a repository")
    .description("Stop the daemon: what it accepted is finished and durable first.")
    .action(async (options: Options) => {
      const stopped = await host.stop(await host.locate(flagsOf(options)));
      if (options["json"]) json({ pid: stopped.pid, stopped: true });
      else io.out(`stopped (process ${stopped.pid})\n`);
    });

  withRepository(program.command("status"))
    .summary("how the daemon is")
    .description(
      "What the daemon of a repository serves and how it is. Starts none: exit 9 when there is none.",
    )
    .option("--as <agent>", "ask as this agent")
    .action(async (options: Options) => {
      if (!host.env["NOTESD_URL"]) await runningDaemon(await host.locate(flagsOf(options)));
      const result = await withClient(host, { ...options, start: false }, (client) =>
        client.callAny("daemon.status", {}),
      );
      if (options["json"]) json(result);
      else io.out(statusText(result));
    });

  withRepository(program.command("logs"))
    .summary("what the daemon has logged")
    .option("-f, --follow", "go on as it grows, until interrupted")
    .action(async (options: Options) => {
      const place = await host.locate(flagsOf(options));
      await printLog(host, host.logFile(place), options["follow"] === true);
    });

  program
    .command("list-daemons")
    .summary("daemons of this user on this machine")
    .option("--params <json>", "options as a JSON object")
    .option("--json", "the result as JSON")
    .action(async (options: Options) => {
      const daemons = await host.listDaemons();
      if (options["json"]) return json(daemons);
      const rows = daemons.map((one) => [one.repo, one.url, String(one.pid), minute(one.started_at)]);
      io.out(table(io, ["repository", "address", "process", "since"], rows) || "no daemons\n");
    });

  withRepository(program.command("recover"))
    .summary("repair what a crash left, without serving")
    .description(
      "What a start does first: roll published writes forward, remove what is ours and unfinished.",
    )
    .action(async (options: Options) => {
      const done = await host.recover(flagsOf(options));
      if (options["json"]) json({ done });
      else
        io.out(done.length === 0 ? "nothing to recover\n" : done.map((line) => `${plain(line)}\n`).join(""));
    });

  withDaemon(program.command("verify"))
    .summary("compare the index with one rebuilt from Git")
    .description(
      "Compare the index with one rebuilt from Git, and files and blobs with the index. Exit 1 when they differ.",
    )
    .action(async (options: Options) => {
      const result = await withClient(host, options, (client) => client.call("daemon.verify", {}));
      if (options["json"]) json(result);
      else io.out(show("daemon.verify", result, io));
      if (!result.equal || result.problems.length > 0) outcome.code = 1;
    });
}

/** `key: value` lines: short lists in the line, long ones with their first few; what is empty or zero is left out. */
function statusText(status: unknown): string {
  if (typeof status !== "object" || status === null) return `${String(status)}\n`;
  return Object.entries(status)
    .map(([key, value]) => {
      if (!Array.isArray(value)) {
        const text = plainValue(value);
        return text === "" ? "" : `${key}: ${text}\n`;
      }
      const rows = value.map(plainValue);
      if (rows.length === 0) return "";
      if (rows.join(", ").length <= 60) return `${key}: ${rows.join(", ")}\n`;
      const more = rows.length > 10 ? `  and ${rows.length - 10} more\n` : "";
      return `${key}:\n${rows
        .slice(0, 10)
        .map((row) => `  ${row}\n`)
        .join("")}${more}`;
    })
    .join("");
}

/** A value in words: an object as its members that say something. */
function plainValue(value: unknown): string {
  if (typeof value !== "object" || value === null) return value === null ? "" : plain(String(value));
  return Object.entries(value)
    .filter(([, member]) => member !== null && member !== 0)
    .map(
      ([key, member]) =>
        `${key} ${typeof member === "object" ? plainJson(JSON.stringify(member)) : plain(String(member))}`,
    )
    .join(", ");
}

async function printLog(host: CliHost, file: string, follow: boolean): Promise<void> {
  if (!(await stat(file).catch(() => null))) {
    if (!follow) throw new ProcessError("NOT_FOUND", `${file}: no daemon has logged anything yet.`);
  }
  let ended = false;
  if (follow) void host.interrupted().then(() => (ended = true));
  let at = 0;
  do {
    const handle = await open(file, "r").catch(() => null);
    if (handle) {
      const { size } = await handle.stat();
      if (size < at) at = 0; // a new file took its place
      const bytes = Buffer.alloc(size - at);
      await handle.read(bytes, 0, bytes.length, at);
      await handle.close();
      at = size;
      if (bytes.length > 0) host.io.out(plainJson(bytes.toString("utf8")));
    }
    if (follow && !ended) await Promise.race([pause(200), host.interrupted()]);
  } while (follow && !ended);
}
