import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { registry } from "../../../src/actions/registry.ts";
import { DaemonFile } from "../../../src/client/discover.ts";
import { findRepository } from "../../../src/client/find-repository.ts";
import { ProcessError } from "../../../src/domain/process-error.ts";
import type { CliHost, Finding, Flags } from "../../../src/doors/cli/host.ts";
import { runCli } from "../../../src/doors/cli/run.ts";
import { openIdentities } from "../../../src/main/identities/identities.ts";
import { allowedSecrets } from "../../../src/notebook/secrets/allowed.ts";
import { type Answer, type FakeDaemon, fakeDaemon, type Sent } from "../../support/fake-daemon.ts";
import { until } from "../../support/wait.ts";

const NONCE = "cd".repeat(32);
const NOTE = "note_20261130_101500_k3vq7a";
let top: string;
let repo: string;
let daemon: FakeDaemon | null;
let out: string;
let err: string;
let input: string;
let env: Record<string, string>;
let started: Flags[];
/** What a start does; null: it fails. */
let starting: (() => Promise<void>) | null;
let findings: Finding[];
let keys: [string, boolean][];
let interrupt: () => void;

beforeEach(async () => {
  top = await realpath(await mkdtemp(join(tmpdir(), "notesd-cli-")));
  repo = join(top, "repo");
  await mkdir(join(repo, ".git/notesd"), { recursive: true });
  await writeFile(join(repo, ".git/HEAD"), "ref: refs/heads/main\n");
  await writeFile(join(repo, ".git/config"), "[notesd]\n\tmarked = true\n");
  await writeFile(join(repo, ".git/notesd/token"), "persons-token\n");
  [daemon, out, err, input, env] = [null, "", "", "", {}];
  [started, starting, keys] = [[], null, []];
});
afterEach(async () => {
  await daemon?.close();
  await rm(top, { recursive: true, force: true });
});

async function serve(answer: (sent: Sent) => Answer | Promise<Answer>): Promise<void> {
  daemon = await fakeDaemon(NONCE, (sent) =>
    sent.method === "agent.token" && sent.params["name"] === "planner"
      ? { result: { agent: "planner", agent_id: 1, token: "agents-token" } }
      : answer(sent),
  );
  const { port, url } = daemon;
  const file = {
    pid: 1,
    host: "127.0.0.1",
    port,
    url,
    started_at: "",
    nonce: NONCE,
    version: "0",
    protocol: "1",
  };
  await writeFile(join(repo, ".git/notesd/daemon.json"), JSON.stringify(file));
}

const unused = () => Promise.reject(new Error("the test did not expect this"));

function run(...args: string[]): Promise<number> {
  const interrupted = new Promise<void>((resolve) => {
    interrupt = resolve;
  });
  const host: CliHost = {
    version: "1.2.3",
    env,
    cwd: repo,
    io: {
      out: (text) => {
        out += text;
      },
      err: (text) => {
        err += text;
      },
      readInput: async () => input,
      ask: null,
      colour: false,
      columns: 100,
    },
    init: unused,
    locate: (flags) => findRepository(flags.repo ?? null, repo),
    serve: async () => 0,
    async startDetached(flags) {
      started.push(flags);
      if (starting === null) throw new ProcessError("PORT_TAKEN", "taken");
      await starting();
      return DaemonFile.parse(JSON.parse(await readFile(join(repo, ".git/notesd/daemon.json"), "utf8")));
    },
    stop: unused,
    listDaemons: async () => [{ repo, url: "http://x", pid: 7, started_at: "2026-11-30T10:15:00Z" }],
    recover: async () => [],
    purge: unused,
    doctor: async () => findings,
    deinit: async () => ({
      repo,
      unset: [],
      state_folder: join(repo, ".git/notesd"),
      index_file_stays: true,
    }),
    logFile: () => join(repo, ".git/notesd/log"),
    identities: (place) => openIdentities(join(place.gitDir, "notesd"), () => 0),
    allowedSecrets: (place) => allowedSecrets(join(place.gitDir, "notesd"), () => 0),
    allowSecret: async (place, fingerprint) =>
      allowedSecrets(join(place.gitDir, "notesd"), () => 0).add(fingerprint, "Pat"),
    getConfig: async (_flags, key) => (key === "port" ? 7000 : key === null ? { port: 7000 } : undefined),
    setConfig: unused,
    getProofKey: async () => "5".repeat(64),
    setProofKey: async (_place, text, replace) => {
      keys.push([text, replace]);
      return true;
    },
    interrupted: () => interrupted,
  };
  return runCli(args, registry, host);
}

