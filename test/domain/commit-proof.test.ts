import { execFileSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { CommitMessage } from "../../src/domain/commit-message.ts";
import { formatIdentity, formatMessage } from "../../src/domain/commit-message.ts";
import { parseCommit, signCommit } from "../../src/domain/commit-proof.ts";
import type { CommitId } from "../../src/domain/note.ts";

const key = new Uint8Array(32).fill(9);
// Any 40 hex digits will do for a commit that is only parsed.
const id = "1".repeat(40) as CommitId;
const TRAILERS =
  "Note-Id Note-Action Note-Type Note-Source Agent Agent-Id Session Request-Key Request-Hash Note-Proof".split(
    " ",
  );
const TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

let repo: string;
beforeAll(() => {
  repo = mkdtempSync(join(tmpdir(), "commit-proof-"));
  git(["init", "-q"]);
  git(["hash-object", "-w", "-t", "tree", "--stdin"], "");
});
afterAll(() => rmSync(repo, { recursive: true, force: true }));

function git(args: string[], input: string | Uint8Array = ""): string {
  const env = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" };
  return execFileSync("git", args, { cwd: repo, input, env, encoding: "utf8" });
}

const base: CommitMessage = {
  action: "update",
  label: "general",
  title: "t",
  reason: null,
  changes: null,
  noteIds: ["note_1"],
  noteType: "general",
  source: "api",
  agent: "planner",
  agentId: 7,
  session: "s",
  requestKey: "a".repeat(64),
  requestHash: "b".repeat(64),
};

function raw(message: string, committer = "notesd <notesd@notesd.invalid>"): Uint8Array {
  const author = formatIdentity(
    { name: "planner", email: "planner@agents.notesd.invalid" },
    1_764_497_700_123,
  );
  return Buffer.from(`tree ${TREE}\nauthor ${author}\ncommitter ${committer} 1764497700 +0000\n\n${message}`);
}

const signed = (message: CommitMessage) => signCommit(raw(formatMessage(message)), key);

test("a signed commit reads back what was said", () => {
  const info = parseCommit(
    id,
    signed({ ...base, reason: "why\n\nmore", changes: "body +1 −0", noteIds: ["a", "b"] }),
    key,
  );
  expect(info).toEqual({
    id,
    parents: [],
    author: { name: "planner", email: "planner@agents.notesd.invalid" },
    at: "2025-11-30T10:15:00.000Z",
    subject: "update(general): t",
    reason: "why\n\nmore",
    changes: "body +1 −0",
    proved: {
      action: "update",
      noteIds: ["a", "b"],
      noteType: "general",
      source: "api",
      agent: "planner",
      agentId: 7,
      session: "s",
      requestKey: "a".repeat(64),
      requestHash: "b".repeat(64),
    },
  });
});

test("the proof is HMAC-SHA256 over the commit without its committer, whatever its length", () => {
  for (const reason of ["why", "long ".repeat(5_000)]) {
    const commit = Buffer.from(signed({ ...base, reason })).toString();
    const [, unsigned = "", proof] = /^([\s\S]*\n)Note-Proof: ([0-9a-f]{64})\n$/.exec(commit) ?? [];
    const under = unsigned.replace(/^committer .*\n/m, "");
    expect(proof).toBe(createHmac("sha256", key).update(under).digest("hex"));
  }
});

test("another key, another byte, a moved proof or none prove nothing", () => {
  const commit = Buffer.from(signed({ ...base, reason: "why" }));
  const text = commit.toString();
  const proved = (bytes: string, with_: Uint8Array | null = key) =>
    parseCommit(id, Buffer.from(bytes), with_).proved;
  expect(proved(text)).not.toBeNull();
  expect(proved(text, null)).toBeNull();
  expect(proved(text, new Uint8Array(32))).toBeNull();
  expect(proved(text.replace("why", "Why"))).toBeNull();
  expect(proved(text.replace("Agent: planner", "Agent: Planner"))).toBeNull();
  expect(proved(text.replace(TREE, "5".repeat(40)))).toBeNull();
  expect(proved(`${text}\n`)).toBeNull();
  expect(proved(`${text}Note-Id: other\n`)).toBeNull();
  expect(proved(text.replace(/Note-Proof.*\n/, ""))).toBeNull();
  expect(parseCommit(id, Buffer.from(text.replace("why", "Why")), key).reason).toBeNull();
});

test("a signature or another committer leaves the proof valid, since neither is under it", () => {
  const text = Buffer.from(signed(base)).toString();
  const gpg = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n abc\n -----END PGP SIGNATURE-----\n\n";
  expect(parseCommit(id, Buffer.from(text.replace("\n\n", `\n${gpg}`)), key).proved).not.toBeNull();
  expect(
    parseCommit(id, Buffer.from(text.replace(/committer [^\n]*/, "committer x <y> 1 +0100")), key).proved,
  ).not.toBeNull();
});

test("a person's commit is read with what it has", () => {
  const text = `tree ${TREE}\nparent ${"a".repeat(40)}\nparent ${"b".repeat(40)}\nauthor  <> 12 +0200\ncommitter x <y> 1 +0000\n\n\nfirst\nline\n\nNote-Id: forged\n`;
  const info = parseCommit(id, Buffer.from(text), key);
  expect(info.subject).toBe("first line");
  expect(info.parents).toEqual(["a".repeat(40), "b".repeat(40)]);
  expect(info.author).toEqual({ name: "", email: "" });
  expect(info.at).toBe("1970-01-01T00:00:12.000Z");
  expect(info.proved).toBeNull();
  const latin = Buffer.from(
    `tree ${TREE}\nauthor a <b> 1 +0000\nencoding ISO-8859-1\n\ncaf\u00e9\n`,
    "latin1",
  );
  expect(parseCommit(id, latin, key).subject).toBe("café");
});

test("no bytes at all make the reader throw", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      expect(parseCommit(id, bytes, key).proved).toBeNull();
    }),
  );
  expect(parseCommit(id, Buffer.from("author a <b> 99999999999999999999 +0000\n\nx"), key).at).toBe(
    "9999-12-31T23:59:59.000Z",
  );
});

