/**
 * One WebSocket that comes back: full-jitter reconnect, and every request that was not answered is sent again
 * when it may be. What is asked and what notifications mean is `client.ts`.
 * Invariant: a request settles exactly once; one that must not be sent twice is never sent twice.
 */
import { WebSocket } from "ws";
import { z } from "zod";
import { NotesError } from "../domain/errors.ts";
import type { Clock } from "../lib/clock.ts";
import { jsonOrNull } from "../lib/json-text.ts";
import type { Address } from "./discover.ts";
import { errorFromWire } from "./http-call.ts";

const Message = z.object({
  id: z.number().nullish(),
  method: z.string().optional(),
  params: z.record(z.string(), z.unknown()).optional(),
  result: z.unknown().optional(),
  error: z
    .object({ code: z.number(), message: z.string(), data: z.record(z.string(), z.unknown()).optional() })
    .optional(),
});

export type LinkState = "connecting" | "open" | "closed";

interface LinkOptions {
  /** Asked before each attempt, for a daemon moves; `fresh` after its token was refused. */
  locate(fresh: boolean): Promise<Address>;
  notified(method: string, params: Readonly<Record<string, unknown>>): void;
  /** Runs after each opening, before unanswered requests are sent again: sessions, subscriptions. */
  opened(again: boolean): Promise<void>;
  stateChanged(state: LinkState): void;
  readonly clock: Clock;
  /** 0..1 */
  readonly random: () => number;
}

export interface Request {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Whether it may be sent again when the answer was lost. */
  readonly resendable: boolean;
  /** Sent while the link is being opened, before others. */
  readonly first?: boolean;
  /** Called with the result before any later message is looked at. */
  readonly settled?: (result: unknown) => void;
}

interface Pending extends Request {
  readonly id: number;
  sent: boolean;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

const FIRST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 10_000;
const SILENCE_MS = 75_000;

export class Link {
  readonly #options: LinkOptions;
  readonly #pending = new Map<number, Pending>();
  #socket: WebSocket | null = null;
  #ready = false;
  #closed: NotesError | null = null;
  #lastId = 0;
  #attempts = 0;
  #openings = 0;
  #refused = 0;
  #waiting = false;
  #stopWaiting: () => void = () => {};
  #stopWatching: () => void = () => {};

  constructor(options: LinkOptions) {
    this.#options = options;
  }