const sent = (method: string) => (daemon?.sent ?? []).filter((one) => one.method === method);
const params = (method: string) => {
  const { idempotency_key: _, ...rest } = sent(method)[0]?.params ?? {};
  return rest;
};

test("create: arguments, repeated tags, key=value extras and standard input become parameters", async () => {
  await serve(() => ({
    result: { note_id: NOTE, path: "notes/x.md", revision: "r", commit: "0123456789abcdef", created_at: "t" },
  }));
  input = "from stdin\n";
  expect(
    await run(
      ...["create", "A title", "-", "--tag", "a", "--tag", "b", "--note-type", "blocker", "--pinned"],
      ...["--extra", "doi=10.1/x", "--extra", "n=3", "--expires-in-hours", "2", "--reason", "why"],
    ),
  ).toBe(0);
  expect(params("notes.create")).toEqual({
    title: "A title",
    content: "from stdin\n",
    tags: ["a", "b"],
    note_type: "blocker",
    pinned: true,
    extra: { doi: "10.1/x", n: 3 },
    expires_in_hours: 2,
    reason: "why",
  });
  expect(out).toBe(`created ${NOTE}  notes/x.md  (commit 012345678)\n`);
});

test("--json prints the action's own result and nothing else", async () => {
  const result = { notes: [], total: 0, next_cursor: null };
  await serve(() => ({ result }));
  expect(await run("list", "--json", "--status", "open")).toBe(0);
  expect(JSON.parse(out)).toEqual(result);
  expect(err).toBe("");
  expect(params("notes.list")).toEqual({ status: "open" });
});

test("note_type is --note-type or --type, for one type and for several", async () => {
  await serve(() => ({ result: { notes: [], total: 0, next_cursor: null } }));
  await run("list", "--type", "blocker", "--note-type", "action", "--tags", "x");
  expect(params("notes.list")).toEqual({ note_type: ["blocker", "action"], tags: ["x"] });
  await run("create", "t", "c", "--type", "blocker");
  expect(params("notes.create")).toEqual({ title: "t", content: "c", note_type: "blocker" });
});

test("--params is there for every command, and options win over it", async () => {
  await serve(() => ({ result: { results: [], total: 0 } }));
  await run("search", "--params", '{"query": "x", "limit": 3}', "--limit", "5");
  expect(params("notes.search")).toEqual({ query: "x", limit: 5 });
  input = '{"note_id": "n", "expires_in_hours": null}';
  await run("update", "--params", "-");
  expect(params("notes.update")).toEqual({ note_id: "n", expires_in_hours: null });
  await run("call", "x.y", "--params", '{"a": 1}');
  expect(params("x.y")).toEqual({ a: 1 });
});

test("--as and NOTESD_AGENT are an agent; nobody's name is the person", async () => {
  await serve(() => ({ result: { notes: [], total: 0, next_cursor: null } }));
  await run("list");
  await run("list", "--as", "planner");
  env = { NOTESD_AGENT: "planner" };
  await run("list");
  expect(sent("notes.list").map((one) => one.token)).toEqual([
    "persons-token",
    "agents-token",
    "agents-token",
  ]);
});

test("NOTESD_URL and NOTESD_TOKEN need no repository", async () => {
  await serve(() => ({ result: { notes: [], total: 0, next_cursor: null } }));
  env = { NOTESD_URL: daemon?.url ?? "", NOTESD_TOKEN: "given" };
  await rm(join(repo, ".git"), { recursive: true });
  expect(await run("list")).toBe(0);
  expect(sent("notes.list")[0]?.token).toBe("given");
});

test.each([
  ["NOT_FOUND", 404, 4],
  ["CONFLICT", 409, 5],
  ["FORBIDDEN", 403, 6],
  ["STORAGE", 507, 8],
  ["INVALID_PARAMS", -32602, 2],
  ["INTERNAL", -32603, 1],
] as const)("%s from the daemon is its exit code", async (code, number, exit) => {
  await serve(() => ({ error: { code: number, message: "what is wrong", data: { code, more: 1 } } }));
  expect(await run("read", NOTE)).toBe(exit);
  expect(out).toBe("");
  expect(err).toBe("notesd: what is wrong\n");
  err = "";
  expect(await run("read", NOTE, "--json")).toBe(exit);
  expect(JSON.parse(err)).toEqual({ error: { code, message: "what is wrong", data: { more: 1 } } });
});

