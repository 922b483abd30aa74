/** As `walks.test.ts`, longer and more of them. */
import { test } from "vitest";
import { walks } from "./walk/walks.ts";

const COUNT = Number(process.env["NOTESD_WALKS"] ?? 40);

test(
  `nothing that was saved is lost on ${COUNT} walks`,
  () => walks({ count: COUNT, steps: 40 }),
  COUNT * 60_000,
);
