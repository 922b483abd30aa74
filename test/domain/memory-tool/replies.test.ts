import { expect, test } from "vitest";
import { humanSize } from "../../../src/domain/memory-tool/replies.ts";

test.each([
  [0, "0B"],
  [512, "512B"],
  [1023, "1023B"],
  [1024, "1.0K"],
  [1536, "1.5K"],
  [4096, "4.0K"],
  [5632, "5.5K"],
  [1024 * 1024 - 1, "1.0M"],
  [1_258_291, "1.2M"],
  [3 * 1024 ** 3, "3.0G"],
  [5000 * 1024 ** 4, "5000.0T"],
])("%d bytes are %s", (bytes, text) => {
  expect(humanSize(bytes)).toBe(text);
});
