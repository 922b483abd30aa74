/** A connection for one command: found, started when there is none, and closed afterwards. */
import { type Client, type ConnectOptions, connect } from "../../client/client.ts";
import { runningDaemon } from "../../client/discover.ts";
import { NotesError } from "../../domain/errors.ts";
import { ProcessError } from "../../domain/process-error.ts";
import { errnoOf } from "../../lib/durable-file.ts";
import type { CliHost } from "./host.ts";
import { flagsOf, type Options } from "./shared-options.ts";

/** A lock is gone by then; a merge that a person does by hand is not, and whoever waits wants to know. */
const BUSY_WAIT_MS = 5_000;
/** A daemon that was killed is started again by then; one at an address that was given may come back. */
const AWAY_WAIT_MS = 30_000;

/** Run `work` with a client that is the agent of `--as` or NOTESD_AGENT, else the person. */
export async function withClient<T>(
  host: CliHost,
  options: Options,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = await open(host, options);
  try {
    return await work(client);
  } finally {
    client.close();
  }
}

async function open(host: CliHost, options: Options): Promise<Client> {
  const { env, cwd } = host;
  const agent = typeof options["as"] === "string" ? options["as"] : env["NOTESD_AGENT"];
  const waits = { waitMs: BUSY_WAIT_MS, awayMs: AWAY_WAIT_MS };
  const who: ConnectOptions = { env, cwd, ...waits, ...(agent ? { agent } : {}) };
  if (env["NOTESD_URL"]) return reach(who, env["NOTESD_URL"]);
  const flags = flagsOf(options);
  const place = await host.locate(flags);
  const start = () => host.startDetached({ ...flags, repo: place.root });
  const mayStart = options["start"] !== false;
  try {
    await runningDaemon(place);
  } catch (error) {
    if (!(error instanceof ProcessError) || error.code !== "NO_DAEMON" || !mayStart) throw error;
    await start();
  }
  let starts = 0;
  const revive = async () => {
    if (starts++ > 0)
      throw new ProcessError("NO_DAEMON", "The daemon went away a second time. See: notesd logs");
    host.io.err("the daemon went away; starting it again\n");
    await start();
  };
  return reach({ ...who, repo: place.root, ...(mayStart ? { revive } : {}) }, place.root);
}

async function reach(options: ConnectOptions, where: string): Promise<Client> {
  try {
    return await connect(options);
  } catch (error) {
    // A refusal comes from a daemon that answers, or from what was asked for.
    if (error instanceof NotesError || error instanceof ProcessError) throw error;
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    if (errnoOf(cause) === null) throw error;
    throw new ProcessError("NO_DAEMON", `Nobody answers at ${where}. Is a daemon running there?`, error);
  }
}