test.each([
  [["nonsense"], /unknown command/],
  [["read", NOTE, "--nonsense"], /unknown option/],
  [["read", "a", "b"], /too many arguments/],
  [["read"], /note_id/],
  [["create", "t\nu", "c"], /one line/],
  [["list", "--limit", "many"], /a number is expected/],
  [["list", "--limit", "0"], /limit/],
  [["list", "--status", "odd"], /status/],
  [["list", "--params", "[1]"], /JSON object/],
  [["create", "-", "-"], /Standard input/],
  [["start", "--port", "99999"], /0 to 65535/],
  [["person", "add", "Kim"], /--email/],
  [[], /Usage/],
])(
  "%j is wrong usage: exit 2, a sentence, nothing on standard output, no daemon asked",
  async (args, message) => {
    input = "x";
    expect(await run(...args)).toBe(2);
    expect(err).toMatch(message);
    expect(out).toBe("");
    expect(started).toEqual([]);
  },
);

test("no daemon: one is started, and its own exit code is ours; --no-start is exit 9", async () => {
  expect(await run("list")).toBe(10);
  expect(started).toEqual([{ repo }]);
  expect(await run("list", "--no-start")).toBe(9);
  expect(await run("status")).toBe(9);
  expect(started).toHaveLength(1);
  env = { NOTESD_URL: "http://127.0.0.1:1", NOTESD_TOKEN: "t" };
  expect(await run("list")).toBe(9);
});

/** A daemon that is killed by the first write that it gets. */
const serveAndDie = () =>
  serve(({ method }) => {
    if (method === "notes.create") void daemon?.close();
    return method === "notes.create" ? "drop" : { result: {} };
  });

test("a command whose daemon is killed under it starts it again, and sends its write with the same key", async () => {
  await serveAndDie();
  const killed = daemon;
  starting = () =>
    serve(() => ({ result: { note_id: NOTE, path: "p", revision: "r", commit: "c", replayed: true } }));
  expect(await run("create", "A", "text", "--json")).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ note_id: NOTE, replayed: true });
  expect(err).toMatch(/starting it again/);
  expect(started).toEqual([{ repo }]);
  const [before, after] = [killed?.sent, daemon?.sent].map((all) =>
    all?.find(({ method }) => method === "notes.create"),
  );
  expect(before?.params["idempotency_key"]).toMatch(/^[0-9a-f-]{36}$/);
  expect(after?.params).toEqual(before?.params);
});

test("one that is killed under it each time is exit 9, and the key that tells what became of it is named", async () => {
  await serveAndDie();
  starting = serveAndDie;
  expect(await run("create", "A", "text")).toBe(9);
  expect(started).toHaveLength(1);
  const key = String(sent("notes.create")[0]?.params["idempotency_key"]);
  expect(err).toMatch(/whether it took effect is unknown/i);
  expect(err).toContain(`--idempotency-key ${key}`);
  await serveAndDie();
  [starting, err] = [null, ""];
  expect(await run("create", "A", "text", "--json", "--idempotency-key", "mine")).toBe(9);
  expect(JSON.parse(err.slice(err.indexOf("{")))).toMatchObject({
    error: { code: "UNANSWERED", data: { outcome: "unknown", idempotency_key: "mine" } },
  });
});

test("a start beside a daemon that answers is exit 3 and names it, detached too", async () => {
  await serve(() => ({ result: {} }));
  expect(await run("start", "--detach")).toBe(3);
  expect(err).toContain(`${repo} is served already by process 1 at ${daemon?.url}`);
  expect(started).toEqual([]);
});

