/**
 * One connection from frame to reply: who it is, the order of its requests, its subscriptions, and what
 * happens when its client stops reading. Knows nothing of sockets; `Wire` is what it asks of one.
 * Invariant: what waits for a slow client is bounded. Requests are not read, events stay in the log.
 */
import type { Connection, Daemon } from "../actions/action.ts";
import type { CallContext } from "../actions/invoke.ts";
import { effectsOf } from "../actions/rights.ts";
import { NotesError } from "../domain/errors.ts";
import type { NoteFilter } from "../domain/filters.ts";
import type { Principal } from "../domain/principal.ts";
import type { Clock } from "../lib/clock.ts";
import { type Frame, type Member, notification, parseFrame } from "../lib/jsonrpc.ts";
import { errorFields } from "../lib/log.ts";
import type { Notebook, Subscription } from "../notebook/notebook.ts";
import { type AnswerOptions, answer, answerFrame } from "./answer.ts";
import { InOrder, type Turn } from "./in-order.ts";

/** What a session asks of its socket. */
export interface Wire {
  /** Bytes handed over and not yet taken by the network. */
  readonly bufferedBytes: number;
  /** `sent` is called when the network took it, or never will. */
  send(text: string, sent: () => void): void;
  /** Read no more frames until told. */
  pause(): void;
  resume(): void;
  close(code: number, reason: string): void;
}

export interface SessionOptions extends AnswerOptions {
  readonly notebook: Notebook;
  readonly daemon: Daemon;
  readonly clock: Clock;
}

/** Bytes unsent at which a client counts as slow, and at which it counts as caught up. */
const SLOW_BYTES = 1 << 20;
const CAUGHT_UP_BYTES = 1 << 18;
/** A client that takes nothing for this long is closed; it resumes from its cursor. */
const STALLED_MS = 60_000;
const MOST_WAITING = 256;
const MOST_WAITING_BYTES = 4 << 20;
const MOST_SUBSCRIPTIONS = 64;

const TURNS = { read: "read", write: "write", destructive: "write", session: "alone" } as const;

export class Session {
  readonly #wire: Wire;
  readonly #principal: Principal;
  readonly #stillValid: () => boolean;
  readonly #options: SessionOptions;
  readonly #order: InOrder;
  readonly #subscriptions = new Map<string, Subscription>();
  readonly #connection: Connection;
  #session: string | null = null;
  #task: string | null = null;
  #count = 0;
  #waitingBytes = 0;
  #paused = false;
  #slow = false;
  #ended = false;
  #draining = false;
  #cancelStall = () => {};
  /** Notifications wait here while a batch that subscribes has not been answered. */
  #heldBack: string[] = [];
  #holding = 0;

