/**
 * Random walks over three trees: agents, a person's editor and a person's Git, in any order. After each step and at the end
 * no text that was ever on a branch or before the daemon is gone, unless a person's own command dropped it.
 *
 * More of them: NOTESD_WALKS=2000 npx vitest run --project slow test/model/walks. A failure names its seed and path; say it
 * again with NOTESD_WALK_SEED=… NOTESD_WALK_PATH=….
 */
import { test } from "vitest";
import { walks } from "./walk/walks.ts";

test("nothing that was saved is lost on a short walk", () => walks({ count: 6, steps: 12 }), 120_000);