test("a name that is no agent's and a token that nobody knows are said to be so, not a missing daemon", async () => {
  const refused = { code: -32602, message: "no agent's name", data: { code: "INVALID_PARAMS" } };
  await serve(() => ({ error: refused }));
  expect(await run("list", "--as", "123")).toBe(2);
  expect(err).toBe("notesd: no agent's name\n");
  if (daemon) daemon.tokens = new Set();
  err = "";
  expect(await run("list")).toBe(6);
  expect(err).toMatch(/doesn't know this token/);
});

test("no marked repository is exit 2 and names the two ways", async () => {
  await writeFile(join(repo, ".git/config"), "");
  expect(await run("list")).toBe(2);
  expect(err).toMatch(/--repo[\s\S]*notesd init/);
});

test("help and version are results", async () => {
  expect(await run("--help")).toBe(0);
  for (const command of ["init", "start", "create", "search", "watch", "log", "agent", "config", "call"]) {
    expect(out).toMatch(new RegExp(`^  ${command}\\b`, "m"));
  }
  expect(out).toMatch(/^ {2}create \[title\] \[content\] +create a typed note$/m);
  expect(out).toMatch(/^ {2}start\|serve +serve a repository$/m);
  expect(out).toMatch(/^ {2}commit \[path\.\.\.\] +commit hand edits at once$/m);
  out = "";
  expect(await run("update", "--help")).toBe(0);
  expect(out).toContain("--if-revision");
  out = "";
  expect(await run("--version")).toBe(0);
  expect(out).toBe("1.2.3\n");
});

test("agents and persons are added, listed and revoked without a daemon", async () => {
  expect(await run("agent", "add", "planner", "--read-only", "--json")).toBe(0);
  const added = JSON.parse(out);
  expect(Object.keys(added)).toEqual(["agent", "agent_id", "token"]);
  expect(err).not.toContain(added.token);
  out = "";
  await run("agent", "list");
  expect(out).toMatch(/planner .* 1, read-only/);
  expect(await run("agent", "revoke", "planner")).toBe(0);
  expect(await run("agent", "revoke", "planner")).toBe(4);
  expect(await run("agent", "add", "123")).toBe(2);
  expect(await run("person", "add", "Kim", "--email", "kim@example.org")).toBe(0);
  expect(await run("person", "revoke", "kim@example.org")).toBe(0);
});

test("a token is listed by an id that is no secret, revoked by it, and rotated", async () => {
  const said = async (...args: string[]) => {
    out = "";
    expect(await run(...args)).toBe(0);
    return out;
  };
  const first = (await said("agent", "add", "planner")).trim();
  await said("agent", "add", "planner", "--mcp");
  const [listed] = JSON.parse(await said("agent", "list", "--json"));
  expect(listed).toMatchObject({ agent: "planner", tokens: 2, revoked: false });
  const [one, two] = listed.token_list;
  expect(one).toEqual({
    id: expect.stringMatching(/^[0-9a-f]{8}$/),
    created_at: "1970-01-01T00:00:00.000Z",
    last_used_at: null,
    read_only: false,
    mcp: false,
  });
  expect(first).not.toContain(one.id);
  const table = await said("agent", "list");
  expect(table).toContain(`planner  ${listed.agent_id}`);
  expect(table).toContain(`${two.id} (mcp)`);
  expect(await run("agent", "revoke", "planner", "--token", "nosuch")).toBe(4);
  expect(await said("agent", "revoke", "planner", "--token", one.id)).toBe(
    `revoked token ${one.id} of planner\n`,
  );
  const rotated = JSON.parse(await said("agent", "rotate", "planner", "--json"));
  expect(Object.keys(rotated)).toEqual(["agent", "agent_id", "token"]);
  const [after] = JSON.parse(await said("agent", "list", "--json"));
  expect(after.token_list).toMatchObject([{ mcp: true }]);
  expect(after.token_list[0].id).not.toBe(two.id);
  expect(await run("agent", "rotate", "nobody")).toBe(4);
  await said("person", "add", "Kim", "--email", "kim@example.org");
  expect(JSON.parse(await said("person", "rotate", "Kim", "--json"))).toMatchObject({
    email: "kim@example.org",
    token: expect.stringMatching(/^notesd_/),
  });
});

test("the proof key is printed when it is asked for by name, and comes in on standard input alone", async () => {
  await run("config", "get");
  expect(out).not.toContain("55555");
  out = "";
  expect(await run("config", "get", "proof_key")).toBe(0);
  expect(out).toBe(`${"5".repeat(64)}\n`);
  expect(await run("config", "set", "proof_key", "6".repeat(64))).toBe(2);
  expect(err).toMatch(/standard input/);
  expect(err).not.toContain("66666");
  input = "7".repeat(64);
  expect(await run("config", "set", "proof.key", "-", "--replace")).toBe(0);
  expect(keys).toEqual([["7".repeat(64), true]]);
});

test("a fingerprint is allowed, listed and taken back; what none is, is said", async () => {
  const print = "0123456789abcdef";
  allowedSecrets(join(repo, ".git/notesd"), () => 0).noteRefusal(
    { kind: "npm-token", fingerprint: print },
    "create by planner",
  );
  expect(await run("allow", "--list")).toBe(0);
  expect(out).toMatch(
    /^nothing is allowed\n\nrefused +kind +at +in\n0123456789abcdef +npm-token .*create by planner\n$/,
  );
  out = "";
  expect(await run("allow", print.toUpperCase())).toBe(0);
  expect(await run("allow", print, "--json")).toBe(0);
  expect(out).toBe(
    `allowed: ${print} npm-token\n${JSON.stringify({ fingerprint: print, kind: "npm-token", allowed: true, changed: false })}\n`,
  );
  expect(err).toBe("");
  expect(await run("allow", "f".repeat(16))).toBe(0);
  expect(err).toMatch(/Nothing that was refused here lately has this fingerprint/);
  out = "";
  expect(await run("allow", "--list", "--json")).toBe(0);
  expect(JSON.parse(out)).toMatchObject({
    allowed: [{ fingerprint: print }, { kind: "unknown" }],
    refused: [],
  });
  expect(await run("allow", print, "--remove")).toBe(0);
  expect(await run("allow", print, "--remove")).toBe(4);
  expect([await run("allow"), await run("allow", "ghp_x")]).toEqual([2, 2]);
  expect(err).not.toContain("ghp_x");
});

test("--params stands for options and arguments of commands that are no action, too", async () => {
  expect(await run("agent", "add", "--json", "--params", '{"name": "planner", "read_only": true}')).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ agent: "planner" });
  out = "";
  await run("agent", "list", "--params", '{"json": true}');
  expect(JSON.parse(out)).toMatchObject([{ agent: "planner", read_only: true }]);
  expect(await run("agent", "add", "--params", '{"nmae": "x"}')).toBe(2);
  expect(err).toMatch(/did you mean name/);
  err = "";
  expect(await run("agent", "add")).toBe(2);
  expect(err).toBe("notesd: missing name. Usage: notesd agent add [options] [name]\n");
  expect(await run("config", "get", "host", "--params", '{"key": "port"}')).toBe(4);
});

