/** What people leave in the folder must never stop the rest: odd encodings, odd front matter, files that vanish. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { servedRepo } from "../support/daemon.ts";

const served = servedRepo();

const save = (path: string, bytes: string | Uint8Array) => {
  mkdirSync(join(served.repo, path, ".."), { recursive: true });
  writeFileSync(join(served.repo, path), bytes);
};
const bytesOf = (path: string) => readFileSync(join(served.repo, path));
const titles = async () =>
  (await served.rpc.call("notes.list", {})).notes.map((note: { title: string }) => note.title).sort();

/** 数据 in GBK, which is no UTF-8. */
const GBK = Buffer.from([0x23, 0x20, 0xca, 0xfd, 0xbe, 0xdd, 0x0a]);

test("files without a type, with tags that are numbers, in UTF-16 and in GBK: the rest is listed, found and counted", async () => {
  save("notes/no-type.md", "---\ntitle: No type\n---\n\nfindable\n");
  save("notes/numbers.md", "---\ntitle: Numbers\ntags: [1, 2.10]\n---\n\nfindable\n");
  save("notes/gbk.md", GBK);
  save("notes/utf-16.md", Buffer.from("\ufeff# UTF-16\n", "utf16le"));
  await served.rpc.call("notes.commit", {});
  expect(await titles()).toEqual(["No type", "Numbers"]);
  const { results } = await served.rpc.call("notes.search", { query: "findable" });
  expect(results.map((row: { tags: string[] }) => row.tags).sort()).toEqual([["1", "2.10"], []].sort());
  expect(await served.rpc.call("notes.summary", {})).toMatchObject({
    total_notes: 2,
    type_distribution: { general: 2 },
  });
  const { quarantined, reported } = await served.rpc.call("daemon.status");
  const told = [...quarantined, ...reported].map(
    (one: { path: string; reason: string }) => `${one.path}: ${one.reason}`,
  );
  expect(told.join("\n")).toMatch(/notes\/gbk\.md: .*UTF-8/);
  expect(told.join("\n")).toMatch(/notes\/utf-16\.md: .*UTF-(?:8|16)/);
  expect(bytesOf("notes/gbk.md").equals(GBK)).toBe(true);
});

test("a file that a person deletes is gone from list, search and summary, and can't be deleted twice", async () => {
  save("notes/short.md", "# Short-lived\n");
  await served.rpc.call("notes.commit", {});
  const { results } = await served.rpc.call("notes.search", { query: "Short-lived" });
  const note_id = results[0].note_id;
  rmSync(join(served.repo, "notes/short.md"));
  await served.rpc.call("notes.commit", {});
  expect(await titles()).not.toContain("Short-lived");
  expect((await served.rpc.reply("notes.delete", { note_id })).error).toMatchObject({ code: 404 });
});

test("a note made without tags takes an update; one that is refused changes neither file nor index", async () => {
  const made = await served.rpc.call("notes.create", { title: "Without tags", content: "one" });
  const updated = await served.rpc.call("notes.update", {
    note_id: made.note_id,
    tags: ["now"],
    content: "two",
  });
  expect((await served.rpc.call("notes.read", { note_id: made.note_id })).metadata).toMatchObject({
    tags: ["now"],
    revision: updated.revision,
  });
  const before = bytesOf(made.path);
  const refused = await served.rpc.reply("notes.update", {
    note_id: made.note_id,
    content: "x".repeat(300_000),
  });
  expect(refused.error).toMatchObject({ code: 413 });
  expect(bytesOf(made.path).equals(before)).toBe(true);
  expect((await served.rpc.call("notes.read", { note_id: made.note_id })).content).toBe("two");
});

test("an update of a file with broken front matter is refused with its line, and not one byte changes", async () => {
  const broken = '---\nid: broken-one\ntitle: "never closed\ntags: [a\n---\n\nbody\n';
  save("notes/broken.md", broken);
  await served.rpc.call("notes.commit", {});
  const status = await served.rpc.call("daemon.status");
  const entry = status.quarantined.find((one: { path: string }) => one.path === "notes/broken.md");
  expect(entry).toMatchObject({ line: expect.any(Number), reason: expect.stringMatching(/.{10}/) });
  const { results } = await served.rpc.call("notes.search", { query: "never closed" });
  const { error } = await served.rpc.reply("notes.update", {
    note_id: results[0].note_id,
    status: "resolved",
  });
  expect(error).toMatchObject({ code: 422, data: { code: "INVALID_NOTE", path: "notes/broken.md" } });
  expect(bytesOf("notes/broken.md").toString()).toBe(broken);
});
