import fc from "fast-check";
import { expect, test } from "vitest";
import type { CommitMessage } from "../../src/domain/commit-message.ts";
import {
  authorOf,
  formatIdentity,
  formatMessage,
  normalizeReason,
  parseBody,
} from "../../src/domain/commit-message.ts";

const message: CommitMessage = {
  action: "update",
  label: "blocker",
  title: "Login returns 500: refresh token",
  reason: "Fixed by the migration, verified on staging.",
  changes: "status: open → resolved; tags +fixed; body +12 −3",
  noteIds: ["note_20261130_101500_k3vq7a"],
  noteType: "blocker",
  source: "api",
  agent: "planner",
  agentId: 1057,
  session: "2026-11-30-a",
  requestKey: null,
  requestHash: null,
};

test("a message reads as the specification shows it", () => {
  expect(formatMessage(message)).toBe(`update(blocker): Login returns 500: refresh token

Fixed by the migration, verified on staging.
status: open → resolved; tags +fixed; body +12 −3

Note-Id: note_20261130_101500_k3vq7a
Note-Action: update
Note-Type: blocker
Note-Source: api
Agent: planner
Agent-Id: 1057
Session: 2026-11-30-a
`);
});

test("adopted notes stand one Note-Id line each, without type or agent", () => {
  const text = formatMessage({
    ...message,
    action: "adopt",
    label: null,
    title: "2 notes",
    reason: null,
    changes: null,
    noteIds: ["a", "b"],
    noteType: null,
    source: "disk",
    agent: null,
    agentId: null,
    session: null,
  });
  expect(text).toBe("adopt: 2 notes\n\nNote-Id: a\nNote-Id: b\nNote-Action: adopt\nNote-Source: disk\n");
});

test("a subject is one line of at most 72 characters and is cut between graphemes", () => {
  const subject = (title: string) => formatMessage({ ...message, title }).split("\n")[0] ?? "";
  expect(subject("a\nb\u2028c\td")).toBe("update(blocker): a b c d");
  const long = subject("👩‍👩‍👧‍👦".repeat(30));
  expect(Array.from(long).length).toBeLessThanOrEqual(72);
  expect(long).toMatch(/👦…$/u);
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 300 }), (title) => {
      const line = subject(title);
      expect(Array.from(line).length).toBeLessThanOrEqual(72);
      expect(line).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
    }),
  );
});

test("lines that Git would cut at, or that look like ours, are guarded and come back", () => {
  const reason = "one\n---\n# two\n  ---\n\nstatus: open → done";
  const text = formatMessage({ ...message, reason, changes: null });
  expect(text).toContain("\n ---\n # two\n   ---\n\n status: open → done\n\n");
  const body = text.split("\n\n").slice(1, -1).join("\n\n");
  expect(parseBody(body)).toEqual({ reason, changes: null });
});

test("any reason and changes come back as they were", () => {
  const piece = fc.constantFrom(
    "---",
    "#",
    " ",
    "\n",
    "\n\n",
    "tags +x",
    "status: a → b",
    "Note-Id: x",
    "\t",
    "w",
    "body +1 −2",
  );
  const changes = fc.constantFrom(null, "body +1 −2", "tags −a");
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), changes, (pieces, given) => {
      const reason = pieces.join("");
      const text = formatMessage({ ...message, reason, changes: given });
      const body = text.trimEnd().split("\n\n").slice(1, -1).join("\n\n");
      expect(parseBody(body)).toEqual({ reason: normalizeReason(reason), changes: given });
    }),
    { numRuns: 1000 },
  );
});

test("control characters, line breaks, < and > are refused in names", () => {
  const refused = expect.objectContaining({ code: "INVALID_PARAMS" });
  for (const bad of ["a\nNote-Id: x", "a\0", "a<b", "a>b", "\u001b[2J", "", "a\u2028b"]) {
    expect(() => formatMessage({ ...message, agent: bad })).toThrow(refused);
    expect(() => formatIdentity({ name: bad, email: "e@x" }, 0)).toThrow(refused);
  }
  for (const bad of ["a\nb", "a\rb", "", "\u0085"]) {
    expect(() => formatMessage({ ...message, session: bad })).toThrow(refused);
  }
  expect(() => formatMessage({ ...message, reason: "beep \u0007" })).toThrow(refused);
  expect(() => formatIdentity({ name: "a", email: "e>\ncommitter x" }, 0)).toThrow(refused);
  expect(formatIdentity({ name: "planner", email: "p@agents.notesd.invalid" }, 1_764_497_700_999)).toBe(
    "planner <p@agents.notesd.invalid> 1764497700 +0000",
  );
});

test("an agent's author is its name, with its fold as address", () => {
  const agent = { kind: "agent", name: "Code Reviewer", agentId: 1, readOnly: false, mcp: false } as const;
  expect(authorOf(agent)).toEqual({ name: "Code Reviewer", email: "code_20reviewer@agents.notesd.invalid" });
});
