/**
 * One WebSocket that comes back: full-jitter reconnect, and every request that was not answered is sent again
 * when it may be, until it waited too long. What is asked and what notifications mean is `client.ts`.
 * Invariant: a request settles exactly once; one that must not be sent twice is never sent twice.
 */
import type { WebSocket } from "ws";
import { z } from "zod";
import { NotesError } from "../domain/errors.ts";
import type { Clock } from "../lib/clock.ts";
import { jsonOrNull } from "../lib/json-text.ts";
import type { Address } from "./discover.ts";
import { errorFromWire } from "./http-call.ts";
import { openSocket } from "./open-socket.ts";
import {
  CLOSED,
  ClosedByCaller,
  frameOf,
  mayHaveTakenEffect,
  type Pending,
  type Request,
  refusedBy,
  unanswered,
} from "./request.ts";

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
  /**
   * How long a request waits for a connection, from its first loss on, in ms. After that it is not sent again:
   * one that ends the daemon must not end it for ever.
   */
  readonly awayMs: number;
  readonly clock: Clock;
  /** 0..1 */
  readonly random: () => number;
}

const FIRST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 10_000;
const SILENCE_MS = 75_000;

export class Link {
  readonly #options: LinkOptions;
  readonly #pending = new Map<number, Pending>();
  #socket: WebSocket | null = null;
  #ready = false;
  /** Why there is no link any more; null: there may be. */
  #closed: Error | null = null;
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

  get isOpen(): boolean {
    return this.#ready;
  }

  /** Requests that wait for their answer. */
  get waiting(): number {
    return this.#pending.size;
  }

  /**
   * Send a request, now or when the link is open, and wait for its answer.
   * @throws UnansweredError no connection for `awayMs`, or the link was closed; NotesError TOO_LARGE, and the daemon's
   */
  request(wish: Request): Promise<unknown> {
    if (this.#closed) return Promise.reject(refusedBy(this.#closed, wish));
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      const given = { ...wish, id, text: frameOf(id, wish), resolve, reject };
      const pending: Pending = { ...given, sent: false, left: false, untilMs: null, stopWaiting: () => {} };
      this.#pending.set(id, pending);
      if (this.#ready || wish.first) this.#send(pending);
      else this.#await(pending);
    });
  }

  /**
   * Close for good. Requests without an answer are rejected, each with what is known of it.
   * @param reason why, when nobody asked for it; what is called after this is rejected with it
   */
  close(reason?: Error): void {
    if (this.#closed) return;
    this.#closed = reason ?? new ClosedByCaller();
    this.#ready = false;
    this.#stopWaiting();
    this.#stopWatching();
    const why = reason === undefined ? CLOSED : `the connection ended (${reason.message.replace(/\.$/, "")})`;
    for (const pending of [...this.#pending.values()]) {
      if (reason === undefined || mayHaveTakenEffect(pending)) this.#giveUp(pending, why, reason);
      else this.#refuse(pending, reason);
    }
    this.#socket?.close(1000);
    this.#options.stateChanged("closed");
  }

  async #attempt(): Promise<void> {
    const { url, token } = await this.#options.locate(this.#refused > 0);
    if (this.#closed) throw this.#closed;
    const socket = await openSocket(url, token);
    if (this.#closed) {
      socket.close(1000);
      throw this.#closed;
    }
    this.#socket = socket;
    this.#refused = 0;
    socket.on("message", (data) => this.#received(String(data)));
    socket.on("ping", () => {
      this.#watch(socket);
      this.#attempts = 0;
    });
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
    if (this.#socket !== socket) throw new Error("the connection was lost again");
    this.#ready = true;
    this.#options.stateChanged("open");
    for (const pending of [...this.#pending.values()]) if (!pending.sent) this.#send(pending);
  }

  #send(pending: Pending): void {
    pending.stopWaiting();
    pending.sent = true;
    pending.left = true;
    this.#socket?.send(pending.text);
  }

  /** Let a request wait for a connection, as long as it may. */
  #await(pending: Pending): void {
    const { clock, awayMs } = this.#options;
    pending.untilMs ??= clock.now() + awayMs;
    const why = `there was no connection for ${Math.round(awayMs / 100) / 10} s`;
    const leftMs = Math.max(0, pending.untilMs - clock.now());
    pending.stopWaiting = clock.after(leftMs, () => this.#giveUp(pending, why));
  }

  #refuse(pending: Pending, reason: Error): void {
    pending.stopWaiting();
    this.#pending.delete(pending.id);
    pending.reject(reason);
  }

  #giveUp(pending: Pending, why: string, cause?: unknown): void {
    this.#refuse(pending, unanswered(pending, pending.left ? "unknown" : "not_sent", why, cause));
  }

  #received(text: string): void {
    const parsed = Message.safeParse(jsonOrNull(text));
    if (!parsed.success) {
      // Not JSON-RPC, so nothing that follows can be trusted either: come back on a new socket.
      this.#socket?.terminate();
      return;
    }
    // A daemon that only lets in, and ends by what it is sent then, must not be asked ever faster.
    if (this.#ready) this.#attempts = 0;
    const { id, method, params, result, error } = parsed.data;
    if (method !== undefined) {
      this.#options.notified(method, params ?? {});
      return;
    }
    const pending = typeof id === "number" ? this.#pending.get(id) : undefined;
    if (!pending) return;
    pending.stopWaiting();
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
      if (pending.resendable && !pending.first) this.#await(pending);
      else this.#giveUp(pending, "the connection was lost");
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
        if (this.#isRefused(error) || !(error instanceof NotesError)) return this.#again();
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
