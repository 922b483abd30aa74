import { expect, test } from "vitest";
import { bootOfMachine } from "../../src/lib/boot.ts";

test("a run of the machine has one name", () => {
  const name = bootOfMachine();
  expect(name).toBe(bootOfMachine());
  if (process.platform === "linux") expect(name).toMatch(/^[0-9a-f-]{36}$/);
});
