/**
 * The HTTP server of every door: admits through the guard, then finds the route. Bodies belong to the
 * routes; nothing of a request that was refused is read.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { errorFields, type Log } from "../lib/log.ts";
import { type Admission, type Guard, isGitPath } from "./guard.ts";
import { COMMON_HEADERS, refusalBody } from "./http-text.ts";

type Handler = (
  request: IncomingMessage,
  response: ServerResponse,
  admitted: Admission,
) => Promise<void> | void;

export interface Route {
  readonly needs: "token" | "nothing";
  /** By method, upper case. HEAD is answered by GET. */
  readonly methods: Readonly<Record<string, Handler>>;
}

/** Routes by exact path. */
export type Routes = ReadonlyMap<string, Route>;

interface HttpDoorOptions {
  readonly guard: Guard;
  readonly routes: Routes;
  readonly log: Log;
  /** A short text that ties an INTERNAL error to its log entry. */
  readonly newRef: () => string;
}

/** Make the server; the caller makes it listen. */
export function createHttpServer(options: HttpDoorOptions): Server {
  // A push may take long to send; whoever sends nothing for a while is ended by its route.
  const server = createServer({ requestTimeout: 0 }, (request, response) => {
    request.on("error", (error) => options.log.debug("a request broke", { error: error.message }));
    response.on("error", (error) => options.log.debug("a response broke", { error: error.message }));
    void handle(request, response, options);
  });
  server.on("clientError", (_error, stream) => {
    if (stream.writable)
      stream.end("HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
  });
  return server;
}

async function handle(
  request: IncomingMessage,
  response: ServerResponse,
  options: HttpDoorOptions,
): Promise<void> {
  try {
    await route(request, response, options);
  } catch (error) {
    const ref = options.newRef();
    options.log.error("a request failed", {
      ref,
      path: pathOf(request).slice(0, 200),
      ...errorFields(error),
    });
    if (response.headersSent) response.destroy();
    else
      respond(
        response,
        500,
        refusalBody(500, "Something went wrong here; the log has it under data.ref.", { ref }),
      );
  }
}

const pathOf = (request: IncomingMessage): string => request.url?.split("?")[0] ?? "";

async function route(
  request: IncomingMessage,
  response: ServerResponse,
  { routes, guard }: HttpDoorOptions,
): Promise<void> {
  const path = pathOf(request);
  const found = routes.get(path);
  const preflight =
    request.method === "OPTIONS" && request.headers["access-control-request-method"] !== undefined;
  const admitted = guard(request, preflight ? "nothing" : (found?.needs ?? "token"));
  if (admitted.kind === "refuse") {
    return refuse(request, response, admitted.status, admitted.message, admitted.headers);
  }
  shareWithOrigin(request, response);
  if (preflight) return respond(response, 204, null);
  if (found === undefined) {
    const known = [...routes.keys()].join(", ");
    return refuse(request, response, 404, `There is nothing at this path; there is ${known}.`);
  }
  const method = request.method === "HEAD" ? "GET" : (request.method ?? "");
  const handler = Object.hasOwn(found.methods, method) ? found.methods[method] : undefined;
  if (handler === undefined) {
    const allowed = Object.keys(found.methods).join(", ");
    return refuse(request, response, 405, `${path} takes ${allowed}, not ${method}.`, { allow: allowed });
  }
  await handler(request, response, admitted);
}

/** An Origin that the guard let pass may read the answers too. */
function shareWithOrigin(request: IncomingMessage, response: ServerResponse): void {
  const { origin } = request.headers;
  if (origin === undefined) return;
  response.setHeader("access-control-allow-origin", origin);
  response.setHeader("access-control-allow-headers", "authorization, content-type");
  response.setHeader("access-control-allow-methods", "GET, POST");
  response.setHeader("vary", "origin");
}

/** Answer with JSON text (or another `content-type`), or with nothing. */
export function respond(
  response: ServerResponse,
  status: number,
  body: string | null,
  headers: Readonly<Record<string, string>> = {},
): void {
  const length = body === null ? {} : { "content-length": String(Buffer.byteLength(body)) };
  const type = body === null ? {} : { "content-type": "application/json" };
  response.writeHead(status, { ...COMMON_HEADERS, ...type, ...length, ...headers });
  response.end(body ?? undefined);
}

/** Refuse a request and end its connection; what still comes of its body is thrown away. */
export function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  request.resume();
  // Git shows a person what is plain text, and nothing else.
  const forGit = isGitPath(pathOf(request));
  const body = forGit ? `${message}\n` : refusalBody(status, message);
  const type = forGit ? { "content-type": "text/plain; charset=utf-8" } : {};
  respond(response, status, body, { ...type, ...headers, connection: "close" });
}
