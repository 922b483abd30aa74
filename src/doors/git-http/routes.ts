/**
 * `/notes.git`: clone, fetch and push by stock Git, under the daemon's own guard. What may be done is decided here,
 * who asks by the guard, and no word of either comes from the request. Invariant: only a person pushes.
 *
 * @see spec: protocol, sections 1 and 2 · storage, section 6 · gitprotocol-http(5)
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { principalKey } from "../../domain/identity.ts";
import type { Principal } from "../../domain/principal.ts";
import type { Clock } from "../../lib/clock.ts";
import { gitEnvironment } from "../../lib/git-environment.ts";
import type { Log } from "../../lib/log.ts";
import type { Admission } from "../guard.ts";
import { type Route, refuse } from "../http.ts";
import type { RefusalLog } from "../refusal-log.ts";
import { runBackend } from "./backend.ts";
import { type GitMissing, gitMissing } from "./git-missing.ts";

export interface GitDoorOptions {
  /** Absolute folder whose `.git` is served. */
  readonly root: string;
  /** Absolute folder of our hooks. */
  readonly hooks: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly log: Log;
  /** A person fetches or pushes. */
  readonly personAtGit: () => void;
  readonly refused: RefusalLog["refused"];
  /** For tests. */
  readonly missing?: GitMissing;
  readonly atOnce?: number;
}

/** Each may hold a pack in memory. */
const AT_ONCE = 16;
const MAX_PACK_BYTES = 1 << 30;
const SERVICES = ["git-upload-pack", "git-receive-pack"] as const;
type Service = (typeof SERVICES)[number];

/** What counts before the repository's own config, whatever somebody set there. */
const settingsFor = ({ hooks }: GitDoorOptions, mayPush: boolean) => ({
  "http.getanyfile": "false",
  "http.uploadpack": "true",
  "http.receivepack": String(mayPush),
  "core.hooksPath": hooks,
  "uploadpack.allowFilter": "true",
  "receive.denyCurrentBranch": "updateInstead",
  "receive.denyDeletes": "true",
  "receive.denyNonFastForwards": "true",
  "receive.fsckObjects": "true",
  // Refused by pre-receive, which says where and what to do; it runs for certain, since its folder is given here.
  "receive.fsck.hasDotgit": "warn",
  "receive.procReceiveRefs": "refs/for",
  "receive.maxInputSize": String(MAX_PACK_BYTES),
  // The daemon looks after its packs itself.
  "receive.autogc": "false",
  "transfer.hideRefs": ["refs/notesd", "!refs/notesd/review"],
});

/** Routes by path, for `createHttpServer`. */
export function gitRoutes(options: GitDoorOptions): Map<string, Route> {
  const door: Door = {
    options,
    missing: options.missing ?? gitMissing(options.env),
    turns: turns(options.atOnce ?? AT_ONCE),
  };
  return new Map<string, Route>([
    ["/notes.git", { needs: "token", methods: { GET: explain } }],
    ["/notes.git/info/refs", { needs: "token", methods: { GET: (...given) => advertise(...given, door) } }],
    ...SERVICES.map((service): [string, Route] => [
      `/notes.git/${service}`,
      { needs: "token", methods: { POST: (...given) => serve(...given, service, door) } },
    ]),
  ]);
}

interface Door {
  readonly options: GitDoorOptions;
  readonly missing: GitMissing;
  readonly turns: ReturnType<typeof turns>;
}

function explain(request: IncomingMessage, response: ServerResponse): void {
  refuse(
    request,
    response,
    404,
    "This is a Git repository: git clone this address, with a token as the password.",
  );
}