  constructor(wire: Wire, principal: Principal, stillValid: () => boolean, options: SessionOptions) {
    this.#wire = wire;
    this.#principal = principal;
    this.#stillValid = stillValid;
    this.#options = options;
    this.#order = new InOrder({ mostReads: 8, mostWrites: 256, onLess: () => this.#mayRead() });
    this.#connection = {
      setSession: (session, task) => {
        this.#session = session;
        this.#task = task;
      },
      subscribe: (filter, since) => this.#subscribe(filter, since),
      unsubscribe: (id) => this.#unsubscribe(id),
    };
  }

  /** Take one text frame. */
  receive(text: string): void {
    if (this.#ended || this.#draining || !this.#admitted()) return;
    const frame = parseFrame(text);
    const subscribes = frame.batch && frame.members.some(isSubscribe);
    if (subscribes) this.#holding++;
    this.#waitingBytes += text.length;
    const replied = answerFrame(frame, (member) => this.#one(member));
    const done = (reply: string | null) => {
      this.#waitingBytes -= text.length;
      if (reply !== null) this.#send(reply);
      if (subscribes) this.#letGo();
      this.#mayRead();
    };
    replied.then(done).catch((error) => this.#broken("a frame could not be answered", error));
    if (this.#order.size >= MOST_WAITING || this.#waitingBytes >= MOST_WAITING_BYTES) this.#pause();
  }

  /** The socket is gone: nothing more is sent. Writes that were taken are still carried out. */
  end(): void {
    this.#ended = true;
    this.#cancelStall();
    this.#order.dropReads();
    for (const subscription of this.#subscriptions.values()) subscription.unsubscribe();
    this.#subscriptions.clear();
  }

  /** Resolves when every request that was taken is answered, however slow the client; takes no more. */
  drained(): Promise<void> {
    this.#draining = true;
    this.#order.release();
    return this.#order.whenIdle();
  }

  /** Tell of the repository's state, if this connection asked to be told of anything. */
  stateChanged(state: Readonly<Record<string, unknown>>): void {
    if (this.#subscriptions.size > 0) this.#notify(notification("daemon.state", state));
  }

  /** Whether frames are being left unread; such a client can't be seen to answer pings. */
  get paused(): boolean {
    return this.#paused;
  }

  /** Close the socket if its token is nobody's any more. */
  endIfRevoked(): void {
    if (!this.#ended && !this.#draining) this.#admitted();
  }

  #admitted(): boolean {
    try {
      if (this.#stillValid()) return true;
      this.#wire.close(1008, "this token was revoked");
    } catch (error) {
      this.#broken("a token could not be looked up", error);
    }
    return false;
  }

  /** Trigger: what should never throw did. Outcome: this socket ends and the daemon lives on. */
  #broken(what: string, error: unknown): void {
    this.#options.log.error(what, errorFields(error));
    this.#wire.close(1011, "something went wrong here; the log has it");
  }

  async #one(member: Member): Promise<string | null> {
    if (member.kind === "invalid") return answer(member, this.#context(), this.#options);
    return this.#order.run(this.#turnOf(member.method, member.params), (entered) =>
      answer(member, this.#context(entered), this.#options),
    );
  }

  #turnOf(method: string, params: unknown): Turn {
    const action = this.#options.registry.get(method);
    if (action === undefined) return "read";
    const turn = TURNS[effectsOf(action, params)];
    return action.alone && turn === "write" ? "alone" : turn;
  }

  #context(entered: () => void = () => {}): CallContext {
    const { notebook, daemon } = this.#options;
    const caller = { principal: this.#principal, session: this.#session, task: this.#task };
    return { notebook, daemon, caller, connection: this.#connection, entered };
  }

  async #subscribe(filter: NoteFilter, since: string | null) {
    if (this.#subscriptions.size >= MOST_SUBSCRIPTIONS) {
      throw new NotesError(
        "OVERLOADED",
        `A connection has at most ${MOST_SUBSCRIPTIONS} subscriptions; end one first.`,
        {
          retry_after_ms: 0,
        },
      );
    }
    const id = String(++this.#count);
    const subscription = await this.#options.notebook.subscribe(
      {
        changed: (change) => this.#notify(notification("notes.changed", { subscription_id: id, ...change })),
        lagged: (cursor) => this.#notify(notification("notes.lagged", { subscription_id: id, cursor })),
        failed: (error, cursor) => {
          this.#options.log.warn("a subscription can't go on", {
            cursor,
            error: error.message.slice(0, 200),
          });
          this.#wire.close(1013, "resume from your last cursor");
        },
      },
      filter,
      since,
      this.#context().caller,
    );
    if (this.#ended) subscription.unsubscribe();
    else this.#subscriptions.set(id, subscription);
    if (this.#slow) subscription.pause();
    return { subscription_id: id, cursor: subscription.cursor };
  }

  #unsubscribe(id: string): void {
    const subscription = this.#subscriptions.get(id);
    if (subscription === undefined) {
      throw new NotesError(
        "NOT_FOUND",
        "This connection has no such subscription; they end with their socket.",
      );
    }
    subscription.unsubscribe();
    this.#subscriptions.delete(id);
  }

  #notify(text: string): void {
    if (this.#holding === 0) this.#send(text);
    else this.#heldBack.push(text);
    // The batch that is waited for is finite, but events in the meantime need not be.
    if (this.#heldBack.length > 1000)
      for (const subscription of this.#subscriptions.values()) subscription.pause();
  }

  #letGo(): void {
    if (--this.#holding > 0) return;
    const wasFull = this.#heldBack.length > 1000;
    for (const text of this.#heldBack.splice(0)) this.#send(text);
    if (wasFull && !this.#slow)
      for (const subscription of this.#subscriptions.values()) subscription.resume();
  }

  #send(text: string): void {
    if (this.#ended) return;
    this.#wire.send(text, () => this.#sent());
    if (this.#slow || this.#draining || this.#wire.bufferedBytes <= SLOW_BYTES) return;
    this.#slow = true;
    this.#order.hold();
    this.#pause();
    for (const subscription of this.#subscriptions.values()) subscription.pause();
    this.#watchStall(this.#wire.bufferedBytes);
  }

  #sent(): void {
    if (!this.#slow || this.#ended || this.#wire.bufferedBytes > CAUGHT_UP_BYTES) return;
    this.#slow = false;
    this.#cancelStall();
    this.#order.release();
    // Each may send enough to make the client slow again, which pauses all of them.
    for (const subscription of this.#subscriptions.values()) if (!this.#slow) subscription.resume();
    this.#mayRead();
  }

  #watchStall(bytesBefore: number): void {
    this.#cancelStall = this.#options.clock.after(STALLED_MS, () => {
      if (this.#ended || !this.#slow) return;
      const bytes = this.#wire.bufferedBytes;
      if (bytes < bytesBefore) this.#watchStall(bytes);
      else this.#wire.close(1013, "you fell behind; resume from your last cursor");
    });
  }

  #pause(): void {
    if (this.#paused) return;
    this.#paused = true;
    this.#wire.pause();
  }

  #mayRead(): void {
    const full = this.#order.size >= MOST_WAITING / 2 || this.#waitingBytes >= MOST_WAITING_BYTES / 2;
    if (!this.#paused || this.#slow || full || this.#ended) return;
    this.#paused = false;
    this.#wire.resume();
  }
}

const isSubscribe = (member: Frame["members"][number]) =>
  member.kind !== "invalid" && member.method === "notes.subscribe";
