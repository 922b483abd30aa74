import fc from "fast-check";
import { expect, test } from "vitest";
import { agentIdOf } from "../../src/domain/identity.ts";
import { NOTE_TYPES } from "../../src/domain/note.ts";
import { type NoteFields, readNoteFile } from "../../src/domain/note-file.ts";

const types = new Set(Object.keys(NOTE_TYPES));
const bytes = (text: string) => Buffer.from(text);

function read(text: string, path = "notes/a file.md") {
  const file = readNoteFile(path, bytes(text), types);
  if (file.kind === "quarantined") throw new Error(`quarantined: ${file.reason}`);
  return file;
}
const fields = (block: string, path?: string): NoteFields => read(`---\n${block}\n---\n`, path).fields;

test("a note of ours is read with every field", () => {
  const file = read(
    `---\nid: note_20261130_101500_k3vq7a\ntitle: "Login returns 500: refresh token"\ntype: blocker\ntags: [auth, urgent]\ncreated_at: 2026-11-30T10:15:00.000Z\nupdated_at: 2026-11-30T10:15:00.000Z\nstatus: resolved\nagent_id: 7\nagent_name: planner\npinned: true\nexpires_at: 2027-01-01\ndoi: 10.10\n---\n\nbody\n`,
  );
  expect(file.fields).toEqual({
    id: "note_20261130_101500_k3vq7a",
    title: "Login returns 500: refresh token",
    type: "blocker",
    tags: ["auth", "urgent"],
    createdAt: "2026-11-30T10:15:00.000Z",
    updatedAt: "2026-11-30T10:15:00.000Z",
    status: "resolved",
    scope: "workspace",
    scopeRefId: null,
    key: null,
    agentId: 7,
    agentName: "planner",
    pinned: true,
    expiresAt: "2027-01-01T00:00:00.000Z",
    extra: { doi: "10.10" },
  });
  expect(file.body).toBe("body");
  expect(file.bodyLine).toBe(16);
  expect(file.text.slice(file.bodyOffset)).toBe("body\n");
});

test("a person's file is a note: title from the first heading, else the name, dates from history", () => {
  const file = read("some text\n\n```\n# no\n```\n## The *plan*\n");
  expect(file.fields).toMatchObject({
    id: null,
    title: "The *plan*",
    type: "general",
    tags: [],
    createdAt: null,
    updatedAt: null,
    status: "open",
    extra: {},
  });
  expect(file.body).toBe("some text\n\n```\n# no\n```\n## The *plan*");
  expect(read("x", "notes/my plan.md").fields.title).toBe("my plan");
  expect(read("", "notes/empty.md").fields.title).toBe("empty");
  expect(fields("type: null\nstatus:\ntitle: ~", "notes/n.md")).toMatchObject({
    title: "n",
    type: "general",
    status: "open",
    extra: {},
  });
});

test("strings are the text as written, in every time zone", () => {
  const zone = process.env["TZ"];
  for (const tz of ["America/Los_Angeles", "Pacific/Auckland"]) {
    process.env["TZ"] = tz;
    expect(fields("title: 2024-01-01").title).toBe("2024-01-01");
    expect(fields("created_at: 2024-01-01").createdAt).toBe("2024-01-01T00:00:00.000Z");
  }
  if (zone === undefined) delete process.env["TZ"];
  else process.env["TZ"] = zone;
  expect(fields("tags: [1.0, 2.10]").tags).toEqual(["1.0", "2.10"]);
  expect(fields("key: 00123", "memory/workspace/00123.md").key).toBe("00123");
  expect(fields("key: 00123").extra).toEqual({ key: "00123" });
  expect(fields("id: 12345678901234567890").id).toBe("12345678901234567890");
  for (const title of ["12:30", "0x1F", "yes", "1e3", "007"])
    expect(fields(`title: ${title}`).title).toBe(title);
});

test("unknown words and values that can't be are kept in extra", () => {
  expect(
    fields(
      "type: idea\nstatus: x\nid: ../secret\npinned: maybe\nexpires_at: soon\nagent_id: -1\nscope: global\ntags: {a: 1}\ndate: 2024-01-01\naliases: [A, B]\nnested: {x: 1, y: [1.10]}",
    ),
  ).toEqual({
    id: null,
    title: "a file",
    type: "general",
    tags: [],
    createdAt: "2024-01-01T00:00:00.000Z",
    updatedAt: null,
    status: "open",
    scope: "workspace",
    scopeRefId: null,
    key: null,
    agentId: null,
    agentName: null,
    pinned: false,
    expiresAt: null,
    extra: {
      type: "idea",
      status: "x",
      id: "../secret",
      pinned: "maybe",
      expires_at: "soon",
      agent_id: -1,
      scope: "global",
      tags: { a: 1 },
      date: "2024-01-01",
      aliases: ["A", "B"],
      nested: { x: 1, y: ["1.10"] },
    },
  });
});

