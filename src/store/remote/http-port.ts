/** Requests of Git's smart protocol: where they go, who asks, and how long they may take. */
import type { Credentials, Login } from "./credentials.ts";
import { movedTo } from "./moved-to.ts";
import { RemoteFailure } from "./remote.ts";
import { scrub } from "./remote-url.ts";

type Service = "git-upload-pack" | "git-receive-pack";

export interface HttpPort {
  /** What a service says first. @throws RemoteFailure, also while it is read */
  discover(service: Service): Promise<AsyncIterable<Uint8Array>>;
  /** @param mostBytes of the answer @throws RemoteFailure, also while it is read */
  post(service: Service, body: Buffer, mostBytes: number): Promise<AsyncIterable<Uint8Array>>;
}

const NOT_THERE = 404;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];
const MOST_REDIRECTS = 5;
const MOST_ADVERTISED_BYTES = 64 << 20;

export function httpPort(settings: {
  readonly url: string;
  readonly shown: string;
  readonly credentials: Credentials;
  readonly limitMs: number;
  readonly signal?: AbortSignal;
}): HttpPort {
  const { credentials, limitMs, shown } = settings;
  const given = new URL(settings.url);
  given.username = "";
  given.password = "";
  let base = given.href.replace(/\/+$/, "");
  let login: Login | null = null;

  async function once(url: string, init: RequestInit): Promise<Response> {
    const headers = new Headers(init.headers);
    headers.set("user-agent", "git/notesd");
    if (login !== null)
      headers.set(
        "authorization",
        `Basic ${Buffer.from(`${login.username}:${login.password}`).toString("base64")}`,
      );
    try {
      return await fetch(url, {
        ...init,
        headers,
        redirect: "manual",
        signal: AbortSignal.any([
          AbortSignal.timeout(limitMs),
          ...(settings.signal ? [settings.signal] : []),
        ]),
      });
    } catch (error) {
      throw new RemoteFailure("away", `${shown} can't be reached: ${reasonOf(error)}`, error);
    }
  }

  /** Redirects are followed for the first question alone, as Git does it: what was moved is known from then on. */
  async function follow(path: string, init: RequestInit): Promise<Response> {
    let url = `${base}${path}`;
    for (let hops = 0; hops <= MOST_REDIRECTS; hops++) {
      const response = await once(url, init);
      if (!REDIRECTS.includes(response.status)) return response;
      await response.body?.cancel();
      if (init.method === "POST")
        throw new RemoteFailure("broken", `${shown} redirects in the middle of its talk`);
      const next = movedTo(url, response.headers.get("location"), shown);
      // A login is for where it was asked for; there it is asked for again.
      if (new URL(next).origin !== new URL(url).origin) login = null;
      url = next;
      if (url.endsWith(path)) base = url.slice(0, -path.length);
    }
    throw new RemoteFailure("broken", `${shown} redirects more than ${MOST_REDIRECTS} times`);
  }

  /** Once more with a login when the remote asks for one. */
  async function ask(path: string, init: RequestInit): Promise<Response> {
    for (let tries = 0; ; tries++) {
      const response = await follow(path, init);
      if (response.status !== 401) {
        if (response.ok && login !== null) await credentials.worked(login);
        return response;
      }
      await response.body?.cancel();
      if (login !== null) await credentials.failed(login);
      const next: Login | null = tries > 0 ? null : await credentials.ask();
      login = next;
      if (next === null)
        throw new RemoteFailure("denied", `${shown} asks for a login, and there is none that it takes`);
    }
  }

  function refuseFailed(response: Response): void {
    if (response.status === 403) throw new RemoteFailure("denied", `${shown} refuses this login (403)`);
    if (response.status === NOT_THERE)
      throw new RemoteFailure("denied", `${shown} is not there, or not for this login (404)`);
    if (!response.ok)
      throw new RemoteFailure(
        response.status >= 500 || response.status === 429 ? "away" : "broken",
        `${shown} answers ${response.status}`,
      );
  }

  async function* bytesOf(response: Response, mostBytes: number): AsyncGenerator<Uint8Array> {
    let count = 0;
    try {
      for await (const chunk of response.body ?? []) {
        count += chunk.length;
        if (count > mostBytes)
          throw new RemoteFailure("broken", `${shown} sends more than ${mostBytes} bytes at once`);
        yield chunk;
      }
    } catch (error) {
      if (error instanceof RemoteFailure) throw error;
      throw new RemoteFailure(
        "away",
        `${shown} went away in the middle of its answer: ${reasonOf(error)}`,
        error,
      );
    }
  }

  return {
    async discover(service) {
      const path = `/info/refs?service=${service}`;
      const response = await ask(path, {});
      refuseFailed(response);
      // A page of somebody else's would read as a remote that is empty.
      if (!response.headers.get("content-type")?.startsWith(`application/x-${service}-advertisement`))
        throw new RemoteFailure(
          "broken",
          `${shown} is no Git repository, or one of a host without the smart protocol`,
        );
      return bytesOf(response, MOST_ADVERTISED_BYTES);
    },
    async post(service, body, mostBytes) {
      const headers = {
        "content-type": `application/x-${service}-request`,
        accept: `application/x-${service}-result`,
      };
      // A copy in a buffer of its own is what the types ask for.
      const response = await ask(`/${service}`, { method: "POST", headers, body: new Uint8Array(body) });
      refuseFailed(response);
      return bytesOf(response, mostBytes);
    },
  };
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return scrub(cause instanceof Error ? cause.message || cause.name : String(cause));
}
