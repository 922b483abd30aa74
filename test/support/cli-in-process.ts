/** The command line without a process of its own: the same program over streams of a test, in no repository. */
import { registry } from "../../src/actions/registry.ts";
import { runCli } from "../../src/doors/cli/run.ts";
import { createCliHost } from "../../src/main/cli-host.ts";
import type { Ended } from "./cli-process.ts";

/** Run one command with this environment and no other. @param input standard input */
export async function cliInProcess(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  input = "",
): Promise<Ended> {
  let [out, err] = ["", ""];
  const io = {
    out: (text: string) => {
      out += text;
    },
    err: (text: string) => {
      err += text;
    },
    readInput: async () => input,
    ask: null,
    colour: false,
    columns: Number.POSITIVE_INFINITY,
  };
  const code = await runCli(args, registry, { ...createCliHost(), env, io });
  return { code, out, err };
}
