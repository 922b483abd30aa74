import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { registry } from "../../../src/actions/registry.ts";
import type { CliHost } from "../../../src/doors/cli/host.ts";
import { type PurgeReport, type PurgeWish, purgeText } from "../../../src/doors/cli/purge-report.ts";
import { runCli } from "../../../src/doors/cli/run.ts";

const VALUE = "a value of several words";
let top: string;
let wishes: PurgeWish[];
let out: string;
let err: string;
let report: PurgeReport;
beforeEach(async () => {
  top = await realpath(await mkdtemp(join(tmpdir(), "notesd-purge-cli-")));
  wishes = [];
  [out, err] = ["", ""];
  report = {
    found: true,
    places: [
      {
        commit: "a".repeat(40),
        path: "notes/a.md",
        path_changes: false,
        note_id: "n1",
        line: 7,
        text: "key: (purged)",
      },
    ],
    shared_with: [],
    messages: [],
    rewritten_commits: 2,
    first_commit: "a".repeat(40),
    objects: 9,
    refs: [{ ref: "refs/heads/main", becomes: "rewritten", commits_only_here: 0 }],
    repo: top,
    dry_run: true,
    files: [],
    commits: {},
    map_file: null,
    signatures_dropped: 0,
    proofs_lost: 0,
    complete: false,
    by_hand: ["Change it."],
  };
});
afterEach(() => rm(top, { recursive: true, force: true }));

async function run(args: readonly string[], more: { input?: string; agent?: string; secret?: string } = {}) {
  const host = {
    version: "0",
    env: more.agent === undefined ? {} : { NOTESD_AGENT: more.agent },
    cwd: top,
    io: {
      out: (text: string) => (out += text),
      err: (text: string) => (err += text),
      readInput: async () => more.input ?? "",
      ask: null,
      askSecret: more.secret === undefined ? null : async () => more.secret ?? "",
      colour: false,
      columns: 100,
    },
    locate: async () => ({ root: top, gitDir: join(top, ".git") }),
    async purge(_flags: unknown, wish: PurgeWish) {
      wishes.push(wish);
      return report;
    },
  };
  // The parts of a host that a purge without a daemon asks for.
  return runCli(["purge", ...args], registry, host as unknown as CliHost);
}

test("a value comes from standard input, files or the prompt, and without --yes it is only looked for", async () => {
  await writeFile(join(top, "v"), VALUE);
  expect(await run(["-"], { input: VALUE })).toBe(0);
  expect(await run(["--value-file", "v", "--value-file", join(top, "v")])).toBe(0);
  expect(await run([], { secret: VALUE })).toBe(0);
  const one = { values: [VALUE], fingerprints: [], note: null, apply: false };
  expect(wishes).toEqual([one, { ...one, values: [VALUE, VALUE] }, one]);
  expect(out).toContain("notes/a.md:7");
  expect(out).toMatch(/dry run/);
});

test("a value as an argument is refused and not repeated; a fingerprint and a note are no values", async () => {
  expect(await run([VALUE])).toBe(2);
  expect(err).toMatch(/standard input/);
  expect(err).not.toContain(VALUE);
  expect(await run(["0123456789abcdef"])).toBe(0);
  expect(await run(["--note", "n1"])).toBe(0);
  expect(wishes).toEqual([
    { values: [], fingerprints: ["0123456789abcdef"], note: null, apply: false },
    { values: [], fingerprints: [], note: "n1", apply: false },
  ]);
});

test("nothing to purge, a file that can't be read, and an agent are refused", async () => {
  expect(await run([])).toBe(2);
  expect(await run(["--value-file", "absent"])).toBe(2);
  expect(await run(["-"], { input: VALUE, agent: "planner" })).toBe(6);
  expect(wishes).toEqual([]);
  expect(out).toBe("");
});

test("done and complete is 0, what is left makes it 1, and --json is the report", async () => {
  report = {
    ...report,
    dry_run: false,
    complete: true,
    commits: { [`${"a".repeat(40)}`]: "b".repeat(40) },
    map_file: "m",
  };
  expect(await run(["-", "--yes"], { input: VALUE })).toBe(0);
  expect(out).toContain(`${"a".repeat(40)} ${"b".repeat(40)}`);
  out = "";
  report = { ...report, complete: false, files: [{ path: "loose.txt", done: "left", why: "edit it" }] };
  expect(await run(["-", "--yes", "--json"], { input: VALUE })).toBe(1);
  expect(JSON.parse(out)).toEqual(report);
  expect(purgeText(report)).toMatch(/loose\.txt {2}left: edit it[\s\S]*NOT COMPLETE/);
  expect(wishes.map(({ apply }) => apply)).toEqual([true, true]);
});

test("what a note holds does not reach the terminal as a command", () => {
  const hostile = { ...report, places: [{ ...report.places[0], text: "\u001b[2Jx" }] } as PurgeReport;
  expect(purgeText(hostile)).not.toContain("\u001b");
});
