/** A wire that can be made to lose what the daemon says: a TCP proxy at an address that stays while daemons change. */
import { connect, createServer, type Socket } from "node:net";

export interface LossyProxy {
  readonly port: number;
  /** Where connections are led to from now on. */
  to(port: number): void;
  /** From now on nothing that the daemon says arrives; resolves at the first bytes of it. */
  lose(): Promise<void>;
  /** Bytes that were lost since `lose`. */
  readonly lostBytes: number;
  /** End every connection, as a pulled cable does; new ones are let through whole. */
  drop(): void;
  close(): Promise<void>;
}

export async function lossyProxy(): Promise<LossyProxy> {
  const sockets = new Set<Socket>();
  let [target, losing, lostBytes] = [0, false, 0];
  let heard = () => {};
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.once("close", () => sockets.delete(socket));
  };
  const server = createServer((near) => {
    const far = connect(target, "127.0.0.1");
    keep(near);
    keep(far);
    near.on("data", (bytes) => far.write(bytes));
    far.on("data", (bytes) => {
      if (!losing) return void near.write(bytes);
      lostBytes += bytes.length;
      heard();
    });
    near.once("close", () => far.destroy());
    far.once("close", () => near.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return {
    port: typeof address === "object" && address ? address.port : 0,
    to(port) {
      target = port;
    },
    lose() {
      [losing, lostBytes] = [true, 0];
      return new Promise((resolve) => {
        heard = resolve;
      });
    },
    get lostBytes() {
      return lostBytes;
    },
    drop() {
      for (const socket of sockets) socket.destroy();
      losing = false;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
