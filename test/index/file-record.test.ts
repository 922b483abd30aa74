import { expect, test } from "vitest";
import { readRecord, writeRecord } from "../../src/index/file-record.ts";
import type { ParsedFile } from "../../src/index/parsed-file.ts";

const brief = { title: "t", type: "general", tags: [], claim: null };
const said: NonNullable<ParsedFile["said"]> = {
  createdAt: null,
  updatedAt: null,
  status: "open",
  scope: "workspace",
  scopeRefId: null,
  key: null,
  agentId: null,
  agentName: null,
  pinned: false,
  expiresAt: null,
  extra: {},
};

test.each<[string, ParsedFile]>([
  ["nothing", { brief, said, trouble: null, body: "" }],
  [
    "a text with characters of all kinds",
    { brief, said, trouble: null, body: "\ufeffé 数据 \u{1f600}\r\n\0" },
  ],
  ["half a character", { brief, said, trouble: null, body: "\ud800 x" }],
  ["a file that can't be read", { brief, said: null, trouble: { line: 3, reason: "why" }, body: "---\nx" }],
  [
    "everything",
    {
      brief,
      trouble: null,
      body: "x",
      said: {
        createdAt: "2026-11-30T10:15:00.000Z",
        updatedAt: "2026-11-30T10:15:00Z",
        expiresAt: "not a time",
        status: "resolved",
        scope: "thread",
        scopeRefId: "\ud800",
        key: "",
        agentId: 0,
        agentName: "",
        pinned: true,
        extra: { a: [1, null, { b: "x" }], c: "" },
      },
    },
  ],
])("%s comes back as it was", (_, file) => {
  const { said: saidBack, trouble, body } = readRecord(Buffer.from(writeRecord(file)), brief);
  expect({ brief, said: saidBack, trouble, body }).toEqual(file);
});
