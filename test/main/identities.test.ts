import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { agentIdOf } from "../../src/domain/identity.ts";
import { openIdentities } from "../../src/main/identities.ts";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "notesd-identities-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const now = () => Date.parse("2026-11-30T10:15:00Z");
const pat = { name: "Pat", email: "pat@example.org" };

test("an agent's token names it, and only its hash is on disk", async () => {
  const identities = openIdentities(dir, now);
  const added = identities.addAgent({ name: "planner", mcp: false, readOnly: true });
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

test("each call makes a further token of the same agent, however the name is written", () => {
  const identities = openIdentities(dir, now);
  const one = identities.addAgent({ name: "Planner", mcp: false, readOnly: false });
  const two = identities.addAgent({ name: "ＰＬＡＮＮＥＲ", mcp: true, readOnly: false });
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
  expect(() => identities.addAgent({ name: "planner", mcp: false, readOnly: false })).toThrow(
    expect.objectContaining({ code: "CONFLICT" }),
  );
  expect(identities.agents()).toHaveLength(1);
});

test("a revoked agent is no one, and another process sees it at once", () => {
  const here = openIdentities(dir, now);
  const there = openIdentities(dir, now);
  const { token } = here.addAgent({ name: "planner", mcp: false, readOnly: false });
  expect(there.authenticate(token)).toMatchObject({ name: "planner" });
  here.revokeAgent("planner");
  expect(there.authenticate(token)).toBe(null);
  const again = { name: "planner", mcp: false, readOnly: false };
  expect(() => there.useAgent(again)).toThrow(expect.objectContaining({ code: "FORBIDDEN" }));
  expect(here.authenticate(there.addAgent(again).token)).toMatchObject({ name: "planner" });
  here.revokeAgent("planner");
  expect(() => here.revokeAgent("planner")).toThrow(expect.objectContaining({ code: "NOT_FOUND" }));
  expect(() => here.revokeAgent("unheard of")).toThrow(expect.objectContaining({ code: "NOT_FOUND" }));
});

test("the owner's token outlives restarts and follows the name in Git's config", async () => {
  const token = openIdentities(dir, now).ownerToken(pat);
  expect((await stat(join(dir, "token"))).mode & 0o777).toBe(0o600);
  expect(await readFile(join(dir, "token"), "utf8")).toBe(`${token}\n`);
  const later = openIdentities(dir, now);
  expect(later.ownerToken({ ...pat, name: "Pat B" })).toBe(token);
  expect(later.authenticate(token)).toEqual({
    kind: "person",
    name: "Pat B",
    email: "pat@example.org",
    owner: true,
  });
  expect(() => later.revokePerson("pat@example.org")).toThrow(expect.objectContaining({ code: "NOT_FOUND" }));
});

test("further persons have their own tokens and can be revoked", () => {
  const identities = openIdentities(dir, now);
  identities.ownerToken(pat);
  const { token } = identities.addPerson({ name: "Kim", email: "kim@example.org" });
  const kim = { kind: "person", name: "Kim", email: "kim@example.org" };
  expect(identities.authenticate(token)).toEqual(kim);
  expect(identities.persons()).toMatchObject([{ owner: true }, { email: "kim@example.org", owner: false }]);
  identities.revokePerson("kim@example.org");
  expect(identities.authenticate(token)).toBe(null);
});

test.each([
  [{ name: "a\nb", email: "a@b" }],
  [{ name: "a <b>", email: "a@b" }],
  [{ name: "", email: "a@b" }],
  [{ name: "a", email: "no address" }],
  [{ name: "a", email: "a@b>\nauthor x" }],
])("%j could forge a commit's header and is refused", (person) => {
  expect(() => openIdentities(dir, now).addPerson(person)).toThrow(
    expect.objectContaining({ code: "INVALID_PARAMS" }),
  );
});

test("a damaged file is an error that names it, never an empty list", async () => {
  await writeFile(join(dir, "agents.json"), "{");
  expect(() => openIdentities(dir, now).authenticate("x")).toThrow(/agents\.json is damaged/);
});
