/** Memory through a real daemon: WebSocket, HTTP and the command line, and the files that people see. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cliInProcess } from "../support/cli-in-process.ts";
import { git, notesd, openRpc, type Rpc, servedRepo } from "../support/daemon.ts";

const served = servedRepo();
const file = (path: string) => join(served.repo, path);
const cli = (...args: string[]) => notesd([...args, "--repo", served.repo]);
const sockets: Rpc[] = [];
let planner: Rpc;
let token = "";
beforeAll(async () => {
  ({ token } = await served.rpc.call("agent.token", { name: "planner", mcp: true }));
  planner = await openRpc(served.daemon.url, token);
  sockets.push(planner);
});
afterAll(() => {
  for (const socket of sockets) socket.close();
});

test("what one agent saves it recalls in its next session, and another agent sees what is everyone's", async () => {
  await planner.call("notes.save", { key: "color", value: "blue", scope: "agent", pinned: true });
  const saved = await planner.call("notes.save", {
    key: "test command",
    value: "npm test\n",
    scope: "workspace",
  });
  expect(git(served.repo, "log", "-1", "--format=%s%n%an%n%(trailers:key=Note-Id,valueonly)")).toBe(
    `save(workspace): test command\nplanner\n${saved.note_id}`,
  );
  expect(readFileSync(file("memory/workspace/test_20command.md"), "utf8")).toMatch(
    /^---\nid: mem_[a-z2-7]{20}\n.*key: test command\n.*---\n\nnpm test\n\n$/s,
  );
  const again = await openRpc(served.daemon.url, token);
  sockets.push(again);
  expect(await again.call("notes.recall")).toMatchObject({
    notes: [
      { key: "color", value: "blue", pinned: true, agent_name: "planner" },
      { key: "test command", value: "npm test\n" },
    ],
  });
  const other = await served.rpc.call("agent.token", { name: "coder" });
  const reply = await fetch(`${served.daemon.http}/rpc`, {
    method: "POST",
    headers: { authorization: `Bearer ${other.token}` },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "notes.recall", params: {} }),
  });
  expect(await reply.json()).toMatchObject({ result: { notes: [{ key: "test command" }] } });
  expect(git(served.repo, "status", "--porcelain")).toBe("");
});

test("on the command line an agent is --as, and a person names whose notebook it is", async () => {
  const coder = (await served.rpc.call("agent.token", { name: "coder" })).token;
  const run = (who: string, ...args: string[]) =>
    cliInProcess(args, { NOTESD_URL: served.daemon.http, NOTESD_TOKEN: who });
  const person = served.daemon.token;
  const refused = await run(person, "save", "deploy", "by hand", "--scope", "agent");
  expect(refused.code).toBe(2);
  expect(refused.err).toContain("target_agent_id is needed for the scope agent");
  const named = ["--scope", "agent", "--target-agent-id", "coder"];
  expect((await run(person, "save", "deploy", "by hand", ...named)).out).toMatch(/^saved deploy {2}mem_/);
  expect(cli("save", "deploy", "by script", "--scope", "agent", "--as", "coder")).toMatch(/^updated deploy/);
  const { notes } = JSON.parse((await run(coder, "recall", "deploy", "--json")).out);
  expect(notes).toMatchObject([{ key: "deploy", value: "by script", agent_name: "coder", trust: "agent" }]);
  expect((await run(person, "recall", "deploy")).out).toContain("by script");
  await run(coder, "feedback", "save", "tone", "Be short.", "--scope", "workspace", "--why", "asked for");
  expect((await run(person, "feedback", "list")).out).toContain("Why: asked for");
  expect((await run(person, "feedback", "delete", "tone", "--scope", "workspace")).out).toContain("tone");
  expect((await run(person, "feedback", "list")).out).not.toContain("Be short.");
});

test("a hand edit of the words that name a memory is told and not obeyed", async () => {
  const { note_id } = await planner.call("notes.save", { key: "owner", value: "Pat", scope: "agent" });
  const path = "memory/agents/planner/owner.md";
  const edited = readFileSync(file(path), "utf8").replace("agent_name: planner", "agent_name: coder");
  writeFileSync(file(path), edited.replace("key: owner", "key: boss"));
  await served.rpc.call("notes.commit");
  expect(await planner.call("notes.recall", { key: "owner" })).toMatchObject({
    notes: [{ note_id, value: "Pat", agent_name: "planner", trust: "disk" }],
  });
  expect(await planner.call("notes.recall", { key: "boss", filter_agent_id: "all" })).toEqual({ notes: [] });
  const reason = expect.stringMatching(/key says "boss".*agent_name says "coder"/);
  expect((await planner.call("daemon.status")).reported).toEqual([{ path, reason }]);
  expect(await served.rpc.call("daemon.verify")).toMatchObject({
    equal: true,
    problems: [{ kind: "disagrees", path, detail: reason }],
  });
  expect(cli("doctor")).toContain('key says "boss"');
  await planner.call("notes.save", { key: "owner", value: "Ann", scope: "agent" });
  expect(readFileSync(file(path), "utf8")).toMatch(/key: owner\nagent_name: planner\n/);
  expect((await planner.call("daemon.status")).reported).toEqual([]);
});

test("a hand edit of a memory is recalled by its key at once, and one that ends it ends it", async () => {
  await planner.call("notes.save", { key: "place", value: "Bern", scope: "agent" });
  const path = file("memory/agents/planner/place.md");
  const text = readFileSync(path, "utf8");
  writeFileSync(path, text.replace("Bern", "Basel"));
  const recalled = await planner.call("notes.recall", { key: "place" });
  expect(recalled).toMatchObject({ notes: [{ value: expect.stringContaining("Basel"), trust: "disk" }] });
  writeFileSync(path, text.replace("type:", "expires_at: 2020-01-01T00:00:00.000Z\ntype:"));
  expect(await planner.call("notes.recall", { key: "place" })).toEqual({ notes: [] });
});