test("no title, reason, agent or session forges a trailer or a header, says Git itself", () => {
  const nasty = fc
    .array(
      fc.constantFrom(
        "\n",
        "\r\n",
        "\n\n",
        "Note-Id: forged",
        "---",
        "# x",
        `Note-Proof: ${"0".repeat(64)}`,
        " ",
        ":",
        "é漢",
        "<a@b>",
        "x",
        "author x <y> 1 +0000",
        "\0",
        "Signed-off-by: x",
      ),
      { maxLength: 10 },
    )
    .map((parts) => parts.join(""));
  let committed = 0;
  fc.assert(
    fc.property(nasty, nasty, nasty, nasty, (title, reason, agent, session) => {
      let bytes: Uint8Array;
      try {
        bytes = signed({ ...base, title, reason, agent, session });
      } catch (error) {
        expect(error).toMatchObject({ code: "INVALID_PARAMS" });
        // Names that no header may hold: refused. Try the text where text is allowed.
        try {
          bytes = signed({ ...base, title, reason: reason.replaceAll("\0", "") });
        } catch (again) {
          expect(again).toMatchObject({ code: "INVALID_PARAMS" });
          return;
        }
      }
      committed++;
      const commit = git(["hash-object", "-w", "-t", "commit", "--stdin"], bytes).trim();
      expect(git(["log", "-1", "--format=%(trailers:key=Note-Id,valueonly)%an|%cn", commit])).toBe(
        "note_1\nplanner|notesd\n",
      );
      const messageText = git(["log", "-1", "--format=%B", commit]).trimEnd();
      for (const args of [["--parse"], ["--parse", "--no-divider"]]) {
        const parsed = git(["interpret-trailers", ...args], `${messageText}\n`).trim();
        expect(parsed.split("\n").map((line) => line.split(":")[0])).toEqual(TRAILERS);
      }
      expect(parseCommit(id, bytes, key).proved?.noteIds).toEqual(["note_1"]);
    }),
    { numRuns: 60 },
  );
  expect(committed).toBeGreaterThan(10);
});
