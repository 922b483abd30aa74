import { expect, test } from "vitest";
import { createBus } from "../../src/lib/bus.ts";

const quiet = () => {};

test("every listener hears every value in order", () => {
  const bus = createBus<number>("numbers", quiet);
  const heard: string[] = [];
  bus.subscribe((n) => heard.push(`a${n}`));
  bus.subscribe((n) => heard.push(`b${n}`));
  bus.publish(1);
  bus.publish(2);
  expect(heard).toEqual(["a1", "b1", "a2", "b2"]);
});

test("a listener that throws is logged and hinders nobody", () => {
  const log: unknown[] = [];
  const heard: number[] = [];
  const bus = createBus<number>("numbers", (message, fields) => log.push({ message, ...fields }));
  bus.subscribe(() => {
    throw new Error("broken");
  });
  bus.subscribe((n) => heard.push(n));
  bus.publish(7);
  expect(heard).toEqual([7]);
  expect(log).toEqual([
    expect.objectContaining({ trigger: "publish of numbers", why: expect.stringContaining("broken") }),
  ]);
});

test("a value published by a listener comes after the one being delivered, for everyone", () => {
  const bus = createBus<number>("numbers", quiet);
  const heard: number[] = [];
  bus.subscribe((n) => {
    if (n === 1) bus.publish(2);
  });
  bus.subscribe((n) => heard.push(n));
  bus.publish(1);
  expect(heard).toEqual([1, 2]);
});

test("nothing is heard after the end, also when another listener ended it", () => {
  const bus = createBus<number>("numbers", quiet);
  const heard: number[] = [];
  let end = () => {};
  bus.subscribe(() => end());
  end = bus.subscribe((n) => heard.push(n));
  bus.publish(1);
  end();
  expect(heard).toEqual([]);
});
