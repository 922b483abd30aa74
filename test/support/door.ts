/** A real server on a real port over a fake notebook, for tests of the doors. */
import type { AddressInfo } from "node:net";
import { createQuota, type QuotaLimits } from "../../src/actions/gate/quota.ts";
import { registry } from "../../src/actions/registry.ts";
import type { Principal } from "../../src/domain/principal.ts";
import type { GitDoorOptions } from "../../src/doors/git-http/routes.ts";
import { createGuard, type GuardOptions } from "../../src/doors/guard.ts";
import type { HookDoor } from "../../src/doors/hook.ts";
import { createHttpServer } from "../../src/doors/http.ts";
import { httpRoutes } from "../../src/doors/http-routes.ts";
import { createRefusalLog } from "../../src/doors/refusal-log.ts";
import { openSocketDoor, type SocketDoor, type SocketDoorOptions } from "../../src/doors/socket.ts";
import { type Clock, systemClock } from "../../src/lib/clock.ts";
import { createLog, type Log } from "../../src/lib/log.ts";
import type { Notebook } from "../../src/notebook/notebook.ts";
import { ada, contextOf, planner, reader } from "./call.ts";
import { FakeNotebook } from "./fake-notebook.ts";

export const TOKENS: Readonly<Record<string, Principal>> = {
  "ada-token": ada,
  "planner-token": planner,
  "reader-token": reader,
};
export const NONCE = "0123456789abcdef";

export interface TestDoor {
  readonly port: number;
  readonly url: string;
  readonly http: string;
  readonly notebook: FakeNotebook;
  readonly sockets: SocketDoor;
  readonly logged: string[];
  readonly revoked: Set<string>;
  close(): Promise<void>;
}

export async function openDoor(
  options: {
    notebook?: FakeNotebook;
    served?: Notebook;
    clock?: Clock;
    guard?: Partial<GuardOptions>;
    sockets?: Partial<SocketDoorOptions>;
    git?: Partial<GitDoorOptions>;
    /** None by default. */
    quota?: Partial<QuotaLimits>;
  } = {},
): Promise<TestDoor> {
  const notebook = options.notebook ?? new FakeNotebook();
  const logged: string[] = [];
  const log = createLog({ level: "debug", write: (line) => logged.push(line) });
  const revoked = new Set<string>();
  const clock = options.clock ?? systemClock;
  const refusals = createRefusalLog(log, clock);
  const guard = createGuard({
    port: () => port,
    hosts: [],
    publicUrl: null,
    allowedOrigins: [],
    authenticate: (token) =>
      Object.hasOwn(TOKENS, token) && !revoked.has(token) ? (TOKENS[token] ?? null) : null,
    turnedAway: refusals.turnedAway,
    ...options.guard,
  });
  let refs = 0;
  const newRef = () => `ref-${++refs}`;
  const { daemon } = contextOf(notebook, ada, {
    quota: createQuota({ readsPerSecond: 0, writesPerSecond: 0, inFlight: 0, ...options.quota }, clock),
    refused: refusals.refused,
  });
  const shared = { registry, log, newRef, notebook: options.served ?? notebook, daemon };
  const server = createHttpServer({
    guard,
    log,
    newRef,
    routes: httpRoutes({ ...shared, ...gitSide(log, refusals.refused, options.git), nonce: NONCE }),
  });
  const sockets = openSocketDoor(server, {
    ...shared,
    guard,
    clock,
    tokensAt: () => [...revoked].join(),
    ...options.sockets,
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A listening TCP server has such an address.
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `ws://127.0.0.1:${port}/rpc`,
    http: `http://127.0.0.1:${port}`,
    notebook,
    sockets,
    logged,
    revoked,
    async close() {
      await sockets.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Hooks and Git that nobody asks, or as given. */
function gitSide(
  log: Log,
  refused: GitDoorOptions["refused"],
  git: Partial<GitDoorOptions> = {},
): { hooks: HookDoor; git: GitDoorOptions } {
  return {
    hooks: {
      levelForCommit: async () => ({ lagging: [], parted: [] }),
      push: {
        lease: async () => ({ kind: "busy", why: "Nobody pushes here." }),
        async ended() {},
        personAtGit() {},
        close() {},
      },
      rules: { branch: "main", roots: ["notes"], types: ["general"], note_bytes: 1024, file_bytes: 1024 },
      join: async (tip) => ({ kind: "up_to_date", commit: tip, conflicts: [] }),
      async moved() {},
    },
    git: {
      root: "/nowhere",
      hooks: "/nowhere",
      env: process.env,
      clock: systemClock,
      log,
      personAtGit() {},
      refused,
      ...git,
    },
  };
}
