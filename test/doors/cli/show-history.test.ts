import { expect, test } from "vitest";
import { blameText, diffText, wordDiffText } from "../../../src/doors/cli/show-history.ts";

const plain = { colour: false };
const colour = { colour: true };
const UNIFIED = `diff --git a/notes/a.md b/notes/a.md
--- a/notes/a.md
+++ b/notes/a.md
@@ -1,3 +1,3 @@
 same
-the old cause
+the new cause
--- a list item
+added
\\ No newline at end of file
`;
const diff = { from: null, to: null, unified: UNIFIED };

test("a difference is shown as it is, its lines coloured where there are colours", () => {
  expect(diffText(diff, plain)).toBe(UNIFIED);
  expect(diffText(diff, colour)).toContain("\u001b[31m-the old cause\u001b[39m");
  expect(diffText(diff, colour)).toContain("\u001b[32m+added\u001b[39m");
  expect(diffText({ ...diff, unified: "" }, plain)).toBe("no difference\n");
});

test("word by word: what went and what came, marked in a pipe and coloured in a terminal", () => {
  expect(wordDiffText(diff, plain)).toContain(
    "same\nthe [-old-]{+new+} cause\n[--- a list item-]{+added+}\n",
  );
  expect(wordDiffText(diff, colour)).toContain("the \u001b[31mold\u001b[39m\u001b[32mnew\u001b[39m cause");
  expect(wordDiffText({ ...diff, unified: "" }, plain)).toBe("no difference\n");
});

test("no escape sequence of a note reaches the terminal", () => {
  const unified = "@@ -1 +1 @@\n-\u001b]0;x\u0007a\n+\u001b[2Jb\n";
  for (const io of [plain, colour]) {
    for (const text of [diffText({ ...diff, unified }, io), wordDiffText({ ...diff, unified }, io)]) {
      expect(text).not.toMatch(/\u001b\[2J|\u0007/);
    }
  }
});

test("blame: each line with its commit, who and day, in columns", () => {
  const commit = (id: string, agent_name: string | null) => ({
    commit: id.repeat(40),
    at: "2026-11-30T10:15:00.000Z",
    action: "update",
    agent_name,
    author_name: agent_name ?? "Pat",
    source: agent_name === null ? ("disk" as const) : ("api" as const),
    trust: "agent" as const,
    reason: null,
  });
  const text = blameText(
    {
      note_id: "n",
      path: "notes/a.md",
      revision: "r",
      lines: [
        { line: 9, text: "one", commit: "a".repeat(40) },
        { line: 10, text: "", commit: "b".repeat(40) },
      ],
      commits: [commit("a", "planner"), commit("b", null)],
      truncated: true,
    },
    plain,
  );
  expect(text).toBe(
    "aaaaaaaaa planner    2026-11-30  9) one\nbbbbbbbbb Pat (disk) 2026-11-30 10)\nLines follow: --offset 10\n",
  );
});
