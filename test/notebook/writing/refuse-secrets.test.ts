/** No write puts a secret into history, whatever part of it holds one; what is no new secret stands in nobody's way. */
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Change } from "../../../src/domain/change.ts";
import type { NotesError } from "../../../src/domain/errors.ts";
import type { Caller } from "../../../src/domain/principal.ts";
import { ada, caller, planner } from "../../support/call.ts";
import { agent, openTestNotebook, type TestNotebook } from "../../support/open-notebook.ts";
import { secretSpecimens } from "../../support/secret-specimens.ts";

let opened: TestNotebook;
beforeEach(async () => {
  opened = await openTestNotebook();
});
afterEach(() => opened.dispose());

const as = (principal: typeof ada | typeof planner = planner) => caller(opened.notebook, principal);
const token = () => secretSpecimens()[0]?.text ?? "";
const fingerprintIn = ({ data }: NotesError) => {
  const [match] = data["matches"] as { fingerprint: string }[];
  return match?.fingerprint ?? "";
};
const head = async () => (await opened.notebook.status()).head;

async function refused(method: string, params: Record<string, unknown>): Promise<NotesError> {
  const before = await head();
  const error = await as().fails(method, params);
  expect(error).toMatchObject({ code: "SECRET_REFUSED" });
  expect(await head()).toBe(before);
  return error;
}

test.each(secretSpecimens())(
  "a note with a $kind ($of) is refused with kind and line",
  async ({ kind, text }) => {
    const error = await refused("notes.create", { title: "Keys", content: `One line.\n\n${text}\n` });
    const { matches } = error.data as { matches: { kind: string; line: number; fingerprint: string }[] };
    expect(matches).toEqual([
      { kind, line: expect.any(Number), fingerprint: expect.stringMatching(/^[0-9a-f]{16}$/) },
    ]);
    for (const piece of text.split(/\s+/).filter((word) => word.length > 20))
      expect(JSON.stringify([error.message, error.data])).not.toContain(piece);
  },
);

test("the line is the file's", async () => {
  const { note_id } = await as().call("notes.create", { title: "A", content: "one\n" });
  const { data } = await refused("notes.append", { note_id, content: `two\n${token()}\n` });
  expect(data["matches"]).toMatchObject([{ kind: "github-token", line: expect.any(Number) }]);
  const { path } = (await as().call("notes.read", { note_id })).metadata as { path: string };
  expect(path).toMatch(/\.md$/);
});

test("every part of a write is looked at", async () => {
  const { note_id } = await as().call("notes.create", { title: "A", content: "x" });
  const secret = token();
  for (const [method, params, where] of [
    ["notes.create", { title: secret, content: "x" }, undefined],
    ["notes.create", { title: "A", content: "x", tags: [secret] }, undefined],
    ["notes.create", { title: "A", content: "x", extra: { token: secret } }, undefined],
    ["notes.create", { title: "A", content: "x", extra: { said: `a "quoted"\n${secret}` } }, undefined],
    ["notes.create", { title: "A", content: "x", folder: `notes/${secret}` }, "path"],
    ["notes.create", { title: "A", content: "x", reason: `with ${secret}` }, "reason"],
    ["notes.update", { note_id, content: secret }, undefined],
    ["notes.update", { note_id, tags: ["a", secret] }, undefined],
    ["notes.update", { note_id, "extra.token": secret }, undefined],
    ["notes.append", { note_id, content: secret }, undefined],
    ["notes.edit", { note_id, old_str: "x", new_str: secret }, undefined],
    ["notes.delete", { note_id, reason: secret }, "reason"],
  ] as const) {
    const { data } = await refused(method, params);
    const matches = data["matches"] as { kind: string; line: number; where?: string }[];
    expect([method, params, matches.map((match) => match.where ?? "file")]).toEqual([
      method,
      params,
      expect.arrayContaining([where ?? "file"]),
    ]);
  }
});

test("a token that an edit or an append completes is seen across old and new text", async () => {
  const secret = token();
  const { note_id } = await as().call("notes.create", { title: "A", content: `key: ${secret.slice(0, 20)}` });
  await refused("notes.edit", { note_id, old_str: secret.slice(10, 20), new_str: secret.slice(10) });
  const { note_id: other } = await as().call("notes.create", {
    title: "B",
    content: `${secret.slice(0, 9)}@`,
  });
  await refused("notes.edit", { note_id: other, old_str: "@", new_str: secret.slice(9) });
});