  /** Open for the first time. @throws whatever the first attempt met; later losses are waited out instead */
  async open(): Promise<void> {
    this.#options.stateChanged("connecting");
    try {
      await this.#attempt();
    } catch (error) {
      if (!this.#isRefused(error)) throw error;
      await this.#attempt();
    }
  }

  /** Send a request, now or when the link is open, and wait for its answer. */
  request(wish: Request): Promise<unknown> {
    if (this.#closed) return Promise.reject(this.#closed);
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      const pending: Pending = { ...wish, id, sent: false, resolve, reject };
      this.#pending.set(id, pending);
      if (this.#ready || wish.first) this.#send(pending);
    });
  }

  /** Close for good. Requests without an answer are rejected. */
  close(reason = new NotesError("INTERNAL", "The client was closed.", { closed: true })): void {
    if (this.#closed) return;
    this.#closed = reason;
    this.#ready = false;
    this.#stopWaiting();
    this.#stopWatching();
    for (const pending of this.#pending.values()) pending.reject(reason);
    this.#pending.clear();
    this.#socket?.close(1000);
    this.#options.stateChanged("closed");
  }

  async #attempt(): Promise<void> {
    const { url, token } = await this.#options.locate(this.#refused > 0);
    if (this.#closed) throw this.#closed;
    const socket = await connect(url, token);
    if (this.#closed) {
      socket.close(1000);
      throw this.#closed;
    }
    this.#socket = socket;
    this.#refused = 0;
    socket.on("message", (data) => this.#received(String(data)));
    socket.on("ping", () => this.#watch(socket));
    socket.once("close", () => this.#lost(socket));
    this.#watch(socket);
    this.#openings += 1;
    try {
      await this.#options.opened(this.#openings > 1);
    } catch (error) {
      if (this.#socket === socket) this.#socket = null;
      socket.terminate();
      throw error;
    }
    if (this.#socket !== socket)
      throw new NotesError("INTERNAL", "The connection was lost again.", { lost: true });
    this.#ready = true;
    this.#attempts = 0;
    this.#options.stateChanged("open");
    for (const pending of [...this.#pending.values()]) if (!pending.sent) this.#send(pending);
  }

  #send(pending: Pending): void {
    pending.sent = true;
    const { id, method, params } = pending;
    this.#socket?.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
  }

  #received(text: string): void {
    const parsed = Message.safeParse(jsonOrNull(text));
    if (!parsed.success) {
      // Not JSON-RPC, so nothing that follows can be trusted either: come back on a new socket.
      this.#socket?.terminate();
      return;
    }
    const { id, method, params, result, error } = parsed.data;
    if (method !== undefined) {
      this.#options.notified(method, params ?? {});
      return;
    }
    const pending = typeof id === "number" ? this.#pending.get(id) : undefined;
    if (!pending) return;
    this.#pending.delete(pending.id);
    if (error) {
      pending.reject(errorFromWire(error));
      return;
    }
    pending.settled?.(result);
    pending.resolve(result);
  }

  /** The daemon pings every 30 s: after two silent rounds the socket is half open. */
  #watch(socket: WebSocket): void {
    this.#stopWatching();
    this.#stopWatching = this.#options.clock.after(SILENCE_MS, () => socket.terminate());
  }

  #lost(socket: WebSocket): void {
    if (this.#socket !== socket) return;
    this.#socket = null;
    this.#ready = false;
    this.#stopWatching();
    if (this.#closed) return;
    for (const pending of [...this.#pending.values()]) {
      if (!pending.sent) continue;
      pending.sent = false;
      if (pending.resendable && !pending.first) continue;
      this.#pending.delete(pending.id);
      const message = `The connection was lost before ${pending.method} was answered; it may have taken effect.`;
      pending.reject(new NotesError("INTERNAL", message, { lost: true }));
    }
    this.#options.stateChanged("connecting");
    this.#again();
  }

  #again(): void {
    // Both the loss of a socket and the failure of its opening ask for this.
    if (this.#waiting) return;
    this.#waiting = true;
    const { clock, random } = this.#options;
    const ceiling = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(this.#attempts, 10));
    this.#attempts += 1;
    this.#stopWaiting = clock.after(random() * ceiling, () => {
      this.#waiting = false;
      this.#attempt().catch((error) => {
        if (this.#closed || this.#socket) return;
        if (this.#isRefused(error) || !(error instanceof NotesError) || error.data["lost"] === true) {
          return this.#again();
        }
        // Refused twice, with a token made anew: waiting changes nothing.
        if (error.code === "UNAUTHENTICATED" || error.code === "FORBIDDEN") return this.close(error);
        this.#again();
      });
    });
  }

  /** True for the first refusal of a token: a new one may be taken. */
  #isRefused(error: unknown): boolean {
    if (!(error instanceof NotesError) || error.code !== "UNAUTHENTICATED") return false;
    this.#refused += 1;
    return this.#refused === 1;
  }
}

/** @throws NotesError UNAUTHENTICATED, FORBIDDEN; Error when nobody listens */
function connect(url: string, token: string): Promise<WebSocket> {
  const address = new URL("/rpc", url);
  address.protocol = address.protocol.replace("http", "ws");
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(address, {
      headers: { authorization: `Bearer ${token}` },
      handshakeTimeout: 10_000,
      maxPayload: 1 << 20,
      perMessageDeflate: false,
    });
    socket.on("error", reject);
    socket.once("open", () => resolve(socket));
    socket.once("unexpected-response", (_request, response) => {
      const status = response.statusCode ?? 0;
      response.destroy();
      if (status === 401)
        reject(new NotesError("UNAUTHENTICATED", "The daemon doesn't know this token. Was it revoked?"));
      else if (status === 403 || status === 421) {
        reject(
          new NotesError(
            "FORBIDDEN",
            `The daemon refused the connection (HTTP ${status}): is its address one of its hosts?`,
          ),
        );
      } else reject(new Error(`the daemon answered HTTP ${status} instead of opening a WebSocket`));
    });
  });
}
