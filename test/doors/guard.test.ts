/** Case 32: everything that must not come in, over real connections, at the HTTP and the WebSocket door. */
import { request } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { openDoor, type TestDoor } from "../support/door.ts";

let door: TestDoor;
beforeAll(async () => {
  door = await openDoor({
    guard: {
      hosts: ["notes.lan", "box.lan:8080"],
      publicUrl: "https://notes.example.org",
      allowedOrigins: ["https://app.example.org"],
    },
  });
});
afterAll(() => door.close());

type Headers = Record<string, string>;
const BEARER = { authorization: "Bearer ada-token" };

interface Answer {
  readonly status: number;
  readonly headers: Record<string, unknown>;
  readonly body: string;
}

function post(headers: Headers, path = "/rpc", method = "POST"): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port: door.port, path, method, headers }, (response) => {
      let body = "";
      response.on("data", (chunk) => {
        body += String(chunk);
      });
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
      );
    });
    sent.on("error", reject);
    if (method === "POST") sent.write('{"jsonrpc":"2.0","id":1,"method":"notes.summary"}');
    sent.end();
  });
}

/** What a WebSocket client meets: the status of a refusal, or 101. */
function upgrade(
  headers: Headers,
  path = "/rpc",
  protocols: string[] = [],
): Promise<{ status: number; protocol: string }> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://127.0.0.1:${door.port}${path}`, protocols, { headers });
    socket.on("open", () => {
      resolve({ status: 101, protocol: socket.protocol });
      socket.terminate();
    });
    socket.on("unexpected-response", (_request, response) => {
      resolve({ status: response.statusCode ?? 0, protocol: "" });
      socket.terminate();
    });
    socket.on("error", reject);
  });
}

const here = (name: string) => `${name}:${door.port}`;

test.each<[string, number, () => Headers]>([
  ["another Host", 421, () => ({ ...BEARER, host: "evil.example" })],
  ["another Host with our port", 421, () => ({ ...BEARER, host: here("evil.example") })],
  ["a Host that begins like ours", 421, () => ({ ...BEARER, host: here("127.0.0.1.evil.example") })],
  ["our Host with another port", 421, () => ({ ...BEARER, host: "127.0.0.1:1" })],
  ["our Host without its port", 421, () => ({ ...BEARER, host: "localhost" })],
  ["a listed Host with another port", 421, () => ({ ...BEARER, host: "box.lan:8081" })],
  ["another Host and no token", 421, () => ({ host: "evil.example" })],
  ["a foreign Origin", 403, () => ({ ...BEARER, origin: "https://evil.example" })],
  ["the Origin null", 403, () => ({ ...BEARER, origin: "null" })],
  [
    "an Origin that begins like ours",
    403,
    () => ({ ...BEARER, origin: `http://127.0.0.1.evil.example:${door.port}` }),
  ],
  ["our Origin with another port", 403, () => ({ ...BEARER, origin: "http://localhost:1" })],
  ["our Origin with another scheme", 403, () => ({ ...BEARER, origin: `https://localhost:${door.port}` })],
  ["an allowed Origin's subdomain", 403, () => ({ ...BEARER, origin: "https://x.app.example.org" })],
  ["two Origins", 403, () => ({ ...BEARER, origin: `http://localhost:${door.port}, https://evil.example` })],
  ["an empty Origin", 403, () => ({ ...BEARER, origin: "" })],
  ["a foreign Origin and no token", 403, () => ({ origin: "https://evil.example" })],
  ["no token", 401, () => ({})],
  ["a wrong token", 401, () => ({ authorization: "Bearer nobody" })],
  ["an empty token", 401, () => ({ authorization: "Bearer " })],
  ["a token without a scheme", 401, () => ({ authorization: "ada-token" })],
  ["another scheme", 401, () => ({ authorization: "Digest ada-token" })],
  ["a token of Object's", 401, () => ({ authorization: "Bearer constructor" })],
  ["a very long token", 401, () => ({ authorization: `Bearer ${"x".repeat(5000)}` })],
  [
    "a token as Basic user and not as password",
    401,
    () => ({ authorization: `Basic ${btoa("ada-token:")}` }),
  ],
  [
    "a wrong header beside a right subprotocol",
    401,
    () => ({ authorization: "Bearer no", "sec-websocket-protocol": "notesd.bearer.ada-token" }),
  ],
  [
    "a cookie from another site",
    401,
    () => ({
      cookie: `notesd-${door.port}=ada-token`,
      "sec-fetch-site": "cross-site",
      origin: `http://localhost:${door.port}`,
    }),
  ],
  ["a cookie without an Origin", 401, () => ({ cookie: `notesd-${door.port}=ada-token` })],
  [
    "another port's cookie",
    401,
    () => ({ cookie: "notesd-1=ada-token", origin: `http://localhost:${door.port}` }),
  ],
])("%s is refused with %i at both doors, before anything runs", async (_name, status, headers) => {
  const before = door.notebook.seenCallers.length;
  expect((await post(headers())).status).toBe(status);
  const { "sec-websocket-protocol": protocol, ...rest } = headers();
  expect((await upgrade(rest, "/rpc", protocol ? [protocol] : [])).status).toBe(status);
  expect(door.notebook.seenCallers).toHaveLength(before);
});

