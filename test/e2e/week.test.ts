/**
 * Monday morning: "what did they decide, and why?" asked of a week of work through the real command line, client,
 * door, notebook and Git. What it answers is kept in test/golden and shown in docs/review.md.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { registry } from "../../src/actions/registry.ts";
import type { CliHost } from "../../src/doors/cli/host.ts";
import { runCli } from "../../src/doors/cli/run.ts";
import { openDoor, type TestDoor } from "../support/door.ts";
import { PAT, playWeek, type Week, WRITES } from "../support/week.ts";

let week: Week;
let door: TestDoor;
beforeAll(async () => {
  week = await playWeek();
  door = await openDoor({
    served: week.opened.notebook,
    guard: { authenticate: (token) => (token === "pats" ? PAT : null) },
  });
}, 120_000);
afterAll(async () => {
  await door?.close();
  await week?.close();
});

/** Run a command as Pat. @returns what it printed */
async function notesd(...args: string[]): Promise<string> {
  let [out, err] = ["", ""];
  const host = {
    version: "0",
    env: { NOTESD_URL: door.http, NOTESD_TOKEN: "pats" },
    cwd: week.repo.root,
    io: {
      out: (text: string) => {
        out += text;
      },
      err: (text: string) => {
        err += text;
      },
      readInput: async () => "",
      ask: null,
      colour: false,
      columns: 100,
    },
  };
  // A command that asks a daemon at an address needs nothing else of its host.
  const code = await runCli(args, registry, host as unknown as CliHost);
  expect({ args, code, err }).toEqual({ args, code: 0, err: "" });
  return out;
}

const id = (name: string) => week.ids.get(name) ?? "";
const golden = (name: string) => fileURLToPath(new URL(`../golden/${name}`, import.meta.url));

test("the week has its 400 writes, by five, and all of them are in Git", async () => {
  const review = JSON.parse(await notesd("review", "--json"));
  expect(review).toMatchObject({ writes: WRITES, since: { from: "mark" } });
  expect(review.by.map(({ name }: { name: string }) => name).sort()).toEqual([
    "Ada",
    "Pat",
    "coder",
    "planner",
    "tester",
  ]);
  expect(Number(week.repo.git("rev-list", "--count", `${review.since.commit}..main`))).toBe(WRITES);
});

test("review answers what was decided and why, in what one reads in a minute", async () => {
  const text = await notesd("review");
  await expect(text).toMatchFileSnapshot(golden("week-review.txt"));
  for (const [what, why] of [
    ["Refresh tokens go into Postgres, not Redis", "One store fewer to run, and staging can't run Redis"],
    ["A spent refresh token stays good for 10 seconds", "Mobile clients send two refreshes on waking"],
    ["Access tokens live for 15 minutes", "The audit asks for it"],
    ["We launch on thursday for one in ten users", "Every blocker but the certificate is closed"],
    // Revised on friday: what counts is the last word and its reason.
    [
      "The token check stays with the library, with the algorithm fixed",
      "Version 6 lets us name the one algorithm",
    ],
  ]) {
    const at = text.indexOf(String(what));
    expect([what, at > 0]).toEqual([what, true]);
    expect(text.slice(at, at + 400)).toContain(`why: ${why}`);
  }
  expect(text).not.toContain("We write the token check ourselves");
  const sections = [...text.matchAll(/^(\S.*) \((\d+)\)$/gm)].map(([, name, count]) => [name, Number(count)]);
  expect(sections).toEqual([
    ["New blockers", 1],
    ["Decided", 5],
    ["Blockers closed", 3],
    ["People's text that agents changed", 2],
    ["Deleted", 1],
  ]);
  expect(text.split("\n").length).toBeLessThan(70);
});

test("log shows one note's or one agent's steps with their reasons, and only those asked for", async () => {
  await expect(await notesd("log", "--note", id("library"))).toMatchFileSnapshot(golden("week-log.txt"));
  const blockers = await notesd("log", "--type", "blocker", "--since", "2026-11-23");
  expect(blockers.match(/^\d{4}-.*$/gm)?.map((line) => line.split("  ").slice(1, 3))).toEqual([
    ["coder", "create(blocker)"],
    ["Ada", "update(blocker)"],
    ["tester", "create(blocker)"],
    ["tester", "update(blocker)"],
    ["tester", "create(blocker)"],
    ["planner", "update(blocker)"],
  ]);
  expect(blockers).toContain("chrony runs on all hosts now\n    status: open → resolved");
  const entries = async (...args: string[]) => JSON.parse(await notesd("log", "--json", ...args)).entries;
  expect(await entries("--agent", "tester", "--type", "conclusion")).toEqual([]);
  expect(await entries("--source", "disk")).toMatchObject([{ author_name: "Pat", source: "disk" }]);
  expect(await entries("--source", "git")).toMatchObject([{ author_name: "Ada", source: "git" }]);
  expect(await entries("--since", "2026-11-28", "--until", "2026-11-29")).toHaveLength(2);
  expect(await entries("--limit", "7")).toHaveLength(7);
});

test("blame names the agent or the person of each line", async () => {
  const text = await notesd("blame", id("design"));
  await expect(text).toMatchFileSnapshot(golden("week-blame.txt"));
  const whose = (line: string) =>
    /^\S+ (\S+(?: \(\w+\))?) /.exec(text.split("\n").find((one) => one.includes(line)) ?? "")?.[1];
  expect(whose("Access tokens live for 15 minutes")).toBe("coder");
  expect(whose("Addresses are kept for 30 days")).toBe("Pat (disk)");
  expect(whose("A logout deletes")).toBe("Pat");
  expect(await notesd("blame", id("runbook"))).toMatch(
    /^\S+ Ada \(git\) +2026-11-27 +\d+\) 4\. Call Ada, or Pat at night\.$/m,
  );
});

test("diff shows what an agent made of a person's text, word by word", async () => {
  const text = await notesd("diff", id("design"), "--from", "2026-11-23", "--word");
  expect(text).toContain("Access tokens live for [-one hour-]{+15 minutes+}.");
  expect(text).toContain("[-kept in Redis, one key a user-]{+rows of the table refresh_token+}.");
});

test("marked as seen, there is nothing more to read, and the mark is a ref", async () => {
  expect(await notesd("review", "--mark")).toContain("Marked: the next review begins here.");
  expect(await notesd("review")).toContain("Nothing was written.");
  const refs = week.repo.git("for-each-ref", "--format=%(refname) %(objectname)", "refs/notesd/review");
  expect(refs).toMatch(new RegExp(`^refs/notesd/review/[a-z2-7]{16} ${week.repo.git("rev-parse", "main")}$`));
});

test("the transcript in the documents is what the commands print", () => {
  const docs = readFileSync(fileURLToPath(new URL("../../docs/review.md", import.meta.url)), "utf8");
  for (const name of ["week-review.txt", "week-log.txt", "week-blame.txt"]) {
    const shown = readFileSync(golden(name), "utf8").trimEnd().replace(/^/gm, "    ").replace(/^ +$/gm, "");
    expect(docs).toContain(shown);
  }
});
