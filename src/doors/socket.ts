/**
 * The WebSocket door: `/rpc`, one session a socket. Admits through the guard, keeps dead peers from
 * staying, and hands frames to the session; what they mean is not known here.
 */
import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { type RawData, WebSocket, WebSocketServer } from "ws";
import { errorFields } from "../lib/log.ts";
import { type Guard, SUBPROTOCOL } from "./guard.ts";
import { refusalText } from "./http-text.ts";
import { Session, type SessionOptions, type Wire } from "./session.ts";

export interface SocketDoorOptions extends SessionOptions {
  readonly guard: Guard;
  /** Another text when a token was made or ended. @cost little: asked every second */
  readonly tokensAt: () => string;
  /** Between two pings; a peer that answered none by the next is dropped. Default 30,000. */
  readonly pingMs?: number;
  /** Default 1,000. */
  readonly mostSockets?: number;
  /** How long `close` waits for a client that takes nothing. Default 5,000. */
  readonly closeMs?: number;
}

export interface SocketDoor {
  readonly size: number;
  /** Take no more requests, answer those that were taken, and close every socket (1001). */
  close(): Promise<void>;
}

interface Peer {
  readonly socket: WebSocket;
  readonly session: Session;
  answered: boolean;
}

const FRAME_BYTES = 1 << 20;
/** Who only listens sends nothing at which a revoked token would be seen. */
const TOKENS_MS = 1_000;

/** Serve WebSockets on a server's upgrades to `/rpc`. */
export function openSocketDoor(server: Server, options: SocketDoorOptions): SocketDoor {
  const { guard, clock, log, notebook, pingMs = 30_000, mostSockets = 1000, closeMs = 5000 } = options;
  const peers = new Set<Peer>();
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: FRAME_BYTES,
    perMessageDeflate: false,
    clientTracking: false,
    handleProtocols: (offered) => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
  });
  let closing = false;

  const upgrade = (request: IncomingMessage, stream: Duplex, head: Buffer) => {
    stream.on("error", (error) => log.debug("an upgrading connection broke", { error: error.message }));
    try {
      admit(request, stream, head);
    } catch (error) {
      log.error("a connection could not be judged", errorFields(error));
      refuse(stream, 500, "Something went wrong here; the log has it.");
    }
  };

  function admit(request: IncomingMessage, stream: Duplex, head: Buffer) {
    const admitted = guard(request, "token");
    if (admitted.kind === "refuse")
      return refuse(stream, admitted.status, admitted.message, admitted.headers);
    if (request.url?.split("?")[0] !== "/rpc") return refuse(stream, 404, "WebSockets are served at /rpc.");
    if (closing || peers.size >= mostSockets) {
      return refuse(stream, 503, "No more connections right now. Try again.", { "retry-after": "1" });
    }
    const { principal, stillValid } = admitted;
    if (principal === null) return refuse(stream, 401, "A token is needed.");
    sockets.handleUpgrade(request, stream, head, (socket) => {
      const session = new Session(wireOf(socket), principal, stillValid, options);
      serve({ socket, session, answered: true });
    });
  }

  function serve(peer: Peer): void {
    const { socket, session } = peer;
    peers.add(peer);
    socket.on("message", (data, isBinary) => {
      peer.answered = true;
      if (isBinary) socket.close(1003, "text frames only");
      else if (socket.readyState === WebSocket.OPEN) session.receive(textOf(data));
    });
    socket.on("pong", () => {
      peer.answered = true;
    });
    // ws closes the socket itself after an error (1009, 1007, …); unheard, it would end the process.
    socket.on("error", (error) => log.debug("a socket failed", { error: error.message }));
    socket.on("close", () => {
      peers.delete(peer);
      session.end();
    });
  }

  const ping = (): void => {
    for (const peer of peers) {
      if (!peer.answered && !peer.session.paused) peer.socket.terminate();
      peer.answered = false;
      if (peer.socket.readyState === WebSocket.OPEN) peer.socket.ping();
    }
    cancelPing = clock.after(pingMs, ping);
  };
  let cancelPing = clock.after(pingMs, ping);
  let tokens = options.tokensAt();
  const endRevoked = (): void => {
    try {
      const now = options.tokensAt();
      if (now !== tokens) for (const { session } of peers) session.endIfRevoked();
      tokens = now;
    } catch (error) {
      // Trigger: the files can't be read now. Why: the next look may. Outcome: requests are refused meanwhile.
      log.error("tokens could not be looked up", errorFields(error));
    }
    cancelTokens = clock.after(TOKENS_MS, endRevoked);
  };
  let cancelTokens = clock.after(TOKENS_MS, endRevoked);
  const stopState = notebook.onState((state) => {
    for (const { session } of peers) session.stateChanged(state);
  });
  server.on("upgrade", upgrade);

  return {
    get size() {
      return peers.size;
    },
    async close() {
      closing = true;
      cancelPing();
      cancelTokens();
      stopState();
      await Promise.all([...peers].map((peer) => end(peer, closeMs)));
      server.off("upgrade", upgrade);
    },
  };
}

/** Answer what was taken, then close; a peer that keeps us waiting is cut off. */
async function end({ socket, session }: Peer, closeMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  if (socket.readyState === WebSocket.CLOSED) return;
  const cut = setTimeout(() => socket.terminate(), closeMs);
  socket.pause();
  await Promise.race([closed, session.drained()]);
  // Replies leave in the turn after the last task; the close frame goes behind them.
  await new Promise((resolve) => setImmediate(resolve));
  socket.resume();
  socket.close(1001, "the daemon stops");
  await closed;
  clearTimeout(cut);
}

function wireOf(socket: WebSocket): Wire {
  return {
    get bufferedBytes() {
      return socket.bufferedAmount;
    },
    send: (text, sent) => socket.send(text, sent),
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    close: (code, reason) => {
      // Unread, the peer's own close frame would never be seen.
      socket.resume();
      socket.close(code, reason);
    },
  };
}

/** A text frame's text; ws has checked that it is UTF-8. */
function textOf(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString();
  return data instanceof ArrayBuffer ? Buffer.from(data).toString() : data.toString();
}

function refuse(
  stream: Duplex,
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
) {
  stream.once("finish", () => stream.destroy());
  stream.end(refusalText(status, message, headers));
}
