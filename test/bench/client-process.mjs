/**
 * The clients of a bench, in a process of their own so that the daemon has a core to itself. Told over its channel:
 * `open` sockets, each as one of several agents, then `run` an operation on some of them in a closed loop.
 */
import { openSocket } from "./daemon.mjs";
import { OPERATIONS } from "./operations.mjs";
import { randomFrom } from "./seed/random.mjs";

/** @type {Awaited<ReturnType<typeof openSocket>>[]} */
let sockets = [];
let means = { random: randomFrom(1), ids: [] };

const commands = {
  async open({ url, tokens, count, seed }) {
    sockets = await Promise.all(
      Array.from({ length: count }, (_, i) => openSocket({ url, token: tokens[i % tokens.length] })),
    );
    means = { random: randomFrom(seed), ids: await someIds(sockets[0]) };
    return means.ids.length;
  },

  /** @returns {Promise<{ ms: number, latencies: number[], refused: number }>} */
  async run({ operation, writers, ms, most = Number.POSITIVE_INFINITY, patient = false }) {
    const latencies = [];
    let refused = 0;
    let asked = 0;
    const began = performance.now();
    const client = async (socket) => {
      while (performance.now() - began < ms && asked < most) {
        asked++;
        const [method, params] = OPERATIONS[operation](means);
        const from = performance.now();
        for (;;) {
          try {
            await socket.call(method, params);
            break;
          } catch (error) {
            const pauseMs = error.data?.retry_after_ms;
            if (!patient || pauseMs === undefined) throw error;
            refused++;
            await new Promise((resolve) => setTimeout(resolve, pauseMs));
          }
        }
        latencies.push(performance.now() - from);
      }
    };
    await Promise.all(sockets.slice(0, writers).map(client));
    return { ms: performance.now() - began, latencies, refused };
  },

  async ids() {
    means.ids = await someIds(sockets[0]);
    return means.ids.length;
  },

  async close() {
    for (const socket of sockets) socket.close();
  },
};

/** Of notes all over the repository, as many as two pages hold. */
async function someIds(socket) {
  const { notes, next_cursor: cursor } = await socket.call("notes.list", { limit: 1000 });
  const more = cursor ? (await socket.call("notes.list", { limit: 1000, cursor })).notes : [];
  return [...notes, ...more].map(({ note_id }) => note_id);
}

process.on("message", async ({ id, command, given }) => {
  try {
    process.send?.({ id, value: await commands[command](given) });
  } catch (error) {
    process.send?.({ id, error: String(error?.stack ?? error) });
  }
});
// Without the bench there is nobody to answer.
process.on("disconnect", () => process.exit());