test("tags come as a list, as words with commas, quoted, with doubles", () => {
  expect(fields("tags: a, b").tags).toEqual(["a", "b"]);
  expect(fields("tags: '#x'").tags).toEqual(["#x"]);
  expect(fields("tags:\n- a\n- 'b, c'\n- a").tags).toEqual(["a", "b, c"]);
  expect(fields("tags: 7").tags).toEqual(["7"]);
  expect(fields("tags:").tags).toEqual([]);
});

test("created, date and modified are read where ours are missing", () => {
  expect(fields("created: 2024-01-02\ndate: 2024-01-01\nmodified: 2024-02-01")).toMatchObject({
    createdAt: "2024-01-02T00:00:00.000Z",
    updatedAt: "2024-02-01T00:00:00.000Z",
  });
  expect(fields("created_at: 2023-01-01\ncreated: 2024-01-02").createdAt).toBe("2023-01-01T00:00:00.000Z");
});

test("CRLF, BOM, a closing line at the end of the file", () => {
  const file = read("\ufeff---\r\ntitle: t\r\ntags: [x, y]\r\n---\r\n\r\na\r\nb\r\n");
  expect(file.fields).toMatchObject({ title: "t", tags: ["x", "y"] });
  expect(file.body).toBe("a\r\nb");
  expect(read("---\ntitle: t\n---").body).toBe("");
});

test("one broken file is quarantined with its line, and its text is still there", () => {
  const broken = readNoteFile(
    "notes/x.md",
    bytes("---\nid: a\ntitle: Governance: core rules\n---\nbody"),
    types,
  );
  expect(broken).toMatchObject({ kind: "quarantined", line: 3 });
  expect(broken.text).toContain("body");
  expect(readNoteFile("notes/x.md", bytes("---js\n1\n---\n"), types)).toMatchObject({
    kind: "quarantined",
    line: 1,
  });
  expect(readNoteFile("notes/x.md", Buffer.from("one\ntwo caf\u00e9\n", "latin1"), types)).toMatchObject({
    kind: "quarantined",
    line: 2,
    reason: expect.stringContaining("not UTF-8"),
  });
  for (const [encoding, swap] of [
    ["UTF-16 (little endian)", false],
    ["UTF-16 (big endian)", true],
  ] as const) {
    for (const start of ["\ufeff", ""]) {
      const wide = Buffer.from(`${start}title and text`, "utf16le");
      const file = readNoteFile("notes/x.md", swap ? wide.swap16() : wide, types);
      expect(file).toMatchObject({ kind: "quarantined", reason: expect.stringContaining(encoding) });
      expect(file.text).toContain("title and text");
    }
  }
});

test("a memory is what its path says", () => {
  expect(fields("x: 1", "memory/workspace/build_2fcmd.md")).toMatchObject({
    scope: "workspace",
    key: "build/cmd",
    title: "build/cmd",
    agentId: null,
  });
  const own = fields(
    "scope: agent\nkey: K\nagent_name: Planner\nagent_id: 1",
    "memory/agents/planner/_4b.md",
  );
  expect(own).toMatchObject({
    scope: "agent",
    key: "K",
    agentName: "Planner",
    agentId: agentIdOf("planner"),
  });
  const moved = fields("scope: agent\nkey: K\nagent_name: Planner", "memory/threads/t1/coder/other.md");
  expect(moved).toMatchObject({
    scope: "thread",
    scopeRefId: "t1",
    key: "other",
    agentName: "coder",
    agentId: agentIdOf("coder"),
  });
});

test("no bytes at all make the reader throw", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80 }), (data) => void readNoteFile("notes/x.md", data, types)),
  );
  const piece = fc.constantFrom(
    "---",
    "\n",
    "\r\n",
    "title: ",
    "tags: ",
    "[",
    "]",
    "{",
    "}",
    "&a ",
    "*a",
    "- ",
    '"',
    "'",
    "|",
    "#",
    ":",
    " ",
    "x",
    "\t",
    "!",
    "%",
    "?",
    "<<: ",
  );
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 25 }),
      (pieces) => void readNoteFile("notes/x.md", bytes(`---\n${pieces.join("")}\n---\nb`), types),
    ),
    { numRuns: 2000 },
  );
});
