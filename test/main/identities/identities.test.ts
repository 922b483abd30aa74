import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { keptTokenFile } from "../../../src/client/discover.ts";
import { agentIdOf } from "../../../src/domain/identity.ts";
import { takeProcessLock } from "../../../src/lib/process-lock.ts";
import { openIdentities } from "../../../src/main/identities/identities.ts";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "notesd-identities-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const now = () => Date.parse("2026-11-30T10:15:00Z");
const pat = { name: "Pat", email: "pat@example.org" };

test("an agent's token names it, and only its hash is on disk", async () => {
  const identities = openIdentities(dir, now);
  const added = await identities.addAgent({ name: "planner", mcp: false, readOnly: true });
  expect(added).toMatchObject({ agent: "planner", agent_id: agentIdOf("planner") });
  expect(identities.authenticate(added.token)).toEqual({
    kind: "agent",
    name: "planner",
    agentId: added.agent_id,
    readOnly: true,
    mcp: false,
  });
  expect(await readFile(join(dir, "agents.json"), "utf8")).not.toContain(added.token);
  expect((await stat(join(dir, "agents.json"))).mode & 0o777).toBe(0o600);
  expect(identities.authenticate(`${added.token}x`)).toBe(null);
  expect(identities.authenticate("")).toBe(null);
});

test("each call makes a further token of the same agent, however the name is written", async () => {
  const identities = openIdentities(dir, now);
  const one = await identities.addAgent({ name: "Planner", mcp: false, readOnly: false });
  const two = await identities.addAgent({ name: "ＰＬＡＮＮＥＲ", mcp: true, readOnly: false });
  expect(two).toMatchObject({ agent: "Planner", agent_id: one.agent_id });
  expect(two.token).not.toBe(one.token);
  expect(identities.authenticate(one.token)).toMatchObject({ name: "Planner", mcp: false });
  expect(identities.authenticate(two.token)).toMatchObject({ name: "Planner", mcp: true });
  expect(identities.agents()).toMatchObject([{ agent: "Planner", tokens: 2 }]);
});

test("two names with one id clash and the second is refused", async () => {
  const id = agentIdOf("planner");
  await writeFile(
    join(dir, "agents.json"),
    JSON.stringify({ agents: [{ name: "someone else", agent_id: id, tokens: [] }] }),
  );
  const identities = openIdentities(dir, now);
  await expect(identities.addAgent({ name: "planner", mcp: false, readOnly: false })).rejects.toThrow(
    expect.objectContaining({ code: "CONFLICT" }),
  );
  expect(identities.agents()).toHaveLength(1);
});

test("a revoked agent is no one, and another process sees it at once", async () => {
  const here = openIdentities(dir, now);
  const there = openIdentities(dir, now);
  const { token } = await here.addAgent({ name: "planner", mcp: false, readOnly: false });
  expect(there.authenticate(token)).toMatchObject({ name: "planner" });
  await here.revokeAgent("planner");
  expect(there.authenticate(token)).toBe(null);
  const again = { name: "planner", mcp: false, readOnly: false };
  await expect(there.useAgent(again)).rejects.toThrow(expect.objectContaining({ code: "FORBIDDEN" }));
  expect(here.authenticate((await there.addAgent(again)).token)).toMatchObject({ name: "planner" });
  await here.revokeAgent("planner");
  await expect(here.revokeAgent("planner")).rejects.toThrow(expect.objectContaining({ code: "NOT_FOUND" }));
  await expect(here.revokeAgent("unheard of")).rejects.toThrow(
    expect.objectContaining({ code: "NOT_FOUND" }),
  );
});

test("the owner's token outlives restarts and follows the name in Git's config", async () => {
  const token = await openIdentities(dir, now).ownerToken(pat);
  expect((await stat(join(dir, "token"))).mode & 0o777).toBe(0o600);
  expect(await readFile(join(dir, "token"), "utf8")).toBe(`${token}\n`);
  const later = openIdentities(dir, now);
  expect(await later.ownerToken({ ...pat, name: "Pat B" })).toBe(token);
  expect(later.authenticate(token)).toEqual({
    kind: "person",
    name: "Pat B",
    email: "pat@example.org",
    owner: true,
  });
  await expect(later.revokePerson("pat@example.org")).rejects.toThrow(
    expect.objectContaining({ code: "NOT_FOUND" }),
  );
});

test("nobody is added under the owner's address, in whatever case", async () => {
  const identities = openIdentities(dir, now);
  await identities.ownerToken(pat);
  await expect(identities.addPerson({ name: "Evil", email: pat.email.toUpperCase() })).rejects.toMatchObject({
    code: "INVALID_PARAMS",
    message: expect.stringContaining("person rotate"),
  });
  expect(identities.persons()).toHaveLength(1);
});

