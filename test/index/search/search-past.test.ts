/** Searching an earlier commit finds what an index that stood there would, though none ever did. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { agentIdOf } from "../../../src/domain/identity.ts";
import type { CommitId } from "../../../src/domain/note.ts";
import { MemoryIndex } from "../../../src/index/memory-index.ts";
import type { SearchQuery } from "../../../src/index/note-index.ts";
import { HistoryBuilder, provedAs } from "../../support/history-builder.ts";
import { noteText, PERSON } from "../../support/notes-at.ts";
import { plainParse } from "../../support/plain-parse.ts";

const newIndex = () => new MemoryIndex({ parse: plainParse, isNotePath: () => true, fingerprint: "" });
const query = (text: string | null, more: Partial<SearchQuery> = {}): SearchQuery => ({
  query: text,
  mode: "ranked",
  fields: "title-body-tags",
  filter: {},
  viewer: PERSON,
  nowMs: 0,
  limit: 50,
  ...more,
});

const TEXTS = [
  noteText({ title: "Login", type: "blocker", tags: "auth" }, "The token expires early."),
  noteText({ title: "Login", type: "blocker", status: "resolved" }, "The token expired; concatenate."),
  noteText({ title: "数据库", tags: "db,auth" }, "连接超时：先查连接池"),
  noteText({ title: "Gateway" }, "A cat in C++ and a-b. Tokens."),
  "! can't be read, token",
];
const PATHS = ["notes/a.md", "notes/b.md", "notes/c.md", "notes/d.md"];
const QUERIES: SearchQuery[] = [
  query(null),
  ...["token", "tokens expiring", "cat", "C++", "连接", "登录 token", ":", "early login"].flatMap((text) => [
    query(text),
    query(text, { mode: "substring" }),
  ]),
  query("token", { mode: "substring", fields: "title-body" }),
  query("auth", { filter: { types: ["blocker"] } }),
  query(null, { filter: { tags: ["auth"], status: "open" } }),
  query("token", { filter: { types: ["general"] } }),
];

const commits = fc.array(
  fc.record({
    path: fc.nat(PATHS.length - 1),
    text: fc.integer({ min: -1, max: TEXTS.length - 1 }),
    byAgent: fc.boolean(),
  }),
  { minLength: 1, maxLength: 8 },
);

test("at every commit, in both modes and with filters, the same notes are found, in the same order", async () => {
  await fc.assert(
    fc.asyncProperty(commits, async (steps) => {
      const builder = new HistoryBuilder();
      const made: CommitId[] = [];
      for (const { path, text, byAgent } of steps) {
        const change = { [PATHS[path] ?? ""]: text < 0 ? null : (TEXTS[text] ?? "") };
        const proved = byAgent ? provedAs({ agent: "planner", agentId: 7 }) : null;
        made.push(builder.change(made.at(-1) ?? null, change, { proved }));
      }
      const index = newIndex();
      await index.apply(builder.history(null, made.at(-1) ?? made[0] ?? ("" as CommitId)), builder.read);
      for (const commit of made) {
        const then = newIndex();
        await then.apply(builder.history(null, commit), builder.read);
        for (const asked of QUERIES) {
          const [past, was] = [await index.searchAt(commit, asked, builder.read), then.search(asked)];
          const brief = ({ rows, total }: typeof was) => ({
            total,
            // How near the words are is told by statistics of the present.
            rows: rows.map(({ note, content, snippet }) => ({ note, content, snippet })),
          });
          const [found, wanted] = [brief(past), brief(was)];
          if (asked.mode === "ranked" && asked.query !== null) {
            const byId = (a: { note: { note_id: string } }, b: { note: { note_id: string } }) =>
              a.note.note_id < b.note.note_id ? -1 : 1;
            found.rows.sort(byId);
            wanted.rows.sort(byId);
          }
          expect([asked.query, asked.mode, found]).toEqual([asked.query, asked.mode, wanted]);
        }
      }
      // At the head itself the scores are the same too.
      const head = made.at(-1);
      for (const asked of QUERIES.filter(({ filter }) => Object.keys(filter).length === 0)) {
        if (head) expect(await index.searchAt(head, asked, builder.read)).toEqual(index.search(asked));
      }
    }),
    { numRuns: 40 },
  );
});

test("who sees what holds for the past too: expired notes, hidden keys, other agents' memory", async () => {
  const builder = new HistoryBuilder();
  const first = builder.change(null, {
    "notes/a.md": noteText({ expires_at: "2026-12-01T00:00:00Z" }, "token"),
    "memory/agents/planner/k.md": noteText({ key: "k", scope: "agent", agent: "planner" }, "token"),
    "memory/agents/planner/__h.md": noteText({ key: "__h", scope: "agent", agent: "planner" }, "token"),
    "notes/b.md": noteText({}, "token"),
  });
  const last = builder.change(first, { "notes/b.md": null, "notes/a.md": null });
  const index = newIndex();
  await index.apply(builder.history(null, last), builder.read);
  const paths = async (more: Partial<SearchQuery>) =>
    (await index.searchAt(first, query("token", more), builder.read)).rows
      .map(({ note }) => note.path)
      .sort();
  const early = Date.parse("2026-11-30T00:00:00Z");
  const late = Date.parse("2026-12-02T00:00:00Z");
  expect(await paths({ nowMs: early })).toEqual(["memory/agents/planner/k.md", "notes/a.md", "notes/b.md"]);
  expect(await paths({ nowMs: late })).toEqual(["memory/agents/planner/k.md", "notes/b.md"]);
  expect(await paths({ nowMs: early, viewer: { kind: "agent", agentId: 9 } })).toEqual([
    "notes/a.md",
    "notes/b.md",
  ]);
  expect(
    await paths({ nowMs: early, viewer: { kind: "agent", agentId: agentIdOf("planner") } }),
  ).toHaveLength(3);
});