test.each([
  [{ agent_name: "planner", author_name: "planner", source: "api" }, "planner"],
  [{ agent_name: null, author_name: "Pat\u001b[31m", source: "git" }, "Pat (git)"],
])("watch prints each change with its author until it is interrupted: %j", async (by, who) => {
  await serve(({ method }) => {
    if (method !== "notes.subscribe") return { result: {} };
    setImmediate(() =>
      daemon?.notify("notes.changed", {
        subscription_id: "s",
        commit: "c",
        action: "update",
        note_id: NOTE,
        title: "T\u001b[31m",
        type: "blocker",
        ...by,
        at: "2026-11-30T10:15:00.000Z",
        reason: null,
        path: "p",
        cursor: "c1",
      }),
    );
    return { result: { subscription_id: "s", cursor: "c0" } };
  });
  const done = run("watch", "--tag", "x");
  await until("a line", () => out.includes("\n"));
  interrupt();
  expect(await done).toBe(0);
  expect(out).toBe(`2026-11-30 10:15  update(blocker) T  ${who}  ${NOTE}\n`);
  expect(params("notes.subscribe")).toEqual({ tags: ["x"] });
});

test("commit names files from where one stands", async () => {
  await serve(() => ({ result: { commits: ["abc"] } }));
  expect(await run("commit", "-m", "why", "notes/x.md", join(repo, "notes/y.md"))).toBe(0);
  expect(params("notes.commit")).toEqual({ paths: ["notes/x.md", "notes/y.md"], reason: "why" });
  expect(out).toBe("abc\n");
});

