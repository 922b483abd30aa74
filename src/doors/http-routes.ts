/** The routes of the daemon's own: JSON-RPC by POST, liveness, and the OpenRPC document. */
import { createHmac } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Daemon } from "../actions/action.ts";
import { parseFrame } from "../lib/jsonrpc.ts";
import type { Notebook } from "../notebook/notebook.ts";
import { type AnswerOptions, answer, answerFrame } from "./answer.ts";
import { type GitDoorOptions, gitRoutes } from "./git-http/routes.ts";
import type { Admission } from "./guard.ts";
import { type HookDoor, hookRoutes } from "./hook.ts";
import { type Route, refuse, respond } from "./http.ts";
import { readBody } from "./read-body.ts";

interface RoutesOptions extends AnswerOptions {
  readonly notebook: Notebook;
  readonly daemon: Daemon;
  /** The nonce of daemon.json: who can prove it is the daemon that wrote the file. */
  readonly nonce: string;
  /** What Git's hooks ask. */
  readonly hooks: HookDoor;
  readonly git: GitDoorOptions;
}

const BODY_BYTES = 1 << 20;

/** Routes by path, for `createHttpServer`. */
export function httpRoutes(options: RoutesOptions): Map<string, Route> {
  return new Map<string, Route>([
    ["/rpc", { needs: "token", methods: { POST: (...given) => rpc(...given, options) } }],
    ["/healthz", { needs: "nothing", methods: { GET: (...given) => health(...given, options) } }],
    ["/openrpc.json", { needs: "token", methods: { GET: (...given) => document(...given, options) } }],
    ...hookRoutes(options.hooks, options.daemon.refused),
    ...gitRoutes(options.git),
  ]);
}

/** 200 with any JSON-RPC reply, 204 when there is nothing to say. */
async function rpc(
  request: IncomingMessage,
  response: ServerResponse,
  { principal }: Admission,
  options: RoutesOptions,
): Promise<void> {
  const encoding = request.headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity") {
    return refuse(request, response, 415, "Send the body as it is, without a content-encoding.");
  }
  const body = await readBody(request, BODY_BYTES);
  if (body === "too large")
    return refuse(request, response, 413, "A body has at most 1 MiB (1,048,576 bytes).");
  if (principal === null || body === "broken") return;
  const caller = { principal, session: null, task: null };
  const context = { notebook: options.notebook, daemon: options.daemon, caller, connection: null };
  // One after the other, as if sent one by one.
  let before: Promise<unknown> = Promise.resolve();
  const reply = await answerFrame(parseFrame(body.text), (member) => {
    const replied = before.then(() => answer(member, context, options));
    before = replied;
    return replied;
  });
  respond(response, reply === null ? 204 : 200, reply);
}

/** Liveness, without a token and without data; proves to a client that this is the daemon of daemon.json. */
function health(
  request: IncomingMessage,
  response: ServerResponse,
  _admitted: Admission,
  { nonce }: RoutesOptions,
): void {
  const challenge = request.headers["notesd-challenge"];
  const body = '{"status":"ok"}';
  if (challenge === undefined) {
    respond(response, 200, body);
  } else if (typeof challenge === "string" && /^[0-9a-fA-F]{32}$/.test(challenge)) {
    const proof = createHmac("sha256", nonce).update(challenge).digest("hex");
    respond(response, 200, body, { "notesd-proof": proof });
  } else {
    refuse(request, response, 400, "Notesd-Challenge must be 32 hex digits.");
  }
}

function document(
  _request: IncomingMessage,
  response: ServerResponse,
  _admitted: Admission,
  { daemon }: RoutesOptions,
): void {
  respond(response, 200, JSON.stringify(daemon.openrpc()));
}
