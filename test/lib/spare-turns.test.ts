import { expect, test } from "vitest";
import { spareTurns } from "../../src/lib/spare-turns.ts";
import { madeLoop } from "../support/made-loop.ts";

function worker(steps: number, share = 1 / 10) {
  const made = madeLoop();
  const work = { left: steps, hurried: false, share };
  const step = () => {
    made.pass(2);
    work.left--;
    return work.left > 0;
  };
  const turns = spareTurns({ step, isHurried: () => work.hurried, share: () => work.share }, made.loop);
  return { ...made, work, turns };
}

test("while the loop does nothing else, one step follows the other", () => {
  const { turns, turn, work, waiting } = worker(5);
  turns.wake();
  for (let n = 0; n < 5; n++) turn();
  expect(work.left).toBe(0);
  expect(waiting()).toEqual([]);
});

test("beside others a step is followed by a rest, as long as leaves it its share of the time", () => {
  const { turns, turn, work, waiting } = worker(5);
  turns.wake();
  turn(1);
  expect(work.left).toBe(4);
  turn(1);
  expect(work.left).toBe(4);
  expect(waiting()).toEqual([18]);
  turn(17);
  expect(work.left).toBe(4);
  turn(1);
  expect(work.left).toBe(3);
});

test("the rest is shorter for who may take more of the time", () => {
  const { turns, turn, waiting } = worker(5, 1 / 2);
  turns.wake();
  turn(1);
  turn(1);
  expect(waiting()).toEqual([2]);
});

test("who waits ends a rest, and none is taken until he is served", () => {
  const { turns, turn, work, waiting } = worker(9);
  turns.wake();
  turn(1);
  turn(1);
  expect(waiting()).toEqual([18]);
  work.hurried = true;
  turns.hurry();
  expect(waiting()).toEqual([0]);
  for (let n = 0; n < 8; n++) turn(1);
  expect(work.left).toBe(0);
});

test("however often it is woken, one step is under way", () => {
  const { turns, turn, work, waiting } = worker(9);
  for (let n = 0; n < 5; n++) turns.wake();
  turn(1);
  turns.wake();
  turns.hurry();
  turns.hurry();
  expect(work.left).toBe(8);
  expect(waiting()).toEqual([0]);
});

test("work that was done, or failed, is begun again when it is woken", () => {
  const { loop, turn, waiting } = madeLoop();
  let told = 0;
  const step = () => {
    told++;
    if (told === 1) throw new Error("no room");
    return false;
  };
  const turns = spareTurns({ step, isHurried: () => false, share: () => 1 }, loop);
  turns.wake();
  expect(() => turn()).toThrow("no room");
  turns.wake();
  turn();
  turns.wake();
  turn();
  expect(told).toBe(3);
  expect(waiting()).toEqual([]);
});
