/**
 * Who may come in: Host, then Origin, then token, before anything else of a request is read.
 * Any web page in a browser can reach a loopback port, so loopback alone proves nothing.
 *
 * @see spec: protocol, section 2
 */
import type { IncomingMessage } from "node:http";
import type { Principal } from "../domain/principal.ts";
import type { RefusalLog } from "./refusal-log.ts";

export interface GuardOptions {
  /** The port that the server listens on. */
  readonly port: () => number;
  /** Further names of ours, `name` or `name:port`. */
  readonly hosts: readonly string[];
  /** Where a proxy shows us, e.g. `https://notes.example.org`. */
  readonly publicUrl: string | null;
  /** Origins of pages that may call us, e.g. `https://app.example.org`. */
  readonly allowedOrigins: readonly string[];
  /** Who a token is, compared in constant time; null for no one's. */
  readonly authenticate: (token: string) => Principal | null;
  /** Told of each request that is turned away for who sends it (401, 403, 421). */
  readonly turnedAway?: RefusalLog["turnedAway"];
}

export interface Refusal {
  readonly kind: "refuse";
  readonly status: 400 | 401 | 403 | 404 | 421;
  /** In one word, for the log. */
  readonly reason:
    | "host"
    | "origin"
    | "target"
    | "well_known"
    | "token_in_query"
    | "no_token"
    | "unknown_token";
  readonly message: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Admission {
  readonly kind: "pass";
  /** Null only where no token was asked for. */
  readonly principal: Principal | null;
  /** Whether the token still is whose it was: a token can be revoked while a socket is open. */
  readonly stillValid: () => boolean;
}

export type Guard = (request: IncomingMessage, needs: "token" | "nothing") => Admission | Refusal;

/** The subprotocol that a WebSocket client may name, and the only one that is echoed. */
export const SUBPROTOCOL = "notesd.v1";
const BEARER_PROTOCOL = "notesd.bearer.";
const MAX_TOKEN_CHARS = 512;
const QUERY_NAMES = ["token", "access_token", "notesd_token", "bearer", "auth", "authorization", "password"];

/** Whether Git asks, which takes a challenge of its own and shows only plain text. */
export const isGitPath = (path: string): boolean => path === "/notes.git" || path.startsWith("/notes.git/");

/** The cookie of a browser; it names the port, since cookies of one host are shared by all its ports. */
const cookieName = (port: number): string => `notesd-${port}`;

/** Make the guard of one server. */
export function createGuard(options: GuardOptions): Guard {
  return (request, needs) => {
    const answer = judge(request, needs, options);
    if (answer.kind === "refuse" && TOLD.has(answer.status)) {
      const { status, reason } = answer;
      options.turnedAway?.({ address: request.socket.remoteAddress, status, reason });
    }
    return answer;
  };
}

const TOLD: ReadonlySet<number> = new Set([401, 403, 421]);

function judge(
  request: IncomingMessage,
  needs: "token" | "nothing",
  options: GuardOptions,
): Admission | Refusal {
  const names = ownNames(options);
  const host = one(request, "host")?.toLowerCase();
  if (host === undefined || !names.hosts.has(host)) {
    return refuse(
      421,
      "host",
      "This Host is not served here. Use the address in daemon.json, or add it to the setting hosts.",
    );
  }
  const origin = request.headers.origin;
  if (origin !== undefined && !names.origins.has(origin.toLowerCase())) {
    return refuse(
      403,
      "origin",
      "Pages of this Origin may not call here. Add it to the setting allowed_origins if they should.",
    );
  }
  const url = request.url ?? "";
  if (!url.startsWith("/")) return refuse(400, "target", "The request's target must be a path.");
  const [path = "", query = ""] = url.split(/\?(.*)/s);
  if (path.startsWith("/.well-known/"))
    return refuse(404, "well_known", "There is nothing under /.well-known here; no OAuth.");
  if (needs === "nothing") return { kind: "pass", principal: null, stillValid: () => true };
  return admit(request, path, query, options);
}

function admit(
  request: IncomingMessage,
  path: string,
  query: string,
  options: GuardOptions,
): Admission | Refusal {
  const challenge = isGitPath(path) ? 'Basic realm="notesd"' : "Bearer";
  const unauthenticated = (reason: Refusal["reason"], message: string) =>
    refuse(401, reason, message, { "www-authenticate": challenge });
  const parameters = new URLSearchParams(query);
  if (QUERY_NAMES.some((name) => parameters.has(name))) {
    return unauthenticated(
      "token_in_query",
      "A token is never taken from a query string, where logs keep it. Send an Authorization header.",
    );
  }
  const token = tokenOf(request, options.port());
  if (token === null) {
    return unauthenticated(
      "no_token",
      isGitPath(path)
        ? "A token is needed as the password; any user name will do. The file <gitdir>/notesd/token holds a person's."
        : "A token is needed: send Authorization: Bearer TOKEN. The file <gitdir>/notesd/token holds a person's.",
    );
  }
  const principal = options.authenticate(token);
  if (principal === null) {
    return unauthenticated(
      "unknown_token",
      "This token is not known here. Make one with notesd agent add NAME.",
    );
  }
  return { kind: "pass", principal, stillValid: () => options.authenticate(token) !== null };
}

const refuse = (
  status: Refusal["status"],
  reason: Refusal["reason"],
  message: string,
  headers: Refusal["headers"] = {},
): Refusal => ({
  kind: "refuse",
  status,
  reason,
  message,
  headers,
});

/** The header's value when it was sent exactly once. */
function one(request: IncomingMessage, name: string): string | undefined {
  const values = request.headersDistinct[name];
  return values?.length === 1 ? values[0] : undefined;
}

function ownNames({ port, hosts, publicUrl, allowedOrigins }: GuardOptions) {
  const here = port();
  const loopback = ["127.0.0.1", "localhost", "[::1]"].flatMap((name) =>
    here === 80 ? [name, `${name}:80`] : [`${name}:${here}`],
  );
  // A bare name stands for our port, and for the default ports of a proxy in front.
  const others = hosts.flatMap((host) => (/:\d+$/.test(host) ? [host] : [host, `${host}:${here}`]));
  const behind = publicUrl === null ? [] : [new URL(publicUrl)];
  const ours = [...loopback, ...others].map((name) => name.toLowerCase());
  return {
    hosts: new Set([...ours, ...behind.map((url) => url.host)]),
    origins: new Set([
      ...loopback.map((name) => `http://${name}`),
      ...others.flatMap((name) => [`http://${name}`, `https://${name}`].map((text) => text.toLowerCase())),
      ...behind.map((url) => url.origin),
      ...allowedOrigins.map((text) => text.toLowerCase().replace(/\/$/, "")),
    ]),
  };
}

/** The one token that a request carries, wherever it stands. A header counts before the rest. */
function tokenOf(request: IncomingMessage, port: number): string | null {
  const { authorization } = request.headers;
  const token =
    authorization !== undefined
      ? fromAuthorization(authorization)
      : (fromProtocols(request.headers["sec-websocket-protocol"]) ?? fromCookie(request, port));
  return token !== null && token.length > 0 && token.length <= MAX_TOKEN_CHARS ? token : null;
}

function fromAuthorization(header: string): string | null {
  const [, scheme = "", value = ""] = /^(\S+) +(\S+) *$/.exec(header) ?? [];
  if (scheme.toLowerCase() === "bearer") return value;
  if (scheme.toLowerCase() !== "basic") return null;
  const pair = Buffer.from(value, "base64").toString("utf8");
  return pair.includes(":") ? pair.slice(pair.indexOf(":") + 1) : null;
}

function fromProtocols(header: string | undefined): string | null {
  const offered = header?.split(",").map((protocol) => protocol.trim()) ?? [];
  return (
    offered.find((protocol) => protocol.startsWith(BEARER_PROTOCOL))?.slice(BEARER_PROTOCOL.length) ?? null
  );
}

/** A browser sends cookies by itself, so they count only where the browser says that our own page asks. */
function fromCookie(request: IncomingMessage, port: number): string | null {
  const site = request.headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin" && site !== "none") return null;
  const reads =
    (request.method === "GET" || request.method === "HEAD") && request.headers.upgrade === undefined;
  if (!reads && request.headers.origin === undefined) return null;
  const pairs = request.headers.cookie?.split(";").map((pair) => pair.trim()) ?? [];
  const name = `${cookieName(port)}=`;
  return pairs.find((pair) => pair.startsWith(name))?.slice(name.length) ?? null;
}