/** The first request of every Git command. */
async function advertise(
  request: IncomingMessage,
  response: ServerResponse,
  { principal }: Admission,
  door: Door,
): Promise<void> {
  const asked = new URL(request.url ?? "", "http://localhost").searchParams.get("service");
  const service = SERVICES.find((one) => one === asked);
  if (service === undefined)
    return refuse(request, response, 403, "Only smart HTTP is served here: use Git 1.6.6 or later.");
  await carryOut(request, response, principal, { service, path: "/info/refs" }, door);
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  { principal }: Admission,
  service: Service,
  door: Door,
): Promise<void> {
  if (request.headers["content-type"] !== `application/x-${service}-request`)
    return refuse(
      request,
      response,
      415,
      `The body must be application/x-${service}-request, as Git sends it.`,
    );
  await carryOut(request, response, principal, { service, path: `/${service}` }, door);
}

async function carryOut(
  request: IncomingMessage,
  response: ServerResponse,
  principal: Principal | null,
  { service, path }: { readonly service: Service; readonly path: string },
  { options, missing, turns }: Door,
): Promise<void> {
  if (principal === null) return;
  const receives = service === "git-receive-pack";
  if (receives && principal.kind !== "person") {
    options.refused({
      principal: principalKey(principal),
      action: "git push",
      code: "FORBIDDEN",
      reason: "persons_only",
    });
    return refuse(
      request,
      response,
      403,
      "Only persons push. This token is an agent's: it may clone and fetch, and writes by notes.create and notes.update.",
    );
  }
  const lacking = await missing();
  if (lacking !== null) return refuse(request, response, 501, lacking);
  if (principal.kind === "person") options.personAtGit();
  const { log, clock } = options;
  const env = cgiEnvironment(request, principal, path, options);
  const { kind, words } = await turns(() =>
    runBackend({ request, response, env, clock, receives: receives && path !== "/info/refs" }),
  );
  if (words !== "") log.info("git http-backend said", { service, words });
  if (kind === "answered" || response.headersSent || response.destroyed) return;
  if (kind === "refused")
    refuse(
      request,
      response,
      400,
      "Git could not read this request; the daemon's log says why (notesd logs).",
    );
  else
    refuse(request, response, 500, "Git could not carry this out; the daemon's log says why (notesd logs).");
}

/** CGI's names. Of the request only what HTTP itself says gets here, and of it nothing that names a person. */
function cgiEnvironment(
  request: IncomingMessage,
  principal: Principal,
  path: string,
  options: GitDoorOptions,
): Record<string, string> {
  const person = principal.kind === "person" ? principal : null;
  const { headers } = request;
  const given: Record<string, string | undefined> = {
    CONTENT_TYPE: headers["content-type"],
    CONTENT_LENGTH: headers["content-length"],
    HTTP_CONTENT_ENCODING: headers["content-encoding"],
    GIT_PROTOCOL: one(headers["git-protocol"]),
  };
  return {
    ...gitEnvironment(options.env, settingsFor(options, person !== null)),
    ...Object.fromEntries(
      Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    ),
    GIT_PROJECT_ROOT: options.root,
    GIT_HTTP_EXPORT_ALL: "1",
    PATH_INFO: `/.git${path}`,
    REQUEST_METHOD: request.method === "HEAD" ? "GET" : (request.method ?? ""),
    QUERY_STRING: request.url?.split(/\?(.*)/s)[1] ?? "",
    REMOTE_ADDR: request.socket.remoteAddress ?? "",
    REMOTE_USER: person?.email ?? principal.name,
    // Whose push it was, for the reflog.
    GIT_COMMITTER_NAME: principal.name,
    GIT_COMMITTER_EMAIL: person?.email ?? "agent@agents.notesd.invalid",
  };
}

const one = (value: string | readonly string[] | undefined) =>
  typeof value === "string" && /^[\w=:.-]{1,200}$/.test(value) ? value : undefined;

/** At most so many at once; the others wait for their turn. */
function turns(atOnce: number) {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (running >= atOnce) await new Promise<void>((resolve) => waiting.push(resolve));
    running++;
    try {
      return await work();
    } finally {
      running--;
      waiting.shift()?.();
    }
  };
}