test("a session's name and an agent's name go into commits, and are looked at too", async () => {
  const change: Change = {
    kind: "create",
    ...{ title: "A", content: "x", noteType: "general", tags: [], extra: {} },
    ...{ pinned: false, expiresInHours: null, folder: null },
  };
  const write = (who: Caller) => opened.notebook.write({ change, reason: null, idempotency: null }, who);
  const secret = token();
  await expect(write({ ...agent("planner"), session: secret })).rejects.toMatchObject({
    data: { matches: [{ where: "session", line: 0 }] },
  });
  await expect(write(agent(secret))).rejects.toMatchObject({ data: { matches: [{ where: "author" }] } });
  await write(agent("planner"));
});

test("of several writes at once only the one with a secret drops out, in order", async () => {
  const { call, fails } = as();
  const { note_id } = await call("notes.create", { title: "A", content: "0\n" });
  const [, , refusal] = await Promise.all([
    call("notes.append", { note_id, content: "1" }),
    call("notes.create", { title: "B", content: "b" }),
    fails("notes.append", { note_id, content: token() }),
    call("notes.append", { note_id, content: "2" }),
  ]);
  expect(refusal.code).toBe("SECRET_REFUSED");
  expect((await call("notes.read", { note_id })).content).toBe("0\n1\n2");
});

test("a refusal is not remembered: the key serves the same request once it is allowed, and another after it", async () => {
  const params = { title: "A", content: token(), idempotency_key: "k" };
  const error = await refused("notes.create", params);
  expect(await as().fails("notes.create", params)).toMatchObject({ code: "SECRET_REFUSED" });
  const fingerprint = fingerprintIn(error);
  appendFileSync(join(opened.stateDir, "allowed"), `${fingerprint}\n`);
  const created = await as().call("notes.create", params);
  expect(created).toMatchObject({ note_id: expect.any(String) });
  expect(await as().call("notes.create", params)).toMatchObject({
    commit: created["commit"],
    replayed: true,
  });
});

test("a value that the note holds in history already refuses no edit of it, a new one does, in another note as well", async () => {
  const secret = token();
  const error = await refused("notes.create", { title: "A", content: secret });
  const fingerprint = fingerprintIn(error);
  const allowed = join(opened.stateDir, "allowed");
  appendFileSync(allowed, `${fingerprint}\n`);
  const { note_id } = await as().call("notes.create", { title: "A", content: `${secret}\n` });
  appendFileSync(allowed, "");
  const { allowedSecrets } = await import("../../../src/notebook/secrets/allowed.ts");
  await allowedSecrets(opened.stateDir, () => 0).remove(fingerprint);
  await as().call("notes.append", { note_id, content: "more" });
  await as().call("notes.edit", { note_id, old_str: "more", new_str: `less, ${secret}` });
  await refused("notes.append", { note_id, content: token() });
  await refused("notes.create", { title: "B", content: secret });
  await as(ada).call("notes.delete", { note_id });
  await refused("notes.create", { title: "C", content: secret });
});

test("a restore brings no secret back that the note lost", async () => {
  const { call } = as();
  const secret = token();
  const error = await refused("notes.create", { title: "A", content: secret });
  const fingerprint = fingerprintIn(error);
  appendFileSync(join(opened.stateDir, "allowed"), `${fingerprint}\n`);
  const { note_id, commit } = await call("notes.create", { title: "A", content: secret });
  await call("notes.update", { note_id, content: "gone" });
  const { allowedSecrets } = await import("../../../src/notebook/secrets/allowed.ts");
  await allowedSecrets(opened.stateDir, () => 0).remove(fingerprint);
  await refused("notes.restore", { note_id, at: commit });
});

test("memory, feedback and the memory tool come the same way", async () => {
  const { call } = as();
  const secret = token();
  for (const [method, params] of [
    ["notes.save", { key: "k", value: `one\n${secret}`, scope: "agent" }],
    ["notes.save", { key: secret, value: "v", scope: "workspace" }],
    ["notes.save", { key: "k", value: "v", scope: "thread", scope_ref_id: secret }],
    ["feedback.save", { key: "k", rule: "r", scope: "agent", why: secret }],
    ["memory.run", { command: "create", path: "/memories/a.md", file_text: secret }],
    ["notes.run", { action: "create", title: "A", content: secret }],
  ] as const) {
    const { data } = await refused(method, params);
    expect([method, data["matches"]]).toEqual([method, [expect.objectContaining({ kind: "github-token" })]]);
    expect(JSON.stringify(data)).not.toContain(secret);
  }
  await call("notes.save", { key: "k", value: "v", scope: "agent" });
  await refused("notes.save", { key: "k", value: secret, scope: "agent" });
  expect(await call("notes.recall", { key: "k" })).toMatchObject({ notes: [{ value: "v" }] });
});
