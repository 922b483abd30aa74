/**
 * Who may what, as one table: every action there is, by who calls and whose the note is, the same at every door. A new
 * action has no row here, and this test says so. Rules in words: the contract, section 2.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { registry } from "../../src/actions/registry.ts";
import { callOverHttp } from "../../src/client/http-call.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { gitPlaceAt } from "../../src/lib/git-dir.ts";
import { createLog } from "../../src/lib/log.ts";
import { type RunningDaemon, startDaemon } from "../../src/main/daemon.ts";
import { openIdentities } from "../../src/main/identities/identities.ts";
import { init } from "../../src/main/init.ts";
import { cliInProcess } from "../support/cli-in-process.ts";
import { BIN, cleanEnv, git, openRpc, type Rpc } from "../support/daemon.ts";

/**
 * `+` it may, `-` it may not (403), `?` it must name `target_agent_id` (-32602), `!` its token is nobody's (401).
 * pat owns the repository, kim was added. planner and coder are agents; p-mcp and p-read are tokens of planner's, for an
 * MCP client and for reading alone. The note is planner's, coder's or a person's; a memory's words are its scope and
 * whose notebook it is in, of a workspace memory and a rule who made it; kim saved one in planner's notebook.
 */
const TABLE = `
call                      note                 pat  kim  planner  p-mcp  p-read  coder  nobody
notes.create              none                  +    +      +       +      -       +      !
notes.create memory       none                  ?    ?      ?       ?      -       ?      !
notes.create in memory    none                  ?    ?      ?       ?      -       ?      !
notes.save                none                  ?    ?      +       +      -       +      !
notes.save target         none                  +    +      +       +      -       -      !
notes.save workspace      none                  +    +      +       +      -       +      !
notes.recall              none                  +    +      +       +      +       +      !
memory.run view           none                  ?    ?      +       +      +       +      !
memory.run view target    none                  +    +      +       +      +       +      !
memory.run create         none                  ?    ?      +       +      -       +      !
memory.run replace        none                  ?    ?      +       +      -       +      !
memory.run replace target none                  +    +      +       +      -       -      !
feedback.save             none                  ?    ?      +       +      -       +      !
feedback.list             none                  +    +      +       +      +       +      !
feedback.delete           none                  ?    ?      +       +      -       +      !
feedback.delete target    none                  +    +      +       +      -       -      !
feedback.save workspace   none                  +    +      +       +      -       +      !
feedback.delete workspace rule planner          +    +      +       +      -       -      !
feedback.delete workspace rule person           +    +      -       -      -       -      !
notes.read                planner               +    +      +       +      +       +      !
notes.read                agent planner         +    +      +       +      +       +      !
notes.update              planner               +    +      +       +      -       +      !
notes.update              person                +    +      +       +      -       +      !
notes.update pinned       planner               +    +      +       +      -       -      !
notes.update pinned       coder                 +    +      -       -      -       +      !
notes.update pinned       person                +    +      -       -      -       -      !
notes.update expiry       planner               +    +      +       +      -       -      !
notes.update expiry       person                +    +      -       -      -       -      !
notes.update no expiry    planner               +    +      +       +      -       -      !
notes.update merge        planner               +    +      +       +      -       +      !
notes.update              agent planner         +    +      +       +      -       -      !
notes.update              agent coder           +    +      -       -      -       +      !
notes.update pinned       agent planner         +    +      +       +      -       -      !
notes.update              thread planner        +    +      +       +      -       -      !
notes.update              person planner        +    +      +       +      -       -      !
notes.update              workspace planner     +    +      +       +      -       +      !
notes.update              workspace person      +    +      +       +      -       +      !
notes.update pinned       workspace planner     +    +      +       +      -       +      !
notes.update expiry       workspace planner     +    +      +       +      -       -      !
notes.update expiry       workspace coder       +    +      -       -      -       +      !
notes.update expiry       workspace person      +    +      -       -      -       -      !
notes.update no expiry    workspace planner     +    +      +       +      -       +      !
notes.save over           workspace planner     +    +      +       +      -       +      !
notes.save over           workspace person      +    +      +       +      -       +      !
notes.save over expiry    workspace planner     +    +      +       +      -       -      !
notes.save over expiry    workspace coder       +    +      -       -      -       +      !
notes.save over expiry    workspace person      +    +      -       -      -       -      !
notes.append              planner               +    +      +       +      -       +      !
notes.append              agent planner         +    +      +       +      -       -      !
notes.append              workspace planner     +    +      +       +      -       +      !
notes.edit                person                +    +      +       +      -       +      !
notes.edit                thread planner        +    +      +       +      -       -      !
notes.delete              planner               +    +      +       +      -       -      !
notes.delete              coder                 +    +      -       -      -       +      !
notes.delete              person                +    +      -       -      -       -      !
notes.delete              agent planner         ?    ?      +       +      -       -      !
notes.delete              agent coder           ?    ?      -       -      -       +      !
notes.delete              thread planner        ?    ?      +       +      -       -      !
notes.delete              person planner        ?    ?      +       +      -       -      !
notes.delete target       agent planner         +    +      +       +      -       -      !
notes.delete target       thread planner        +    +      +       +      -       -      !
notes.delete other target agent planner         ?    ?      ?       ?      -       ?      !
notes.delete              planner by kim        ?    ?      +       +      -       -      !
notes.delete target       planner by kim        +    +      +       +      -       -      !
notes.update              planner by kim        +    +      +       +      -       -      !
notes.delete other target workspace planner     +    +      +       +      -       -      !
notes.delete              workspace planner     +    +      +       +      -       -      !
notes.delete              workspace coder       +    +      -       -      -       +      !
notes.delete              workspace person      +    +      -       -      -       -      !
notes.restore             person                +    +      +       +      -       +      !
notes.restore             agent planner         +    +      +       +      -       -      !
notes.restore pin         planner               +    +      +       +      -       -      !
notes.restore expiry      workspace planner     +    +      +       +      -       -      !
notes.restore expiry      workspace person      +    +      -       -      -       -      !
notes.restore deleted     planner               +    +      +       +      -       -      !
notes.restore deleted     person                +    +      -       -      -       -      !
notes.restore deleted     agent planner         +    +      +       +      -       -      !
notes.restore deleted     workspace planner     +    +      +       +      -       -      !
notes.restore deleted     workspace person      +    +      -       -      -       -      !
notes.run read            planner               +    +      +       +      +       +      !
notes.run update          planner               +    +      +       +      -       +      !
notes.run pinned          planner               +    +      +       +      -       -      !
notes.run delete          planner               +    +      +       +      -       -      !
notes.list                none                  +    +      +       +      +       +      !
notes.search              none                  +    +      +       +      +       +      !
notes.summary             none                  +    +      +       +      +       +      !
notes.history             planner               +    +      +       +      +       +      !
notes.diff                planner               +    +      +       +      +       +      !
notes.blame               planner               +    +      +       +      +       +      !
notes.review              none                  +    +      +       +      +       +      !
notes.review mark         none                  +    +      -       -      -       -      !
notes.changes             none                  +    +      +       +      +       +      !
notes.conflicts           none                  +    +      +       +      +       +      !
notes.commit              none                  +    +      -       -      -       -      !
notes.subscribe           none                  +    +      +       +      +       +      !
notes.unsubscribe         none                  +    +      +       +      +       +      !
session.set               none                  +    +      +       +      +       +      !
agent.token               none                  +    +      -       -      -       -      !
sync.run                  none                  +    +      -       -      -       -      !
sync.status               none                  +    +      +       +      +       +      !
daemon.status             none                  +    +      +       +      +       +      !
daemon.verify             none                  +    +      -       -      -       -      !
rpc.discover              none                  +    +      +       +      +       +      !
`;

