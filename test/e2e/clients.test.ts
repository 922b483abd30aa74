/** Clients that nobody here wrote do the whole round with a real daemon, and Git agrees with every answer. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "rpc-websockets";
import { afterAll, beforeAll, expect, test } from "vitest";
import { git, initRepo, type RunningDaemon, removeFolder, startDaemon } from "../support/daemon.ts";
import { until } from "../support/wait.ts";

let daemon: RunningDaemon;
beforeAll(async () => {
  daemon = await startDaemon(initRepo());
});
afterAll(async () => {
  await daemon.stop();
  removeFolder(join(daemon.repo, ".."));
});

type Call = (method: string, params: Record<string, unknown>) => Promise<Record<string, unknown>>;

/** create → read → update → search → list → summary → delete; @returns the note's id */
async function wholeRound(call: Call, title: string): Promise<string> {
  const created = await call("notes.create", {
    title,
    content: "The token expires too early.",
    note_type: "blocker",
  });
  const note_id = String(created["note_id"]);
  const read = await call("notes.read", { note_id });
  expect(read).toMatchObject({
    metadata: { title, type: "blocker" },
    content: expect.stringContaining("token expires"),
  });
  const updated = await call("notes.update", {
    note_id,
    status: "resolved",
    reason: "fixed by the migration",
  });
  expect(updated["commit"]).not.toBe(created["commit"]);
  const found = await call("notes.search", { query: "token" });
  expect(found["results"]).toEqual(expect.arrayContaining([expect.objectContaining({ note_id })]));
  const listed = await call("notes.list", { note_type: "blocker" });
  expect(listed["notes"]).toEqual(
    expect.arrayContaining([expect.objectContaining({ note_id, status: "resolved" })]),
  );
  expect(await call("notes.summary", {})).toMatchObject({
    type_distribution: { blocker: expect.any(Number) },
  });
  expect(await call("notes.delete", { note_id })).toMatchObject({ note_id, title });
  return note_id;
}

function expectOneCommitEach(noteId: string, title: string): void {
  const log = git(daemon.repo, "log", "--format=%s|%(trailers:key=Note-Id,valueonly,separator=%x2C)").split(
    "\n",
  );
  expect(log.filter((line) => line.endsWith(noteId))).toEqual([
    `delete(blocker): ${title}|${noteId}`,
    `update(blocker): ${title}|${noteId}`,
    `create(blocker): ${title}|${noteId}`,
  ]);
}

function expectCleanRepository(): void {
  expect(git(daemon.repo, "fsck", "--strict", "--no-dangling")).toBe("");
  expect(git(daemon.repo, "status", "--porcelain")).toBe("");
  const commits = git(daemon.repo, "rev-list", "HEAD").split("\n");
  expect(git(daemon.repo, "reflog", "--format=%H", "HEAD").split("\n")).toEqual(commits);
  expect(git(daemon.repo, "reflog", "--format=%H", "main").split("\n")).toEqual(commits);
}

test("rpc-websockets does the whole round, one commit each, and the repository is clean", async () => {
  const client = new Client(daemon.url, { headers: { authorization: `Bearer ${daemon.token}` } });
  await new Promise<void>((resolve) => client.once("open", () => resolve()));
  // The library types results as unknown.
  const call: Call = async (method, params) => (await client.call(method, params)) as Record<string, unknown>;
  const title = "Login returns 500: refresh token";
  const noteId = await wholeRound(call, title);
  client.close();
  expectOneCommitEach(noteId, title);
  expectCleanRepository();
});

test("wscat does the whole round, one commit each, and the repository is clean", async () => {
  const bin = fileURLToPath(new URL("../../node_modules/wscat/bin/wscat", import.meta.url));
  const args = ["--no-color", "--connect", daemon.url, "--header", `authorization:Bearer ${daemon.token}`];
  const child = spawn(process.execPath, [bin, ...args], { stdio: ["pipe", "pipe", "inherit"] });
  const waiting = new Map<number, (reply: Record<string, unknown>) => void>();
  let buffer = "";
  child.stdout.on("data", (chunk) => {
    buffer += String(chunk);
    for (const [match] of buffer.matchAll(/\{"jsonrpc".*\}(?=\r?\n)/g)) {
      // A whole line of the daemon's, as wscat printed it.
      const reply = JSON.parse(match) as { id: number; result: Record<string, unknown> };
      waiting.get(reply.id)?.(reply.result);
      waiting.delete(reply.id);
    }
  });
  // Without a terminal wscat drops lines until it is connected and never says when it is.
  await until("wscat to be connected", () => {
    child.stdin.write('{"jsonrpc":"2.0","id":0,"method":"notes.summary"}\n');
    return buffer !== "";
  });
  let next = 0;
  const call: Call = (method, params) => {
    const id = ++next;
    const reply = new Promise<Record<string, unknown>>((resolve) => waiting.set(id, resolve));
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    return reply;
  };
  const title = "Deploy blocked: missing key";
  const noteId = await wholeRound(call, title);
  child.kill();
  expectOneCommitEach(noteId, title);
  expectCleanRepository();
});

test("the seven calls of the original tool give its own shapes through notes.run", async () => {
  const client = new Client(daemon.url, { headers: { authorization: `Bearer ${daemon.token}` } });
  await new Promise<void>((resolve) => client.once("open", () => resolve()));
  const run = (params: Record<string, unknown>) => client.call("notes.run", params);
  const id = await run({
    action: "create",
    title: "重构项目",
    content: "数据库连接超时",
    note_type: "task_state",
    tags: ["t"],
  });
  expect(id).toMatch(/^note_\d{8}_\d{6}_[a-z2-7]{6}$/);
  expect(await run({ action: "read", note_id: id })).toMatchObject({
    metadata: { id, title: "重构项目", type: "task_state", tags: ["t"] },
    content: expect.stringContaining("连接超时"),
  });
  expect(await run({ action: "update", note_id: id, content: "已解决" })).toMatch(/^[^\n]+$/);
  expect(await run({ action: "search", query: "已解决" })).toEqual([
    expect.objectContaining({ note_id: id }),
  ]);
  expect(await run({ action: "list", note_type: "task_state" })).toEqual([expect.objectContaining({ id })]);
  expect(await run({ action: "summary" })).toMatchObject({
    total_notes: 1,
    type_distribution: { task_state: 1 },
    recent_notes: [{ title: "重构项目", type: "task_state" }],
  });
  expect(await run({ action: "delete", note_id: id })).toMatch(/^[^\n]+$/);
  expect(await run({ action: "list" })).toEqual([]);
  client.close();
});