test("further persons have their own tokens and can be revoked", async () => {
  const identities = openIdentities(dir, now);
  await identities.ownerToken(pat);
  const { token } = await identities.addPerson({ name: "Kim", email: "kim@example.org" });
  const kim = { kind: "person", name: "Kim", email: "kim@example.org" };
  expect(identities.authenticate(token)).toEqual(kim);
  expect(identities.persons()).toMatchObject([{ owner: true }, { email: "kim@example.org", owner: false }]);
  await identities.revokePerson("kim@example.org");
  expect(identities.authenticate(token)).toBe(null);
});

test.each([
  [{ name: "a\nb", email: "a@b" }],
  [{ name: "a <b>", email: "a@b" }],
  [{ name: "", email: "a@b" }],
  [{ name: "a", email: "no address" }],
  [{ name: "a", email: "a@b>\nauthor x" }],
])("%j could forge a commit's header and is refused", async (person) => {
  await expect(openIdentities(dir, now).addPerson(person)).rejects.toThrow(
    expect.objectContaining({ code: "INVALID_PARAMS" }),
  );
});

test("a damaged file is an error that names it, never an empty list", async () => {
  await writeFile(join(dir, "agents.json"), "{");
  expect(() => openIdentities(dir, now).authenticate("x")).toThrow(/agents\.json is damaged/);
});

test("one of an agent's tokens is revoked by its id, and the agent is not: its name may be used again", async () => {
  const identities = openIdentities(dir, now);
  const wish = { name: "planner", mcp: false, readOnly: false };
  const [one, two] = [(await identities.addAgent(wish)).token, (await identities.addAgent(wish)).token];
  const [{ token_list } = { token_list: [] }] = identities.agents();
  await identities.revokeAgent("planner", token_list[0]?.id);
  expect(identities.authenticate(one)).toBe(null);
  expect(identities.authenticate(two)).toMatchObject({ name: "planner" });
  await expect(identities.revokeAgent("planner", token_list[0]?.id)).rejects.toThrow(/no token/);
  await identities.revokeAgent("planner", token_list[1]?.id);
  expect(identities.agents()).toMatchObject([{ tokens: 0, revoked: false }]);
  expect(identities.authenticate((await identities.useAgent(wish)).token)).toMatchObject({ name: "planner" });
  // One without a token can be kept out too.
  await identities.revokeAgent("planner");
  await expect(identities.useAgent(wish)).rejects.toThrow(expect.objectContaining({ code: "FORBIDDEN" }));
});

test("a rotated agent has one token, which may no more than its tokens did", async () => {
  const identities = openIdentities(dir, now);
  const readers = await Promise.all(
    ["a", "b"].map(() => identities.addAgent({ name: "reader", mcp: true, readOnly: true })),
  );
  const { token } = await identities.rotateAgent("reader");
  for (const old of readers) expect(identities.authenticate(old.token)).toBe(null);
  expect(identities.authenticate(token)).toMatchObject({ name: "reader", readOnly: true, mcp: true });
  await identities.addAgent({ name: "reader", mcp: false, readOnly: false });
  const next = (await identities.rotateAgent("reader")).token;
  expect(identities.authenticate(next)).toMatchObject({ readOnly: false, mcp: false });
  await identities.revokeAgent("reader");
  await expect(identities.rotateAgent("reader")).rejects.toThrow(
    expect.objectContaining({ code: "NOT_FOUND" }),
  );
});

test("the token that a client keeps of an agent goes when it ends, and no other", async () => {
  const identities = openIdentities(dir, now);
  const wish = { name: "planner", mcp: false, readOnly: false };
  const [kept, other] = [(await identities.useAgent(wish)).token, (await identities.addAgent(wish)).token];
  const file = keptTokenFile(dir, "planner");
  await mkdir(join(file, ".."));
  await writeFile(file, `${kept}\n`);
  const [{ token_list } = { token_list: [] }] = identities.agents();
  await identities.revokeAgent("planner", token_list[1]?.id);
  expect(identities.authenticate(other)).toBe(null);
  expect(await readFile(file, "utf8")).toBe(`${kept}\n`);
  await identities.rotateAgent("planner");
  await expect(readFile(file)).rejects.toMatchObject({ code: "ENOENT" });
});

test("a rotated person has a new token; the owner's lies in the file, and a start keeps it", async () => {
  const identities = openIdentities(dir, now);
  const first = await identities.ownerToken(pat);
  const { token: kims } = await identities.addPerson({ name: "Kim", email: "kim@example.org" });
  const rotated = await identities.rotatePerson("Pat");
  expect(rotated).toMatchObject({ owner: true, email: pat.email });
  expect(identities.authenticate(first)).toBe(null);
  expect(identities.authenticate(rotated.token)).toMatchObject({ name: "Pat", owner: true });
  expect(await readFile(join(dir, "token"), "utf8")).toBe(`${rotated.token}\n`);
  expect((await stat(join(dir, "token"))).mode & 0o777).toBe(0o600);
  expect(await openIdentities(dir, now).ownerToken(pat)).toBe(rotated.token);
  const hers = await identities.rotatePerson("kim@example.org");
  expect(identities.authenticate(kims)).toBe(null);
  expect(identities.authenticate(hers.token)).toMatchObject({ name: "Kim" });
  expect(identities.persons().map(({ tokens }) => tokens)).toEqual([1, 1]);
});

