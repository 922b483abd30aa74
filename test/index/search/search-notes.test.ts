import fc from "fast-check";
import { expect, test } from "vitest";
import { MemoryIndex } from "../../../src/index/memory-index.ts";
import type { SearchQuery } from "../../../src/index/note-index.ts";
import { emptyParts } from "../../../src/index/parts.ts";
import { searchNotes } from "../../../src/index/search/search-notes.ts";
import { fold } from "../../../src/lib/text.ts";
import { HistoryBuilder } from "../../support/history-builder.ts";
import { indexOf, noteText, PERSON } from "../../support/notes-at.ts";
import { plainParse } from "../../support/plain-parse.ts";

const ask = (query: string | null, more: Partial<SearchQuery> = {}): SearchQuery => ({
  query,
  mode: "ranked",
  fields: "title-body-tags",
  filter: {},
  viewer: PERSON,
  nowMs: 0,
  limit: 50,
  ...more,
});

const NOTES = {
  "notes/game.md": noteText({ title: "周末" }, "今天玩成语接龙游戏"),
  "notes/stop.md": noteText({ title: "交易" }, "昨天及时止损了"),
  "notes/gen.md": noteText({ title: "日志" }, "重跑gen-itgc后通过"),
  "notes/api.md": noteText(
    { title: "Gateway", tags: "ＡＰＩ,net" },
    "The gateway answers slowly, see C++ and a-b.",
  ),
  "notes/db.md": noteText({ title: "数据库" }, "连接超时：先查连接池，再看慢查询。"),
  "notes/login.md": noteText(
    { title: "Login fails" },
    '# Refresh token\nThe token expires "foo too early: 12:30\n',
  ),
};

async function found(query: string, more: Partial<SearchQuery> = {}) {
  const { index } = await indexOf(NOTES);
  return index.search(ask(query, more)).rows.map((row) => row.note.path.replace(/^notes\/|\.md$/g, ""));
}

test.each([
  ["成语接龙", "game"],
  ["止损", "stop"],
  ["itgc", "gen"],
  ["损", "stop"],
  ["龙", "game"],
  ["ＡＰＩ", "api"],
  ["api", "api"],
  ["C++", "api"],
  ["a-b", "api"],
  ['"foo', "login"],
  ["数据库连接超时怎么解决", "db"],
  ["why does the login fail with an expired token", "login"],
  ["token refresh", "login"],
  ["tokens expiring", "login"],
  ["gatew", "api"],
])("ranked search for %s finds %s first", async (query, first) => {
  expect((await found(query))[0]).toBe(first);
});

test.each([
  ["成语接龙", ["game"]],
  ["止损", ["stop"]],
  ["itgc", ["gen"]],
  ["n-it", ["gen"]],
  ["ＡＰＩ", ["api"]],
  ['"foo', ["login"]],
  ["C++", ["api"]],
  [":", ["login", "db"]],
  ["zzz", []],
])("literal search for %s finds exactly %j", async (query, expected) => {
  expect(await found(query, { mode: "substring" })).toEqual(expected);
});

test("a query of punctuation alone is looked for literally, and is never an error", async () => {
  expect(await found(":")).toEqual(["login", "db"]);
  expect(await found('"')).toEqual(["login"]);
  expect(await found("*")).toEqual([]);
});

test("the seed's search looks at title and body only", async () => {
  expect(await found("net", { mode: "substring" })).toEqual(["api"]);
  expect(await found("net", { mode: "substring", fields: "title-body" })).toEqual([]);
});

test("a title counts more than the body, more words more than one, and a note that is gone for nothing", async () => {
  const { index, put } = await indexOf({
    "notes/body.md": noteText({ title: "other" }, "cache cache and more"),
    "notes/title.md": noteText({ title: "cache" }, "other and more"),
    "notes/both.md": noteText({ title: "cache warmup" }, "x"),
  });
  const paths = (query: string) => index.search(ask(query)).rows.map((row) => row.note.path);
  expect(paths("cache warmup")[0]).toBe("notes/both.md");
  expect(paths("cache").at(-1)).toBe("notes/body.md");
  await put({ "notes/both.md": null, "notes/title.md": noteText({ title: "else" }) }, 9);
  expect(paths("cache warmup")).toEqual(["notes/body.md"]);
  expect(paths("else")).toEqual(["notes/title.md"]);
});

