/** Requests of Git's smart protocol: where they go, who asks, and how long they may take. */
import type { Credentials, Login } from "./credentials.ts";
import { RemoteFailure } from "./remote.ts";
import { scrub } from "./remote-url.ts";

type Service = "git-upload-pack" | "git-receive-pack";

export interface HttpPort {
  /** @throws RemoteFailure */
  discover(service: Service): Promise<Buffer>;
  post(service: Service, body: Buffer): Promise<Buffer>;
}

const OLD_SERVER = 404;

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

  async function once(path: string, init: RequestInit): Promise<Response> {
    const headers = new Headers(init.headers);
    headers.set("user-agent", "git/notesd");
    if (login !== null)
      headers.set(
        "authorization",
        `Basic ${Buffer.from(`${login.username}:${login.password}`).toString("base64")}`,
      );
    try {
      return await fetch(`${base}${path}`, {
        ...init,
        headers,
        signal: AbortSignal.any([
          AbortSignal.timeout(limitMs),
          ...(settings.signal ? [settings.signal] : []),
        ]),
      });
    } catch (error) {
      throw new RemoteFailure("away", `${shown} can't be reached: ${reasonOf(error)}`, error);
    }
  }

  /** Once more with a login when the remote asks for one. */
  async function ask(path: string, init: RequestInit): Promise<Response> {
    for (let tries = 0; ; tries++) {
      const response = await once(path, init);
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

  async function bytesOf(response: Response): Promise<Buffer> {
    if (response.status === 403) throw new RemoteFailure("denied", `${shown} refuses this login (403)`);
    if (response.status === OLD_SERVER)
      throw new RemoteFailure("denied", `${shown} is not there, or not for this login (404)`);
    if (!response.ok)
      throw new RemoteFailure(
        response.status >= 500 || response.status === 429 ? "away" : "broken",
        `${shown} answers ${response.status}`,
      );
    try {
      return Buffer.from(await response.arrayBuffer());
    } catch (error) {
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
      // A host that moved the repository says so here; what follows goes there, but no login to another host.
      if (response.redirected && new URL(response.url).host !== given.host)
        throw new RemoteFailure("broken", `${shown} has moved to ${scrub(response.url)}; set that URL`);
      if (response.redirected && response.url.endsWith(path)) base = response.url.slice(0, -path.length);
      const bytes = await bytesOf(response);
      // A page of somebody else's would read as a remote that is empty.
      if (!response.headers.get("content-type")?.startsWith(`application/x-${service}-advertisement`))
        throw new RemoteFailure(
          "broken",
          `${shown} is no Git repository, or one of a host without the smart protocol`,
        );
      return bytes;
    },
    async post(service, body) {
      const headers = {
        "content-type": `application/x-${service}-request`,
        accept: `application/x-${service}-result`,
      };
      // A copy in a buffer of its own is what the types ask for.
      return bytesOf(await ask(`/${service}`, { method: "POST", headers, body: new Uint8Array(body) }));
    },
  };
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return scrub(cause instanceof Error ? cause.message || cause.name : String(cause));
}