interface Known {
  readonly id: string;
  /** The commit that made it. */
  readonly commit: string;
  /** A memory's. */
  readonly key?: string;
}

type Params = Record<string, unknown>;

/** No note has this revision: who may write is answered CONFLICT, and nothing is written. */
const STALE = { if_revision: "0".repeat(40) };
const PLANNERS = { target_agent_id: "planner" };
const update = (more: Params) => (note: Known) => ({ note_id: note.id, ...more, ...STALE });

/** What each call sends. Words after the method tell calls of one method apart. */
const CALLS: Readonly<Record<string, (note: Known) => Params>> = {
  "notes.create": () => ({ title: "t", content: "c" }),
  "notes.create memory": () => ({ title: "t", content: "c", folder: "memory/agents/planner" }),
  "notes.create in memory": () => ({ title: "t", content: "c", folder: "memory/agents/planner/plan.md" }),
  "notes.save over": ({ key }) => ({ key, value: "text", scope: "workspace" }),
  "notes.save over expiry": ({ key }) => ({ key, value: "text", scope: "workspace", expires_in_hours: 9 }),
  "notes.save": () => ({ key: "k", value: "v", scope: "agent" }),
  "notes.save target": () => ({ key: "k", value: "v", scope: "agent", target_agent_id: "planner" }),
  "notes.save workspace": () => ({ key: "k", value: "v", scope: "workspace" }),
  "notes.recall": () => ({}),
  "memory.run view": () => ({ command: "view", path: "/memories" }),
  "memory.run view target": () => ({ command: "view", path: "/memories", ...PLANNERS }),
  "memory.run create": () => ({ command: "create", path: "/memories/f", file_text: "text" }),
  // What is there already is told in the tool's own words, so these find the file that the row above made.
  "memory.run replace": () => ({
    command: "str_replace",
    path: "/memories/f",
    old_str: "text",
    new_str: "text",
  }),
  "memory.run replace target": () => ({
    ...{ command: "str_replace", path: "/memories/f", old_str: "text", new_str: "text" },
    ...PLANNERS,
  }),
  "feedback.save": () => ({ key: "k", rule: "r", scope: "agent" }),
  "feedback.list": () => ({}),
  "feedback.delete": () => ({ key: "none", scope: "agent" }),
  "feedback.save workspace": () => ({ key: "k", rule: "r", scope: "workspace" }),
  "feedback.delete workspace": ({ id }) => ({ key: id, scope: "workspace" }),
  "feedback.delete target": () => ({ key: "none", scope: "agent", target_agent_id: "planner" }),
  "notes.read": ({ id }) => ({ note_id: id }),
  "notes.update": update({ content: "changed" }),
  "notes.update pinned": update({ pinned: true }),
  "notes.update expiry": update({ expires_in_hours: 1 }),
  "notes.update no expiry": update({ expires_in_hours: null }),
  "notes.update merge": update({ content: "changed", on_conflict: "merge" }),
  "notes.append": update({ content: "more" }),
  "notes.edit": update({ old_str: "text", new_str: "words" }),
  "notes.delete": update({}),
  "notes.delete target": update({ target_agent_id: "planner" }),
  "notes.delete other target": update({ target_agent_id: "somebody" }),
  "notes.restore": ({ id, commit }) => ({ note_id: id, at: commit }),
  "notes.restore pin": ({ id, commit }) => ({ note_id: id, at: commit }),
  "notes.restore expiry": ({ id, commit }) => ({ note_id: id, at: commit }),
  "notes.restore deleted": ({ id, commit }) => ({ note_id: id, at: commit }),
  "notes.run read": ({ id }) => ({ action: "read", note_id: id }),
  "notes.run update": (note) => ({ action: "update", ...update({ content: "changed" })(note) }),
  "notes.run pinned": (note) => ({ action: "update", ...update({ pinned: true })(note) }),
  "notes.run delete": (note) => ({ action: "delete", ...update({})(note) }),
  "notes.list": () => ({}),
  "notes.search": () => ({ query: "text" }),
  "notes.summary": () => ({}),
  "notes.history": ({ id }) => ({ note_id: id }),
  "notes.diff": ({ id }) => ({ note_id: id }),
  "notes.blame": ({ id }) => ({ note_id: id }),
  "notes.review": () => ({ since: "7d" }),
  "notes.review mark": () => ({ mark: true }),
  "notes.changes": () => ({ since: "7d" }),
  "notes.conflicts": () => ({}),
  "notes.commit": () => ({}),
  "notes.subscribe": () => ({}),
  "notes.unsubscribe": () => ({ subscription_id: "none" }),
  "session.set": () => ({ session: "s" }),
  "agent.token": () => ({ name: "newcomer" }),
  "sync.run": () => ({}),
  "sync.status": () => ({}),
  "daemon.status": () => ({}),
  "daemon.verify": () => ({}),
  "rpc.discover": () => ({}),
};