test("a snippet shows the hit, is one line and at most 240 characters, and the content is whole", async () => {
  const body = `${"before ".repeat(200)}\n\nthe Ａpple hit 😀 stands here\n${"after ".repeat(200)}`;
  const { index } = await indexOf({ "notes/a.md": body });
  for (const mode of ["ranked", "substring"] as const) {
    const [row] = index.search(ask("apple hit", { mode })).rows;
    expect(row?.snippet).toContain("Ａpple hit 😀 stands here");
    expect(row?.snippet.length).toBeLessThanOrEqual(240);
    expect(row?.snippet).toMatch(/^….*…$/);
    expect(row?.content).toBe(body);
  }
});

test("without a query the newest come first; a limit leaves the total as it is", async () => {
  const { index } = await indexOf(NOTES);
  const { rows, total } = index.search(ask(null, { limit: 2 }));
  expect([rows.map((row) => row.note.path), total]).toEqual([["notes/login.md", "notes/db.md"], 6]);
});

/** Words and marks in which runs, folds and fields meet. */
const piece = fc.constantFrom(
  "a",
  "ab",
  "b",
  "B",
  " ",
  "-",
  "数",
  "据",
  "ｂ",
  "é",
  "e\u0301",
  "\u0301",
  "\u3099",
  "7",
  "ß",
  "ss",
  "😀",
  "𠮷",
  "ア",
  "#",
  "\n",
  ".",
  "x".repeat(63),
  "y".repeat(70),
);
const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(""));
const line = text.map((t) => t.replaceAll("\n", "").replaceAll(",", "").trim() || "t");

test("literal search equals a plain scan of folded title, body and tags, newest first, on every query", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ title: line, tag: line, body: text }), { minLength: 1, maxLength: 6 }),
      fc.array(fc.oneof(text, fc.string({ unit: "binary", maxLength: 3 })), { minLength: 1, maxLength: 8 }),
      async (notes, queries) => {
        const files = notes.map(({ title, tag, body }, i) => [
          `n${i}.md`,
          noteText({ title, tags: tag }, body),
        ]);
        const { index } = await indexOf(Object.fromEntries(files));
        for (const query of queries.filter((q) => q !== "")) {
          const { rows, total } = index.search(ask(query, { mode: "substring" }));
          const everything = index.search(ask(null)).rows;
          const scanned = everything.filter(({ note, content }) =>
            [note.title, content, ...note.tags].some((field) => fold(field).includes(fold(query))),
          );
          expect(rows.map((row) => row.note.path)).toEqual(scanned.map((row) => row.note.path));
          expect(total).toBe(scanned.length);
        }
      },
    ),
    { numRuns: 300 },
  );
});

test("many rewrites of one note leave no trace of its earlier words", async () => {
  const { index, put } = await indexOf({ "notes/keep.md": "stone" });
  for (let i = 0; i < 400; i++) await put({ "notes/a.md": `stone word${i}` }, i + 1);
  const paths = (query: string) => index.search(ask(query)).rows.map((row) => row.note.path);
  expect(paths("word17")).toEqual([]);
  expect(paths("word399")).toEqual(["notes/a.md"]);
  expect(new Set(paths("stone"))).toEqual(new Set(["notes/a.md", "notes/keep.md"]));
});

test("a note that goes while a ranked search lets others have their turn is no hit, and is not counted", async () => {
  const parts = emptyParts();
  const index = new MemoryIndex({ parse: plainParse, isNotePath: () => true, fingerprint: "" }, parts);
  const builder = new HistoryBuilder();
  const put = async (files: Record<string, string | null>) => {
    const to = builder.change(index.head, files);
    await index.apply(builder.history(index.head, to), builder.read);
  };
  await put({ "a.md": "token", "b.md": "token" });
  const ranked = Array.from({ length: 10_000 }, (_, i) => ({ key: i + 1, score: 0.5 }));
  parts.texts.rank = function* () {
    yield;
    return ranked;
  };
  const search = searchNotes(parts.state, parts.texts, ask("token"));
  expect([search.next().done, search.next().done]).toEqual([false, false]);
  await put({ "a.md": null });
  const { value } = search.next();
  expect(value).toMatchObject({ rows: [{ note: { path: "b.md" } }], total: 1 });
});