test("a rotation that a crash cut short leaves the owner with the token of the file, and no other", async () => {
  const identities = openIdentities(dir, now);
  const first = await identities.ownerToken(pat);
  await identities.rotatePerson("Pat");
  // As if the new token had not reached its file: both are in persons.json until then.
  await writeFile(join(dir, "token"), `${first}\n`);
  const later = openIdentities(dir, now);
  expect(await later.ownerToken(pat)).toBe(first);
  expect(later.persons()).toMatchObject([{ owner: true, tokens: 1 }]);
  expect(later.authenticate(first)).toMatchObject({ owner: true });
});

test("of two persons of one name the address says which is meant", async () => {
  const identities = openIdentities(dir, now);
  for (const email of ["a@example.org", "b@example.org"]) await identities.addPerson({ name: "Sam", email });
  await expect(identities.revokePerson("Sam")).rejects.toThrow(expect.objectContaining({ code: "CONFLICT" }));
  await identities.revokePerson("b@example.org");
  expect(identities.persons()).toMatchObject([{ email: "a@example.org" }]);
  await identities.revokePerson("Sam");
  expect(identities.persons()).toEqual([]);
});

test("when a token was last used is kept now and then, and goes with the token", async () => {
  let nowMs = now();
  const identities = openIdentities(dir, () => nowMs);
  const wish = { name: "planner", mcp: false, readOnly: false };
  const [one, two] = [(await identities.addAgent(wish)).token, (await identities.addAgent(wish)).token];
  nowMs += 60_000;
  identities.authenticate(one);
  await identities.flush();
  const used = () =>
    openIdentities(dir, now)
      .agents()[0]
      ?.token_list.map((token) => token.last_used_at);
  expect(used()).toEqual(["2026-11-30T10:16:00.000Z", null]);
  identities.authenticate(two);
  await identities.rotateAgent("planner");
  identities.authenticate(two);
  await identities.flush();
  expect(used()).toEqual([null]);
  expect(await readFile(join(dir, "last-used.json"), "utf8")).toBe("{}\n");
});

test("what a killed command left is in nobody's way", async () => {
  await writeFile(join(dir, "agents.json.lock"), "");
  await mkdir(join(dir, "identities.lock"));
  await writeFile(join(dir, `identities.lock/lock.${"a".repeat(24)}`), '{"pid":1}');
  const identities = openIdentities(dir, now, 0);
  expect(await identities.addAgent({ name: "planner", mcp: false, readOnly: false })).toMatchObject({
    agent: "planner",
  });
});

test("while another process is at it a change waits without blocking, and ends in an answer to try again", async () => {
  const attempt = await takeProcessLock(join(dir, "identities.lock"));
  if (attempt.kind !== "taken") throw new Error("nobody else has it");
  const wish = { name: "planner", mcp: false, readOnly: false };
  await expect(openIdentities(dir, now, 0).useAgent(wish)).rejects.toMatchObject({
    code: "REPO_BUSY",
    data: { retry_after_ms: 1_000 },
  });
  const identities = openIdentities(dir, now);
  const waits = identities.useAgent(wish);
  // The loop turns meanwhile: else the lock would never be given back.
  setTimeout(() => attempt.lock.release(), 30);
  expect(identities.authenticate((await waits).token)).toMatchObject({ name: "planner" });
});

test("of changes that several make at once none is lost, and a revocation stays", async () => {
  const opened = Array.from({ length: 4 }, () => openIdentities(dir, now));
  const { token } = await openIdentities(dir, now).addAgent({ name: "old", mcp: false, readOnly: false });
  const add = (at: number) => opened[at % 4]?.addAgent({ name: `agent ${at}`, mcp: false, readOnly: false });
  await Promise.all([...Array.from({ length: 6 }, (_, at) => add(at)), opened[0]?.revokeAgent("old")]);
  const after = openIdentities(dir, now);
  expect(after.agents().map(({ agent }) => agent)).toEqual(
    expect.arrayContaining(Array.from({ length: 6 }, (_, at) => `agent ${at}`)),
  );
  expect(after.authenticate(token)).toBe(null);
});

test("an agent's name is known by its id, also when it was revoked or another process made it", async () => {
  const [here, there] = [openIdentities(dir, now), openIdentities(dir, now)];
  expect(here.agentName(agentIdOf("planner"))).toBe(null);
  await there.addAgent({ name: "Planner", mcp: false, readOnly: false });
  expect(here.agentName(agentIdOf("planner"))).toBe("Planner");
  await there.revokeAgent("planner");
  expect(here.agentName(agentIdOf("planner"))).toBe("Planner");
});

test("nobody is an agent by their address", async () => {
  await expect(
    openIdentities(dir, now).addPerson({ name: "planner", email: "planner@agents.notesd.invalid" }),
  ).rejects.toThrow(expect.objectContaining({ code: "INVALID_PARAMS" }));
});
