/**
 * The typed client: every action as a function, one connection that comes back by itself, and writes that
 * take effect once however often they had to be sent.
 */
import { randomUUID } from "node:crypto";
import { parameterNames } from "../actions/issues.ts";
import { registry } from "../actions/registry.ts";
import { NotesError } from "../domain/errors.ts";
import type { Clock } from "../lib/clock.ts";
import { type Address, addressOf, exchangeGiven } from "./discover.ts";
import { findRepository, repoInConfig } from "./find-repository.ts";
import { Link, type LinkState } from "./link.ts";
import { OpenSubscription, type Subscription, type SubscriptionHandlers } from "./subscription.ts";
import type { Changed, Method, ParamsOf, ResultOf, Spaces, SubscriptionFilter } from "./types.ts";

export { NotesError } from "../domain/errors.ts";
export type { LinkState } from "./link.ts";
export type { Subscription, SubscriptionHandlers } from "./subscription.ts";
export type { Changed, Method, ParamsOf, ResultOf, SubscriptionFilter } from "./types.ts";

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
  readonly onState?: (state: LinkState) => void;
  /** A merge, rebase and so on began or ended: the params of `daemon.state`. */
  readonly onDaemonState?: (state: Readonly<Record<string, unknown>>) => void;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  readonly clock?: Clock;
  readonly random?: () => number;
}

export interface Client extends Spaces {
  /** Call a method by name. @throws NotesError as the action's errors say */
  call<M extends Method>(method: M, params?: ParamsOf<M>): Promise<ResultOf<M>>;
  /** Call whatever method, unchecked by types. */
  callAny(method: string, params: Readonly<Record<string, unknown>>): Promise<unknown>;
  /** Changes of notes that pass the filter, each once, across reconnects. */
  subscribe(
    filter: SubscriptionFilter,
    handlers: SubscriptionHandlers | ((change: Changed) => void),
  ): Promise<Subscription>;
  close(): void;
}

type Params = Readonly<Record<string, unknown>>;

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
  const { clock = wakingClock, random = Math.random, waitMs = 60_000 } = options;
  const subscriptions = new Set<OpenSubscription>();
  let session: Readonly<Record<string, unknown>> | null = null;

  const link = new Link({
    locate: await locator(options),
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
      if (!again) return;
      if (session) await request("session.set", session, true);
      for (const one of subscriptions) await reopen(one);
    },
  });

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
      if (!(error instanceof NotesError) || error.data["lost"] === true) throw error;
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
      if (one.id !== null) await request("notes.unsubscribe", { subscription_id: one.id });
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

const RUN_WRITES: ReadonlySet<unknown> = new Set(["create", "update", "delete"]);

/** Whether a call is a write that a key makes repeatable; notes.run is seven actions under one name. */
function takesKey(method: string, params: Params): boolean {
  if (method === "notes.run") return RUN_WRITES.has(params["action"]);
  const action = registry.get(method);
  return action !== undefined && parameterNames(action.input).includes("idempotency_key");
}

/** A write gets a key of its own unless it has one, so that it may be sent again. */
function withKey(method: string, params: Params): Params {
  if (params["idempotency_key"] !== undefined || !takesKey(method, params)) return params;
  return { ...params, idempotency_key: randomUUID() };
}

// Settling edits twice is settling them once; a session set twice is the same one.
const SAME_TWICE: ReadonlySet<string> = new Set(["session.set", "notes.commit"]);

function isResendable(method: string, params: Params): boolean {
  if (params["idempotency_key"] !== undefined || SAME_TWICE.has(method)) return true;
  return method === "notes.run" ? !takesKey(method, params) : registry.get(method)?.effects === "read";
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