test.each<[string, () => Headers]>([
  ["a bearer token without an Origin", () => BEARER],
  ["the scheme in other letters", () => ({ authorization: "bearer ada-token" })],
  ["a token as Basic password, for any user", () => ({ authorization: `Basic ${btoa("git:ada-token")}` })],
  [
    "each loopback name",
    () => ({ ...BEARER, host: here("localhost"), origin: `http://${here("127.0.0.1")}` }),
  ],
  ["the IPv6 loopback name", () => ({ ...BEARER, host: here("[::1]"), origin: `http://${here("[::1]")}` })],
  [
    "a listed name, with our port or a proxy's",
    () => ({ ...BEARER, host: "notes.lan", origin: "http://notes.lan" }),
  ],
  ["a listed name in capitals", () => ({ ...BEARER, host: here("NOTES.LAN") })],
  ["a listed name with its port", () => ({ ...BEARER, host: "box.lan:8080" })],
  [
    "the public address",
    () => ({ ...BEARER, host: "notes.example.org", origin: "https://notes.example.org" }),
  ],
  ["an allowed Origin", () => ({ ...BEARER, origin: "https://app.example.org" })],
  [
    "our page's cookie",
    () => ({ cookie: `a=b; notesd-${door.port}=ada-token`, origin: `http://localhost:${door.port}` }),
  ],
])("%s comes in at both doors", async (_name, headers) => {
  expect((await post(headers())).status).toBe(200);
  expect((await upgrade(headers())).status).toBe(101);
});

test("a browser's subprotocols carry the token, and only notesd.v1 is echoed", async () => {
  expect(await upgrade({}, "/rpc", ["notesd.v1", "notesd.bearer.ada-token"])).toEqual({
    status: 101,
    protocol: "notesd.v1",
  });
  expect((await upgrade({}, "/rpc", ["notesd.v1", "notesd.bearer.nobody"])).status).toBe(401);
  expect((await upgrade({}, "/rpc", ["notesd.v1"])).status).toBe(401);
});

test.each(["token", "access_token", "bearer"])(
  "a token in the query string as %s is refused, even beside a right one",
  async (name) => {
    expect((await post(BEARER, `/rpc?${name}=ada-token`)).status).toBe(401);
    expect((await post({}, `/rpc?${name}=ada-token`)).status).toBe(401);
    expect((await upgrade({}, `/rpc?${name}=ada-token`)).status).toBe(401);
  },
);

test("a refusal says why in a JSON-RPC error, names the scheme, and repeats no token", async () => {
  const answer = await post({ authorization: "Bearer secret-of-mine" });
  expect(answer.headers["www-authenticate"]).toBe("Bearer");
  expect(JSON.parse(answer.body)).toMatchObject({
    jsonrpc: "2.0",
    id: null,
    error: { code: 401, data: { code: "UNAUTHENTICATED" } },
  });
  expect(answer.body).not.toContain("secret-of-mine");
  expect(door.logged.join("")).not.toContain("secret-of-mine");
  const git = await post({}, "/notes.git/info/refs", "GET");
  expect([git.status, git.headers["www-authenticate"]]).toEqual([401, 'Basic realm="notesd"']);
});

test("/.well-known is 404 without a token, /healthz needs none, and both look at Host and Origin", async () => {
  expect((await post({}, "/.well-known/oauth-authorization-server", "GET")).status).toBe(404);
  expect((await post({}, "/healthz", "GET")).status).toBe(200);
  expect((await post({ host: "evil.example" }, "/healthz", "GET")).status).toBe(421);
  expect((await post({ origin: "https://evil.example" }, "/healthz", "GET")).status).toBe(403);
  expect((await post({ host: "evil.example" }, "/.well-known/x", "GET")).status).toBe(421);
});

test("a request whose target is a whole address is refused", async () => {
  expect((await post(BEARER, `http://127.0.0.1:${door.port}/rpc`)).status).toBe(400);
});

test("WebSockets are served at /rpc alone", async () => {
  expect((await upgrade(BEARER, "/other")).status).toBe(404);
});

test("each refusal is a line with where it came from and why, and without the token", async () => {
  const asked = door;
  // Another, for of the first one's refusals enough is told by now.
  door = await openDoor();
  const { logged } = door;
  await post({ ...BEARER, host: "evil.example" });
  await post({ ...BEARER, origin: "https://evil.example" });
  await post({ authorization: "Bearer notesd_secret-token" });
  await post({});
  await post(BEARER, "/rpc?token=notesd_secret-token");
  await post(BEARER, "/.well-known/oauth", "GET");
  await door.close();
  door = asked;
  const lines = logged.filter((line) => line.includes('"refused"'));
  expect(lines.join("")).not.toContain("secret-token");
  expect(lines.map((line) => JSON.parse(line))).toMatchObject(
    [
      [421, "host"],
      [403, "origin"],
      [401, "unknown_token"],
      [401, "no_token"],
      [401, "token_in_query"],
    ].map(([status, reason]) => ({ message: "refused", address: "127.0.0.1", status, reason })),
  );
  expect(lines).toHaveLength(5);
});
