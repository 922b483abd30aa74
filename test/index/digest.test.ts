import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { compareInTurns } from "../../src/index/compare.ts";
import { indexOf, noteText } from "../support/notes-at.ts";

test("the digest is the SHA-256 of path NUL blob NUL id LF, by path bytes, quarantined and expired files too", async () => {
  const past = "2000-01-01T00:00:00.000Z";
  const { index } = await indexOf({
    "n/\u{1f600}.md": "x",
    "n/\uffe5.md": noteText({ id: "x", expires_at: past }),
    "n/bad.md": "! bad",
  });
  const files = [...index.files()].sort((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)));
  expect(files.map((file) => file.path)).toEqual(["n/bad.md", "n/\uffe5.md", "n/\u{1f600}.md"]);
  const text = files.map((file) => `${file.path}\0${file.blob}\0${file.noteId}\n`).join("");
  expect(index.digest()).toBe(createHash("sha256").update(text).digest("hex"));
});

test("two indexes that differ in any field or body say where", async () => {
  const long = "x".repeat(500);
  const { index: held } = await indexOf({
    "a.md": `${long}1`,
    "b.md": noteText({ title: "t" }),
    "c.md": "c",
  });
  const { index: other } = await indexOf({ "a.md": `${long}2`, "b.md": noteText({ title: "u" }) });
  const found = held.differences(other).map(({ path, detail }) => `${path} ${detail.split(":")[0]}`);
  expect(found).toEqual([
    "a.md revision",
    "a.md content",
    "b.md title",
    "b.md revision",
    "c.md only in the held index",
  ]);
  expect(held.differences(held)).toEqual([]);
});

test("two indexes are compared in turns as they are at once; one that moves meanwhile ends it", async () => {
  const files = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`n/${n}.md`, `text ${n}`]));
  const { index: held, put } = await indexOf(files);
  const { index: other } = await indexOf({ ...files, "n/7.md": "another", "z.md": "more" });
  expect(await compareInTurns(held, other)).toEqual({
    digest: held.digest(),
    otherDigest: other.digest(),
    differences: held.differences(other),
  });
  function* slowly() {
    const untilMs = performance.now() + 20;
    while (performance.now() < untilMs) yield;
    return other.files();
  }
  const slow = new Proxy(other, {
    get(target, name) {
      if (name === "filesInSteps") return slowly;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const compared = compareInTurns(held, slow);
  await put({ "n/1.md": "moved" }, 30);
  expect(await compared).toBeNull();
});
