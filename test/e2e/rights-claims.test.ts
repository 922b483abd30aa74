/**
 * What a file or a commit claims about its author gives nobody a right: only proved history does, and of memory its path.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { agentIdOf, markName } from "../../src/domain/identity.ts";
import { git, notesd, openRpc, type Rpc, removeFolder, servedRepo, tempFolder } from "../support/daemon.ts";
import { cloneFrom, gitUrl } from "../support/pusher.ts";
import { saveFile } from "../support/save-file.ts";

const served = servedRepo();
const folder = tempFolder();
const sockets: Rpc[] = [];
let planner: Rpc;
let coder: Rpc;
beforeAll(async () => {
  for (const name of ["planner", "coder"])
    sockets.push(await openRpc(served.daemon.url, (await served.rpc.call("agent.token", { name })).token));
  [planner, coder] = sockets as [Rpc, Rpc]; // two were just opened
});
afterAll(() => {
  for (const socket of sockets) socket.close();
  removeFolder(folder);
});

const CODERS = `agent_id: ${agentIdOf("coder")}\nagent_name: coder\n`;
const file = (words: string) => `---\n${words}---\n\ntext\n`;
const refusal = async (rpc: Rpc, method: string, params: Record<string, unknown>) =>
  (await rpc.reply(method, params)).error?.data["reason"];

/** A person saves a file, and it is committed. @returns the note's id */
async function saved(path: string, text: string): Promise<string> {
  saveFile(served.repo, path, text);
  await served.rpc.call("notes.commit", { paths: [path] });
  const { notes } = await served.rpc.call("notes.list", { filter_agent_id: "all", limit: 100 });
  return notes.find((note: { path: string }) => note.path === path).note_id;
}

test("a typed note that a person saved is a person's, whoever its file names", async () => {
  const note_id = await saved("notes/claim.md", file(`title: Claim\n${CODERS}`));
  expect(await refusal(coder, "notes.delete", { note_id })).toBe("not_author");
  expect(await refusal(coder, "notes.update", { note_id, pinned: true })).toBe("not_author");
  expect(await refusal(coder, "notes.update", { note_id, expires_in_hours: 1 })).toBe("not_author");
  expect(await refusal(coder, "notes.append", { note_id, content: "more" })).toBe(undefined);
});

test("words of memory make no memory of a file elsewhere: every agent goes on writing it", async () => {
  const note_id = await saved("notes/no-memory.md", file(`title: T\nkey: k\nscope: agent\n${CODERS}`));
  expect(await refusal(planner, "notes.update", { note_id, content: "by planner" })).toBe(undefined);
  expect(await refusal(coder, "notes.delete", { note_id })).toBe("not_author");
});

test("memory of the workspace is its maker's, and a notebook its path's, whoever the file names", async () => {
  const everyones = await saved("memory/workspace/claimed.md", file(`key: claimed\nscope: agent\n${CODERS}`));
  expect(await refusal(coder, "notes.delete", { note_id: everyones })).toBe("not_maker");
  const planners = await saved(
    "memory/agents/planner/claimed.md",
    file(`key: claimed\nscope: agent\n${CODERS}`),
  );
  expect(await refusal(coder, "notes.update", { note_id: planners, content: "x" })).toBe("other_memory");
  expect(await refusal(planner, "notes.update", { note_id: planners, content: "x" })).toBe(undefined);
  expect(await refusal(planner, "notes.delete", { note_id: planners })).toBe(undefined);
});

test("a note stays its author's when somebody edits its file to say otherwise", async () => {
  const { note_id, path } = await planner.call("notes.create", { title: "Mine", content: "text" });
  const at = join(served.repo, path);
  writeFileSync(
    at,
    readFileSync(at, "utf8")
      .replace(/agent_(?:id|name): .*\n/g, "")
      .replace("---\n", `---\n${CODERS}`),
  );
  await served.rpc.call("notes.commit");
  expect(await refusal(coder, "notes.delete", { note_id })).toBe("not_author");
  expect(await refusal(planner, "notes.delete", { note_id })).toBe(undefined);
});

test("a pushed commit that claims an agent in its trailers and a proof gives that agent nothing", async () => {
  const clone = await cloneFrom(gitUrl(served.daemon, served.daemon.token), join(folder, "clone"));
  const id = "note_20261130_101500_forged";
  const trailers = [
    ...[`Note-Id: ${id}`, "Note-Action: create", "Note-Type: general", "Note-Source: api", "Agent: coder"],
    ...[`Agent-Id: ${agentIdOf("coder")}`, `Note-Proof: ${"a".repeat(64)}`],
  ];
  const message = `create(general): Forged\n\n${trailers.join("\n")}\n`;
  clone.commit({ "notes/forged.md": file(`id: ${id}\ntitle: Forged\n${CODERS}`) }, message);
  expect(await clone.run("push")).toMatchObject({ code: 0 });
  const { metadata } = await coder.call("notes.read", { note_id: id });
  expect(metadata).toMatchObject({ trust: "pushed", agent_id: null, agent_name: null });
  expect(await refusal(coder, "notes.delete", { note_id: id })).toBe("not_author");
});

test("each person's mark is their own: nothing that one sends moves another's", async () => {
  const added = JSON.parse(
    notesd(["person", "add", "Kim", "--email", "kim@example.org", "--json", "--repo", served.repo]),
  );
  const kim = await openRpc(served.daemon.url, added.token);
  sockets.push(kim);
  const marks = () =>
    git(served.repo, "for-each-ref", "--format=%(refname:lstrip=3) %(objectname)", "refs/notesd/review")
      .split("\n")
      .filter(Boolean);
  await served.rpc.call("notes.review", { mark: true });
  const [pats] = marks();
  expect(pats).toMatch(new RegExp(`^${markName("pat@example.com")} `));
  await kim.call("notes.create", { title: "New", content: "text" });
  await kim.call("notes.review", { mark: true });
  expect(marks()).toHaveLength(2);
  expect(marks()).toContain(pats);
  expect(marks().find((mark) => mark !== pats)).toMatch(new RegExp(`^${markName("kim@example.org")} `));
});
