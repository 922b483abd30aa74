/**
 * Which port: 6683 (NOTE on a keypad) or the next free one to 6699; one that was asked for, or none at all.
 *
 * @see spec: protocol, section 1
 */
import type { Server } from "node:http";
import { ProcessError } from "../domain/process-error.ts";
import { errnoOf } from "../lib/durable-file.ts";

export const FIRST_PORT = 6683;
export const LAST_PORT = 6699;

/**
 * Make a server listen.
 * @param asked   null: the first free one of the range; 0: any
 * @param holder  who listens at a port that is taken, for the message; null when unknown
 * @returns the port
 * @throws ProcessError PORT_TAKEN, or USAGE for an address that can't be listened on
 */
export async function listen(
  server: Server,
  host: string,
  asked: number | null,
  holder: (port: number) => Promise<string | null>,
): Promise<number> {
  const last = asked === null ? LAST_PORT : asked;
  for (let port = asked ?? FIRST_PORT; port <= last; port++) {
    const refused = await tryPort(server, host, port);
    if (refused === null) return portOf(server);
    const code = errnoOf(refused);
    if (code !== "EADDRINUSE") {
      const hint =
        code === "EACCES"
          ? "Ports below 1024 need rights that this user lacks."
          : "Is it an address of this machine?";
      throw new ProcessError(
        "USAGE",
        `Can't listen on ${host}:${port} (${code ?? refused.message}). ${hint}`,
        refused,
      );
    }
  }
  if (asked === null) {
    throw new ProcessError(
      "PORT_TAKEN",
      `Every port from ${FIRST_PORT} to ${LAST_PORT} is taken. Name one: --port NUMBER, or --port 0 for any.`,
    );
  }
  const repo = await holder(asked);
  const who = repo === null ? "by another program" : `by the notesd of ${repo}`;
  throw new ProcessError("PORT_TAKEN", `Port ${asked} is taken ${who}. Name another, or leave it out.`);
}

function tryPort(server: Server, host: string, port: number): Promise<Error | null> {
  return new Promise((resolve) => {
    const failed = (error: Error) => {
      server.off("listening", done);
      resolve(error);
    };
    const done = () => {
      server.off("error", failed);
      resolve(null);
    };
    server.once("error", failed);
    server.once("listening", done);
    server.listen(port, host);
  });
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}