/** Answers to one who may: the rest of what a call needs is not here. */
const MAY: ReadonlySet<string> = new Set([
  "done",
  "CONFLICT",
  "NOT_CONFIGURED",
  "INVALID_REQUEST",
  "NOT_FOUND",
]);
const SIGNS: Readonly<Record<string, string>> = { FORBIDDEN: "-", INVALID_PARAMS: "?", UNAUTHENTICATED: "!" };
const signOf = (answer: string) => (MAY.has(answer) ? "+" : (SIGNS[answer] ?? answer));

const words = (line: string) => line.trim().split(/ {2,}/);
const [head = "", ...lines] = TABLE.trim().split("\n");
const callers = words(head).slice(2);
const rows = lines.map((line) => {
  // The two first columns have a fixed width: their words may stand close.
  const cells = line.slice(47).trim().split(/ +/);
  return { call: line.slice(0, 26).trim(), owner: line.slice(26, 47).trim(), cells };
});

let top: string;
let daemon: RunningDaemon;
let pat: Rpc;
const logged: string[] = [];
const tokens: Record<string, string> = { nobody: "notesd_nobody" };
const sockets = new Map<string, Rpc>();
const notes = new Map<string, Known>();

beforeAll(async () => {
  top = realpathSync(mkdtempSync(join(tmpdir(), "notesd-table-")));
  const env = { HOME: top, PATH: process.env["PATH"] ?? "", XDG_STATE_HOME: join(top, "state") };
  writeFileSync(join(top, ".gitconfig"), "[user]\n\tname = Pat\n\temail = pat@example.org\n");
  const dir = join(top, "notes");
  await init({ dir, roots: null, branch: null, remote: null, env, nowMs: Date.now() });
  const place = await gitPlaceAt(dir);
  if (!place) throw new Error("init made no repository");
  const log = createLog({ write: (line) => void logged.push(line) });
  const settings = { branch: "main", port: 0, durability: "relaxed" as const };
  daemon = await startDaemon({ place, settings }, { env, log, clock: systemClock });
  const identities = openIdentities(join(place.gitDir, "notesd"), Date.now);
  const agent = async (name: string, more: { mcp?: boolean; readOnly?: boolean } = {}) =>
    (await identities.addAgent({ name, mcp: false, readOnly: false, ...more })).token;
  Object.assign(tokens, {
    pat: readFileSync(join(place.gitDir, "notesd/token"), "utf8").trim(),
    kim: (await identities.addPerson({ name: "Kim", email: "kim@example.org" })).token,
    planner: await agent("planner"),
    "p-mcp": await agent("planner", { mcp: true }),
    "p-read": await agent("planner", { readOnly: true }),
    coder: await agent("coder"),
  });
  const url = daemon.file.url.replace("http", "ws");
  for (const name of callers)
    if (name !== "nobody") sockets.set(name, await openRpc(`${url}/rpc`, tokens[name] ?? ""));
  pat = socketOf("pat");
  await makeNotes();
});
afterAll(async () => {
  for (const socket of sockets.values()) socket.close();
  await daemon.stop();
  rmSync(top, { recursive: true, force: true, maxRetries: 5 });
});

