/** One WebSocket to a daemon, opened or refused with why. */
import { WebSocket } from "ws";
import { NotesError } from "../domain/errors.ts";

/** @throws NotesError UNAUTHENTICATED, FORBIDDEN; Error when nobody listens */
export function openSocket(url: string, token: string): Promise<WebSocket> {
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
