import { expect, test } from "vitest";
import { inTurn } from "../../src/lib/in-turn.ts";

test("calls never overlap and keep their order, also after one that rejects", async () => {
  const seen: string[] = [];
  const turn = inTurn(async (name: string) => {
    seen.push(`${name} starts`);
    await new Promise((resolve) => setImmediate(resolve));
    seen.push(`${name} ends`);
    if (name === "a") throw new Error("a failed");
    return name;
  });
  const [a, b] = await Promise.allSettled([turn("a"), turn("b")]);
  expect(seen).toEqual(["a starts", "a ends", "b starts", "b ends"]);
  expect([a.status, b.status]).toEqual(["rejected", "fulfilled"]);
});
