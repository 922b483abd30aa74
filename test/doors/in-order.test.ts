import { expect, test } from "vitest";
import { InOrder, type Turn } from "../../src/doors/in-order.ts";

const turnOfLoop = () => new Promise((resolve) => setImmediate(resolve));

/** Tasks that end when told, and a record of what started and ended. */
function bench(mostReads = 8) {
  const order = new InOrder({ mostReads, mostWrites: 8 });
  const seen: string[] = [];
  const ends = new Map<string, { end: () => void; enter: () => void }>();
  const run = (turn: Turn, name: string) =>
    order.run(turn, (entered) => {
      seen.push(`+${name}`);
      return new Promise<void>((resolve) =>
        ends.set(name, {
          enter: entered,
          end: () => {
            seen.push(`-${name}`);
            resolve();
          },
        }),
      );
    });
  const tell = async (name: string, what: "end" | "enter") => {
    ends.get(name)?.[what]();
    await turnOfLoop();
  };
  return {
    order,
    seen,
    run,
    end: (name: string) => tell(name, "end"),
    enter: (name: string) => tell(name, "enter"),
  };
}

test("a read waits for earlier writes, and a later write for the read", async () => {
  const { seen, run, end, enter } = bench();
  for (const [turn, name] of [
    ["write", "w1"],
    ["write", "w2"],
    ["read", "r"],
    ["write", "w3"],
  ] as const)
    void run(turn, name);
  expect(seen).toEqual(["+w1"]);
  await enter("w1");
  expect(seen).toEqual(["+w1", "+w2"]);
  await end("w1");
  await enter("w2");
  expect(seen).not.toContain("+r");
  await end("w2");
  expect(seen.at(-1)).toBe("+r");
  await end("r");
  expect(seen.at(-1)).toBe("+w3");
});

test("a write that ends without entering lets the next one start", async () => {
  const { seen, run, end, enter } = bench();
  void run("write", "w1");
  void run("write", "w2");
  void run("write", "w3");
  await enter("w1");
  await end("w2");
  expect(seen).toEqual(["+w1", "+w2", "-w2", "+w3"]);
  await end("w1");
  await end("w3");
});

test("reads run together up to their bound, and alone means alone", async () => {
  const { seen, run, end } = bench(2);
  for (const name of ["a", "b", "c"]) void run("read", name);
  void run("alone", "x");
  void run("read", "d");
  expect(seen).toEqual(["+a", "+b"]);
  await end("a");
  expect(seen.at(-1)).toBe("+c");
  await end("b");
  await end("c");
  expect(seen.at(-1)).toBe("+x");
  await end("x");
  expect(seen.at(-1)).toBe("+d");
});

test("nothing starts while held, and idle is told when all is done", async () => {
  const { order, seen, run, end } = bench();
  order.hold();
  void run("read", "a");
  expect(seen).toEqual([]);
  order.release();
  expect(seen).toEqual(["+a"]);
  const idle = order.whenIdle();
  await end("a");
  await idle;
  expect(order.size).toBe(0);
});

test("a task that throws rejects its own promise and no other", async () => {
  const order = new InOrder({ mostReads: 1, mostWrites: 1 });
  const failed = order.run("write", async () => {
    throw new Error("no");
  });
  const next = order.run("read", async () => "yes");
  await expect(failed).rejects.toThrow("no");
  expect(await next).toBe("yes");
});
