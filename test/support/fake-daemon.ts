/** A daemon's two doors as a script: answers what the test says, and shows what it was sent. */
import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import { type WebSocket, WebSocketServer } from "ws";

export interface Sent {
  readonly method: string;
  readonly params: Record<string, unknown>;
  readonly token: string;
  /** 1 for the first connection. */
  readonly connection: number;
}

export type Answer =
  | { readonly result: unknown }
  | { readonly error: { code: number; message: string; data: Record<string, unknown> } }
  /** Close the socket without an answer. */
  | "drop";

export interface FakeDaemon {
  readonly url: string;
  readonly port: number;
  readonly sent: Sent[];
  /** Tokens that are let in; null: all. */
  tokens: Set<string> | null;
  notify(method: string, params: Record<string, unknown>): void;
  close(): Promise<void>;
}

export async function fakeDaemon(
  nonce: string | null,
  answer: (sent: Sent) => Answer | Promise<Answer>,
): Promise<FakeDaemon> {
  const sent: Sent[] = [];
  let socket: WebSocket | null = null;
  let connections = 0;
  const bearer = (header: string | undefined) => header?.replace("Bearer ", "") ?? "";
  const http = createServer(async (request, response) => {
    if (request.url === "/healthz") {
      const challenge = String(request.headers["notesd-challenge"] ?? "");
      if (nonce)
        response.setHeader("Notesd-Proof", createHmac("sha256", nonce).update(challenge).digest("hex"));
      return response.end("ok");
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { id, method, params } = JSON.parse(String(Buffer.concat(chunks)));
    const one = { method, params, token: bearer(request.headers.authorization), connection: 0 };
    sent.push(one);
    const reply = await answer(one);
    return response.end(JSON.stringify({ jsonrpc: "2.0", id, ...(reply === "drop" ? {} : reply) }));
  });
  const server = new WebSocketServer({ noServer: true });
  const daemon: FakeDaemon = {
    url: "",
    port: 0,
    sent,
    tokens: null,
    notify: (method, params) => socket?.send(JSON.stringify({ jsonrpc: "2.0", method, params })),
    async close() {
      for (const client of server.clients) client.terminate();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
  http.on("upgrade", (request, raw, head) => {
    const token = bearer(request.headers.authorization);
    if (daemon.tokens && !daemon.tokens.has(token)) {
      raw.end("HTTP/1.1 401 Unauthorized\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
      return;
    }
    server.handleUpgrade(request, raw, head, (ws) => {
      socket = ws;
      connections += 1;
      const connection = connections;
      ws.on("message", async (data) => {
        const { id, method, params } = JSON.parse(String(data));
        const one = { method, params, token, connection };
        sent.push(one);
        const reply = await answer(one);
        if (reply === "drop") ws.terminate();
        else ws.send(JSON.stringify({ jsonrpc: "2.0", id, ...reply }));
      });
    });
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const address = http.address();
  const port = typeof address === "object" && address ? address.port : 0;
  return Object.assign(daemon, { port, url: `http://127.0.0.1:${port}` });
}
