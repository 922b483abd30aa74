/** The doors of one daemon on one port: JSON-RPC by WebSocket and by POST, liveness, documents, one guard. */
import { randomBytes } from "node:crypto";
import type { Server } from "node:http";
import type { Daemon } from "../actions/action.ts";
import { registry } from "../actions/registry.ts";
import type { Principal } from "../domain/principal.ts";
import { ProcessError } from "../domain/process-error.ts";
import type { GitDoorOptions } from "../doors/git-http/routes.ts";
import { createGuard } from "../doors/guard.ts";
import type { HookDoor } from "../doors/hook.ts";
import { createHttpServer } from "../doors/http.ts";
import { httpRoutes } from "../doors/http-routes.ts";
import type { RefusalLog } from "../doors/refusal-log.ts";
import { openSocketDoor } from "../doors/socket.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { Notebook } from "../notebook/notebook.ts";
import { listen } from "./listen.ts";
import type { Settings } from "./settings.ts";

interface DoorsWish {
  readonly notebook: Notebook;
  readonly daemon: Daemon;
  /** What Git's hooks ask for. */
  readonly hooks: HookDoor;
  readonly git: GitDoorOptions;
  readonly settings: Settings;
  /** The key of the liveness challenge. */
  readonly nonce: string;
  readonly authenticate: (token: string) => Principal | null;
  /** Another one when a token was made or ended. */
  readonly tokensAt: () => string;
  readonly refusals: RefusalLog;
  /** The repository of the notesd at a port that is taken, for the message. */
  readonly holder: (port: number) => Promise<string | null>;
  readonly log: Log;
  readonly clock: Clock;
}

export interface Doors {
  readonly host: string;
  readonly port: number;
  /** `http://HOST:PORT`, with an address that this machine can call. */
  readonly url: string;
  /** Take no more requests, answer those that were taken, close every connection. */
  close(): Promise<void>;
}

const LAST_ANSWERS_MS = 5_000;

/** @throws ProcessError PORT_TAKEN, USAGE */
export async function openDoors(wish: DoorsWish): Promise<Doors> {
  const { settings, log, notebook, daemon, nonce, clock } = wish;
  const host = settings.host ?? "127.0.0.1";
  checkAddress(host, settings, log);
  let port = 0;
  const guard = createGuard({
    port: () => port,
    hosts: settings.hosts ?? [],
    publicUrl: settings.public_url ?? null,
    allowedOrigins: settings.allowed_origins ?? [],
    authenticate: wish.authenticate,
    turnedAway: wish.refusals.turnedAway,
  });
  const newRef = () => randomBytes(6).toString("hex");
  const shared = { registry, log, newRef, notebook, daemon };
  const server = createHttpServer({
    guard,
    log,
    newRef,
    routes: httpRoutes({ ...shared, nonce, hooks: wish.hooks, git: wish.git }),
  });
  const sockets = openSocketDoor(server, { ...shared, guard, clock, tokensAt: wish.tokensAt });
  port = await listen(server, host, settings.port ?? null, wish.holder);
  return {
    host,
    port,
    url: `http://${callable(host)}:${port}`,
    async close() {
      await sockets.close();
      await closeServer(server, clock);
    },
  };
}

async function closeServer(server: Server, clock: Clock): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const cancel = clock.after(LAST_ANSWERS_MS, () => server.closeAllConnections());
  await closed;
  cancel();
}

const isLoopback = (host: string): boolean => /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/.test(host);

/** Every host that listens everywhere is called by its loopback name from here. */
function callable(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}

/** @throws ProcessError USAGE an address that others reach, without the names they would use */
function checkAddress(host: string, settings: Settings, log: Log): void {
  if (isLoopback(host)) return;
  if (!settings.hosts?.length && settings.public_url === undefined) {
    throw new ProcessError(
      "USAGE",
      `${host} can be reached from other machines. Say by which names: the setting hosts (or public_url), or listen on 127.0.0.1.`,
    );
  }
  log.warn("there is no TLS here: put a proxy or SSH in front of an address that others reach", { host });
}