test("config, list-daemons and logs print what the host knows", async () => {
  await run("config", "get", "port");
  await run("list-daemons");
  expect(out).toContain("7000\n");
  expect(out).toContain(repo);
  expect(await run("config", "get", "host")).toBe(4);
  expect(await run("logs")).toBe(4);
  await writeFile(join(repo, ".git/notesd/log"), "line\n");
  out = "";
  expect(await run("logs")).toBe(0);
  expect(out).toBe(await readFile(join(repo, ".git/notesd/log"), "utf8"));
});

test("arguments may be named as options; one that stands as an argument wins", async () => {
  await serve(() => ({
    result: { note_id: NOTE, path: null, revision: null, commit: "c" },
  }));
  expect(await run("create", "--title", "t", "--content", "c")).toBe(0);
  expect(params("notes.create")).toEqual({ title: "t", content: "c" });
  expect(await run("append", NOTE, "--content", "more")).toBe(0);
  expect(params("notes.append")).toEqual({ note_id: NOTE, content: "more" });
  await run("delete", NOTE, "--note-id", "other");
  expect(params("notes.delete")).toEqual({ note_id: NOTE });
});

test("help of every command says what each option is for, by words that are words", async () => {
  for (const { cli } of registry.values()) if (cli) await run(cli.command, "--help");
  expect(out).toContain("--status <status>");
  expect(out).toContain("--tag <tag>");
  expect(out).toMatch(/--expires-in-hours <number> +Hours from now/);
  expect(out).toContain("the opposite of --pinned");
  expect(out).toContain("Arguments may be named too (--title, --content).");
  for (const name of ["action", "source", "session", "mode", "status", "scope-ref-id", "on-conflict"]) {
    expect(out).toMatch(new RegExp(`--${name} <[a-z-]+> +[A-Z]`));
  }
});

test("a repository that stays busy is exit 7 within seconds, and data that a message names can be had", async () => {
  const data = { code: "REPO_BUSY", state: "merge", retry_after_ms: 60_000 };
  await serve(() => ({ error: { code: 503, message: "a merge is under way; see data.state", data } }));
  expect(await run("create", "t", "c")).toBe(7);
  expect(sent("notes.create")).toHaveLength(1);
  expect(err).toBe("notesd: a merge is under way; see data.state (--json shows data.)\n");
});

test("of several things that are wrong each is told", async () => {
  expect(await run("edit", NOTE)).toBe(2);
  expect(err).toBe(
    "notesd: notes.edit: old_str is required: a string; also:\n  new_str is required: a string\n",
  );
});

test("doctor says what it found, and something bad is exit 1", async () => {
  findings = [
    { name: "git", state: "note", text: "none" },
    { name: "daemon", state: "ok", text: "process 7" },
  ];
  expect(await run("doctor")).toBe(0);
  expect(out).toBe("note  git         none\nok    daemon      process 7\n");
  out = "";
  findings = [{ name: "hooks", state: "bad", text: "gone" }];
  expect(await run("doctor", "--json")).toBe(1);
  expect(JSON.parse(out)).toEqual({ ok: false, findings });
});

test("deinit says what stays and why", async () => {
  expect(await run("deinit")).toBe(0);
  expect(out).toContain(
    `${repo} is a plain repository again; its notes and history stay. notesd init goes on.\n`,
  );
  expect(out).toContain(`${join(repo, ".git/notesd")} stays: with its proof.key and identities`);
  expect(out).toContain("notes_index.json stays");
});

test("memory: the command, its path and its fields, a range as two numbers; what comes back is printed as it is", async () => {
  const shown = "Here's the content of /memories/a with line numbers:\n     2\ttwo";
  await serve(() => ({ result: shown }));
  expect(await run("memory", "view", "/memories/a", "--view-range", "2", "--view-range", "-1")).toBe(0);
  expect(params("memory.run")).toEqual({ command: "view", path: "/memories/a", view_range: [2, -1] });
  expect(out).toBe(`${shown}\n`);
  err = "";
  expect(await run("memory", "view", "/memories/a", "--view-range", "x")).toBe(2);
  expect(err).toContain("--view-range: a number is expected");
});

test("memory takes the tool's input as it is with --params", async () => {
  await serve(() => ({ result: "Successfully renamed /memories/a to /memories/b" }));
  const input = { command: "rename", old_path: "/memories/a", new_path: "/memories/b" };
  expect(await run("memory", "--params", JSON.stringify(input))).toBe(0);
  expect(params("memory.run")).toEqual(input);
});
