#!/usr/bin/env node
/** The command `notesd`: arguments in, exit code out. Everything else is `doors/cli` and `cli-host.ts`. */
import { registry } from "../actions/registry.ts";
import { runCli } from "../doors/cli/run.ts";
import { createCliHost } from "./cli-host.ts";

process.exitCode = await runCli(process.argv.slice(2), registry, createCliHost());