function socketOf(name: string): Rpc {
  const socket = sockets.get(name);
  if (!socket) throw new Error(`${name} has no socket`);
  return socket;
}

async function makeNotes(): Promise<void> {
  const make = async (owner: string, by: string, more: Params = {}) => {
    const made = await socketOf(by).call("notes.create", { title: owner, content: "text", ...more });
    notes.set(owner, { id: made.note_id, commit: made.commit });
  };
  const save = async (owner: string, by: string, more: Params) => {
    const made = await socketOf(by).call("notes.save", { key: owner, value: "text", ...more });
    notes.set(owner, { id: made.note_id, commit: made.commit, key: owner });
  };
  await make("planner", "planner");
  await make("coder", "coder");
  await make("person", "kim");
  for (const [by, name] of [
    ["planner", "planner"],
    ["coder", "coder"],
  ] as const) {
    await save(`agent ${name}`, by, { scope: "agent" });
    await save(`thread ${name}`, by, { scope: "thread", scope_ref_id: "t1" });
    await save(`person ${name}`, by, { scope: "person", scope_ref_id: "kim" });
    await save(`workspace ${name}`, by, { scope: "workspace" });
  }
  await save("workspace person", "kim", { scope: "workspace" });
  await save("planner by kim", "kim", { scope: "agent", target_agent_id: "planner" });
  for (const owner of ["rule planner", "rule person"]) {
    notes.set(owner, { id: owner, commit: "" });
    await saveRule(owner);
  }
}

