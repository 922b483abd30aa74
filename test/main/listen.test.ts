import { createServer, type Server } from "node:http";
import { afterEach, expect, test } from "vitest";
import { FIRST_PORT, LAST_PORT, listen } from "../../src/main/listen.ts";

const servers: Server[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
});
const server = () => {
  const made = createServer();
  servers.push(made);
  return made;
};
const nobody = async () => null;

test("nothing asked: a port of the range, and a second one gets the next", async () => {
  const one = await listen(server(), "127.0.0.1", null, nobody);
  const two = await listen(server(), "127.0.0.1", null, nobody);
  expect(one).toBeGreaterThanOrEqual(FIRST_PORT);
  expect(two).toBeGreaterThan(one);
  expect(two).toBeLessThanOrEqual(LAST_PORT);
});

test("a port that was asked for and is taken is exit 10, naming a notesd that holds it", async () => {
  const port = await listen(server(), "127.0.0.1", 0, nobody);
  await expect(listen(server(), "127.0.0.1", port, async () => "/home/pat/notes")).rejects.toMatchObject({
    exit: 10,
    message: expect.stringContaining("/home/pat/notes"),
  });
  await expect(listen(server(), "127.0.0.1", port, nobody)).rejects.toThrow(/another program/);
});

test("an address that is not of this machine is wrong usage", async () => {
  await expect(listen(server(), "192.0.2.1", 0, nobody)).rejects.toMatchObject({ exit: 2 });
});
