/**
 * The typed client: every action as a function, one connection that comes back by itself, and writes that
 * take effect once however often they had to be sent.
 */
import { registry } from "../actions/registry.ts";
import { NotesError } from "../domain/errors.ts";
import { ProcessError } from "../domain/process-error.ts";
import type { Clock } from "../lib/clock.ts";
import { type Address, addressOf, exchangeGiven } from "./discover.ts";
import { findRepository, repoInConfig } from "./find-repository.ts";
import { isResendable, type Params, withKey } from "./keys.ts";
import { Link, type LinkState } from "./link.ts";
import { OpenSubscription, type Subscription, type SubscriptionHandlers } from "./subscription.ts";
import type { Changed, Method, ParamsOf, ResultOf, Spaces, SubscriptionFilter } from "./types.ts";
import { UnansweredError } from "./unanswered.ts";

export { NotesError } from "../domain/errors.ts";
export type { LinkState } from "./link.ts";
export type { Subscription, SubscriptionHandlers } from "./subscription.ts";
export type { Changed, Method, ParamsOf, ResultOf, SubscriptionFilter } from "./types.ts";
export { UnansweredError } from "./unanswered.ts";

export interface ConnectOptions {
  /** The agent to be; made on first use. Absent (and no NOTESD_AGENT): the person who owns the repository. */
  readonly agent?: string;
  /** `http://HOST:PORT`; with `token` instead of discovery. Default NOTESD_URL. */
  readonly url?: string;
  /** Default NOTESD_TOKEN. An agent's token is used as it is, a person's is exchanged for the agent's. */
  readonly token?: string;
  /** The repository whose daemon to ask. Default NOTESD_REPO, `repo` of ./notes.config.json, or around here. */
  readonly repo?: string;
  /** How long a call waits out REPO_BUSY and OVERLOADED before it throws them, in ms. Default 60,000. */
  readonly waitMs?: number;
  /**
   * How long a call waits for a connection when the daemon is away, in ms: it was killed, it restarts, the network
   * is gone. Meanwhile the address is looked up anew before each attempt, after pauses of up to 10 s, and a call
   * that was under way is sent again with its key. Then UnansweredError. Default 60,000.
   */
  readonly awayMs?: number;
  /**
   * Called when a call waits and the repository's daemon is gone, at most once for each loss: start one here. What
   * it throws ends the client. Not with `url`.
   */
  readonly revive?: () => Promise<void>;
  readonly onState?: (state: LinkState) => void;
  /** A merge, rebase and so on began or ended: the params of `daemon.state`. */
  readonly onDaemonState?: (state: Readonly<Record<string, unknown>>) => void;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  readonly clock?: Clock;
  readonly random?: () => number;
}

export interface Client extends Spaces {
  /**
   * Call a method by name. A write takes effect once, however often it had to be sent: without an `idempotency_key`
   * it gets a random one. What is neither a read nor such a write is sent once and never again.
   * @throws NotesError as the action's errors say; UnansweredError when no answer came: `outcome`, `idempotencyKey`
   */
  call<M extends Method>(method: M, params?: ParamsOf<M>): Promise<ResultOf<M>>;
  /** Call whatever method, unchecked by types. */
  callAny(method: string, params: Readonly<Record<string, unknown>>): Promise<unknown>;
  /** Changes of notes that pass the filter, each once, across reconnects. */
  subscribe(
    filter: SubscriptionFilter,
    handlers: SubscriptionHandlers | ((change: Changed) => void),
  ): Promise<Subscription>;
  /** Close for good. Calls without an answer are rejected with UnansweredError, which says what is known of them. */
  close(): void;
}

const FALLBACK_RETRY_MS = 250;

/** Its timers keep the process alive, for someone awaits what comes after them. */
const wakingClock: Clock = {
  now: () => Date.now(),
  after(ms, fn) {
    const timer = setTimeout(fn, ms);
    return () => clearTimeout(timer);
  },
};

/**
 * Connect to a daemon and be an agent of it.
 * @throws ProcessError USAGE no repository, NO_DAEMON; NotesError UNAUTHENTICATED, FORBIDDEN
 */