const saveRule = (owner: string) =>
  socketOf(owner === "rule planner" ? "planner" : "kim").call("feedback.save", {
    ...{ key: owner, rule: "text", scope: "workspace" },
  });

/** The note that a row speaks of, as its call needs it; a deleted or changed one is its own. */
async function noteFor(call: string, owner: string): Promise<Known> {
  if (owner === "none") return { id: "none", commit: "" };
  const known = notes.get(owner);
  if (!known) throw new Error(`there is no note ${owner}`);
  const kept: Params | undefined = KEPT_THEN[call];
  if (kept === undefined) return known;
  const own = notes.get(`${call} ${owner}`);
  if (own) return own;
  const [scope = "", whose = owner] = owner.split(" ");
  const by = whose === "person" ? "kim" : whose;
  const made = owner.includes(" ")
    ? await socketOf(by).call("notes.save", { key: call + owner, value: "text", scope, ...kept })
    : await socketOf(by).call("notes.create", { title: call, content: "text", ...kept });
  const note = { id: made.note_id, commit: made.commit };
  notes.set(`${call} ${owner}`, note);
  await putBack(call, owner, note);
  return note;
}

/** What a note had at the commit that these bring back. */
const KEPT_THEN: Readonly<Record<string, Params>> = {
  "notes.restore deleted": { pinned: true },
  "notes.restore pin": { pinned: true },
  "notes.restore expiry": { expires_in_hours: 9 },
};

/** As it was before somebody who may restored it. */
async function putBack(call: string, owner: string, { id }: Known): Promise<void> {
  if (call === "feedback.delete workspace") await saveRule(owner);
  if (call === "notes.restore expiry")
    await pat.call("notes.update", { note_id: id, expires_in_hours: null });
  if (call === "notes.restore pin") await pat.call("notes.update", { note_id: id, pinned: false });
  if (call !== "notes.restore deleted") return;
  const target = owner.startsWith("agent ") ? { target_agent_id: owner.slice(6) } : {};
  await pat.call("notes.delete", { note_id: id, ...target });
}

const codeOf = (error: unknown) =>
  (error as { code?: unknown; data?: { code?: unknown } }).data?.code ?? (error as { code?: unknown }).code;

type Door = (caller: string, method: string, params: Params) => Promise<string>;

const DOORS: Readonly<Record<string, Door>> = {
  async WebSocket(caller, method, params) {
    if (caller === "nobody") {
      const refused = openRpc(`${daemon.file.url.replace("http", "ws")}/rpc`, tokens["nobody"] ?? "");
      return refused.then(
        () => "let in",
        (error: Error) => (/401/.test(error.message) ? "UNAUTHENTICATED" : error.message),
      );
    }
    const { error } = await socketOf(caller).reply(method, params);
    return error === undefined ? "done" : String(error.data["code"]);
  },
  async HTTP(caller, method, params) {
    return callOverHttp(daemon.file.url, tokens[caller] ?? "", method, params).then(
      () => "done",
      (error: unknown) => String(codeOf(error)),
    );
  },
  async "command line"(caller, method, params) {
    const env = { NOTESD_URL: daemon.file.url, NOTESD_TOKEN: tokens[caller] ?? "" };
    const ended = await cliInProcess(["call", method, "--json", "--params", JSON.stringify(params)], env);
    if (ended.code === 0) return "done";
    const said = /\{"error":.*\}/.exec(ended.err)?.[0];
    return said === undefined ? ended.err : String(JSON.parse(said).error.code);
  },
};

