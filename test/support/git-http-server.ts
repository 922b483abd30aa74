/** `git http-backend` behind a small server with a login: a Git host for tests. */
import { spawn } from "node:child_process";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { GIT_ENV } from "./git-env.ts";

export interface GitHttpServer {
  /** Of the repository `name` below the served folder. */
  url(name: string): string;
  /** Requests so far, as `METHOD path status`. */
  readonly requests: string[];
  /** Answer everything with this status; null: as usual. */
  answerOnly(status: number | null): void;
  /** From now on a path that begins so is redirected to one that begins otherwise. */
  movedTo(from: string, to: string): void;
  close(): Promise<void>;
}

/** @param login asked for when given */
export async function gitHttpServer(
  folder: string,
  login: { readonly username: string; readonly password: string } | null = null,
): Promise<GitHttpServer> {
  const requests: string[] = [];
  let only: number | null = null;
  let moved: readonly [string, string] | null = null;
  const wanted =
    login === null ? null : `Basic ${Buffer.from(`${login.username}:${login.password}`).toString("base64")}`;
  const server: Server = createServer((request, response) => {
    response.on("finish", () => requests.push(`${request.method} ${request.url} ${response.statusCode}`));
    if (only !== null) return void response.writeHead(only).end();
    if (moved !== null && request.url?.startsWith(moved[0]) === true)
      return void response.writeHead(301, { location: request.url.replace(...moved) }).end();
    if (wanted !== null && request.headers.authorization !== wanted)
      return void response.writeHead(401, { "www-authenticate": 'Basic realm="git"' }).end();
    backend(folder, login?.username ?? "anonymous", request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A server that listens on TCP has such an address.
  const { port } = server.address() as AddressInfo;
  return {
    requests,
    url: (name) => `http://127.0.0.1:${port}/${name}`,
    answerOnly(status) {
      only = status;
    },
    movedTo(from, to) {
      moved = [from, to];
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

function backend(folder: string, user: string, request: IncomingMessage, response: ServerResponse): void {
  const [path = "", query = ""] = (request.url ?? "").split("?");
  const child = spawn("git", ["http-backend"], {
    env: {
      ...GIT_ENV,
      GIT_PROJECT_ROOT: folder,
      GIT_HTTP_EXPORT_ALL: "1",
      PATH_INFO: path,
      QUERY_STRING: query,
      REQUEST_METHOD: request.method ?? "GET",
      CONTENT_TYPE: request.headers["content-type"] ?? "",
      REMOTE_USER: user,
      REMOTE_ADDR: "127.0.0.1",
    },
    stdio: ["pipe", "pipe", "ignore"],
  });
  child.stdin.on("error", () => {});
  request.pipe(child.stdin);
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  child.on("close", () => {
    const all = Buffer.concat(chunks);
    const end = all.indexOf("\r\n\r\n");
    const head = all.toString("latin1", 0, end).split("\r\n");
    const status = head.find((line) => line.startsWith("Status: "))?.slice(8, 11) ?? "200";
    const headers = head.flatMap((line) => {
      const [name = "", value = ""] = line.split(": ");
      return name === "Status" || name === "" ? [] : [[name, value] as const];
    });
    response.writeHead(Number(status), Object.fromEntries(headers)).end(all.subarray(end + 4));
  });
}
