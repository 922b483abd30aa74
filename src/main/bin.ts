#!/usr/bin/env node
/**
 * The command `notesd`: arguments in, exit code out. Everything else is `doors/cli` and `cli-host.ts`. What Git calls,
 * hooks and the merge driver, goes past both, for a person's Git waits for it: it needs no action and no command line.
 */
const [command, ...args] = process.argv.slice(2);
if (command === "hook") {
  const { runHook } = await import("./hook/run-hook.ts");
  process.exitCode = await runHook(args, process);
} else if (command === "merge-driver") {
  const { runMergeDriver } = await import("./merge-driver.ts");
  process.exitCode = await runMergeDriver(args, process);
} else {
  const { registry } = await import("../actions/registry.ts");
  const { runCli } = await import("../doors/cli/run.ts");
  const { createCliHost } = await import("./cli-host.ts");
  process.exitCode = await runCli(process.argv.slice(2), registry, createCliHost());
}