/** A command takes ten times as long as a request: there, of some callers every second, fourth or eighth row is asked. */
const EVERY: Readonly<Record<string, number>> = { kim: 4, "p-mcp": 4, nobody: 8, planner: 2, "p-read": 2 };
const isAsked = (door: Door, caller: string, row: number) =>
  door !== DOORS["command line"] || row % (EVERY[caller] ?? 1) === 0;

async function answersAt(
  door: Door,
  { call, owner, cells }: (typeof rows)[number],
  row: number,
): Promise<string[]> {
  const note = await noteFor(call, owner);
  const [method = ""] = call.split(" ");
  const params = CALLS[call]?.(note);
  if (params === undefined) throw new Error(`nothing says what ${call} sends`);
  const signs: string[] = [];
  for (const [at, caller] of callers.entries()) {
    if (!isAsked(door, caller, row)) {
      signs.push(cells[at] ?? "");
      continue;
    }
    const sign = signOf(await door(caller, method, params));
    signs.push(sign);
    if (sign === "+") await putBack(call, owner, note);
  }
  return signs;
}

test("the table has a row for every action", () => {
  expect([...new Set(rows.map(({ call }) => call.split(" ")[0]))].sort()).toEqual(
    [...registry.keys()].sort(),
  );
  expect(rows.every(({ cells }) => cells.length === callers.length)).toBe(true);
});

test.each(Object.entries(DOORS))(
  "by %s each cell is as the table says",
  async (_name, door) => {
    const found: string[] = [];
    for (const [at, row] of rows.entries()) {
      found.push(`${row.call} | ${row.owner}: ${(await answersAt(door, row, at)).join(" ")}`);
    }
    expect(found).toEqual(rows.map(({ call, owner, cells }) => `${call} | ${owner}: ${cells.join(" ")}`));
  },
  120_000,
);

test("the command itself, in a process of its own, ends with the code that the table means", async () => {
  const ended = (caller: string, ...args: string[]) => {
    const env = { NOTESD_URL: daemon.file.url, NOTESD_TOKEN: tokens[caller] ?? "" };
    const child = spawn(process.execPath, [BIN, ...args], {
      env: { ...cleanEnv(), ...env },
      stdio: "ignore",
    });
    return new Promise((resolve) => child.once("exit", resolve));
  };
  const note = (owner: string) => notes.get(owner)?.id ?? "";
  expect(await ended("coder", "delete", note("planner"))).toBe(6);
  expect(await ended("p-read", "append", note("planner"), "more")).toBe(6);
  expect(await ended("pat", "delete", note("agent planner"))).toBe(2);
  expect(await ended("nobody", "read", note("planner"))).toBe(6);
  expect(await ended("coder", "read", note("agent planner"))).toBe(0);
});

test("each refusal of the table is in the log with who and what, and no token, parameter or text", () => {
  const text = logged.join("");
  for (const name of Object.keys(tokens)) expect(text).not.toContain(tokens[name]);
  expect(text).not.toContain("changed");
  const lines = logged.map((line) => JSON.parse(line)).filter(({ message }) => message === "refused");
  const line = (principal: string, action: string, reason: string) =>
    expect.objectContaining({ principal, action, code: "FORBIDDEN", reason });
  expect(lines).toContainEqual(line("agent:coder", "notes.delete", "not_author"));
  expect(lines).toContainEqual(line("agent:coder", "notes.delete", "not_maker"));
  expect(lines).toContainEqual(line("agent:coder", "notes.update", "other_memory"));
  expect(lines).toContainEqual(line("agent:planner", "notes.append", "read_only"));
  expect(lines).toContainEqual(line("agent:coder", "daemon.verify", "persons_only"));
  expect(lines).toContainEqual(expect.objectContaining({ status: 401, reason: "unknown_token" }));
});

test("a commit carries the name and the address of who made it, person or agent", async () => {
  for (const [by, author] of [
    ["kim", "Kim <kim@example.org>"],
    ["pat", "Pat <pat@example.org>"],
    ["coder", "coder <coder@agents.notesd.invalid>"],
  ] as const) {
    const { commit } = await socketOf(by).call("notes.create", { title: `By ${by}`, content: "text" });
    expect(git(join(top, "notes"), "log", "-1", "--format=%an <%ae>", commit)).toBe(author);
  }
});