export async function connect(options: ConnectOptions = {}): Promise<Client> {
  const { clock = wakingClock, random = Math.random, waitMs = 60_000, awayMs = 60_000 } = options;
  const subscriptions = new Set<OpenSubscription>();
  let session: Readonly<Record<string, unknown>> | null = null;
  const find = await locator(options);
  /** Whether `revive` may be asked: there was a daemon, and it was not asked since. */
  let mayRevive = false;

  const link = new Link({
    locate: (fresh) => find(fresh).catch((error) => revived(error, fresh)),
    awayMs,
    clock,
    random,
    stateChanged: (state) => options.onState?.(state),
    notified(method, params) {
      if (method === "daemon.state") return options.onDaemonState?.(params);
      if (method !== "notes.changed") return;
      for (const one of subscriptions) {
        // The daemon's own shape: its notification is made from this very type.
        if (one.id === params["subscription_id"]) one.deliver(params as unknown as Changed);
      }
    },
    async opened(again) {
      mayRevive = options.revive !== undefined;
      if (!again) return;
      if (session) await request("session.set", session, true);
      for (const one of subscriptions) await reopen(one);
    },
  });

  async function revived(error: unknown, fresh: boolean): Promise<Address> {
    const gone = error instanceof ProcessError && error.code === "NO_DAEMON";
    if (!gone || !mayRevive || link.waiting === 0) throw error;
    mayRevive = false;
    try {
      await options.revive?.();
    } catch (refusal) {
      link.close(refusal instanceof Error ? refusal : new Error(String(refusal)));
      throw refusal;
    }
    return find(fresh);
  }

  const request = (
    method: string,
    params: Readonly<Record<string, unknown>>,
    first = false,
    settled?: (result: unknown) => void,
  ) =>
    link.request({
      method,
      params,
      first,
      resendable: isResendable(method, params),
      ...(settled ? { settled } : {}),
    });
  const subscribeRequest =
    (first: boolean) => (params: Record<string, unknown>, settled: (result: unknown) => void) =>
      request("notes.subscribe", params, first, settled);

  async function reopen(one: OpenSubscription): Promise<void> {
    try {
      await one.open(subscribeRequest(true), true);
    } catch (error) {
      if (!(error instanceof NotesError)) throw error;
      subscriptions.delete(one);
      one.end(error);
    }
  }

  async function callAny(method: string, given: Params = {}): Promise<unknown> {
    const params = withKey(method, given);
    const startedMs = clock.now();
    for (;;) {
      try {
        const result = await request(method, params);
        if (method === "session.set") session = params;
        return result;
      } catch (error) {
        const delayMs = retryDelay(error, random);
        if (delayMs === null || clock.now() - startedMs + delayMs > waitMs) throw error;
        await new Promise<void>((resolve) => clock.after(delayMs, resolve));
      }
    }
  }

  async function subscribe(
    { since, ...filter }: SubscriptionFilter,
    handlers: SubscriptionHandlers | ((change: Changed) => void),
  ): Promise<Subscription> {
    const own = typeof handlers === "function" ? { changed: handlers } : handlers;
    const one = new OpenSubscription(filter, since ?? null, own);
    one.close = async () => {
      subscriptions.delete(one);
      if (one.id === null || !link.isOpen) return;
      try {
        await request("notes.unsubscribe", { subscription_id: one.id });
      } catch (error) {
        // Its connection is gone, and the subscription with it.
        if (!(error instanceof UnansweredError)) throw error;
      }
    };
    subscriptions.add(one);
    try {
      await one.open(subscribeRequest(false), false);
    } catch (error) {
      subscriptions.delete(one);
      throw error;
    }
    return one;
  }

  await link.open();
  const own = { call: callAny, callAny, subscribe, close: () => link.close() };
  // The mapped types describe exactly these functions, made from the same registry.
  return Object.assign(spaces(callAny), own) as unknown as Client;
}

/** How to find the daemon: the address given, else through its repository, anew for each attempt. */
async function locator(options: ConnectOptions): Promise<(fresh: boolean) => Promise<Address>> {
  const { env = process.env, cwd = process.cwd() } = options;
  const agent = options.agent ?? env["NOTESD_AGENT"] ?? null;
  const url = options.url ?? env["NOTESD_URL"];
  const token = options.token ?? env["NOTESD_TOKEN"];
  if (url !== undefined && url !== "") {
    if (!token) {
      throw new NotesError("UNAUTHENTICATED", "A url needs a token: pass token, or set NOTESD_TOKEN.");
    }
    const given = { url: url.replace(/^ws/, "http"), token };
    let made: string | null = null;
    return async (fresh) => {
      if (agent === null) return given;
      if (made === null || fresh) made = await exchangeGiven(given, agent);
      return { url: given.url, token: made };
    };
  }
  const named = options.repo ?? env["NOTESD_REPO"] ?? (await repoInConfig(cwd));
  const place = await findRepository(named === "" ? null : named, cwd);
  return async (fresh) => {
    const address = await addressOf(place, token ? null : agent, fresh);
    if (!token) return address;
    return {
      url: address.url,
      token: agent === null ? token : await exchangeGiven({ url: address.url, token }, agent),
    };
  };
}

/** How long to wait before the same request may succeed; null: it won't. */
function retryDelay(error: unknown, random: () => number): number | null {
  if (!(error instanceof NotesError) || (error.code !== "REPO_BUSY" && error.code !== "OVERLOADED"))
    return null;
  const told = error.data["retry_after_ms"];
  const leastMs = typeof told === "number" && told >= 0 ? told : FALLBACK_RETRY_MS;
  return leastMs + random() * leastMs * 0.25;
}

function spaces(
  call: (method: string, params: Readonly<Record<string, unknown>>) => Promise<unknown>,
): Record<string, unknown> {
  const made: Record<string, Record<string, unknown>> = {};
  for (const method of registry.keys()) {
    const [space = "", name = ""] = method.split(".");
    made[space] = { ...made[space], [name]: (params = {}) => call(method, params) };
  }
  return made;
}
