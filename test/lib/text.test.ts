import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { caseFold, fold, foldWithOffsets, isCjk, queryTokens, tokens } from "../../src/lib/text.ts";

const anyText = fc.string({ unit: "binary", maxLength: 40 });

test("the fold makes case, width and accents equal", () => {
  expect(fold("ＡＰＩ Straße É e\u0301 İ ΣΑΣ ﬁ")).toBe("api strasse e e i σασ fi");
  expect(fold("が ｶﾞ 가 \u1100\u1161")).toBe("が ガ 가 가");
});

test("scripts whose marks are vowels keep them", () => {
  expect(fold("हिन्दी")).toBe("हिन्दी".normalize("NFKC"));
});

test("folding twice changes nothing", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(fold(fold(text))).toBe(fold(text));
    }),
  );
});

test("folding with offsets is the same fold, and offsets point at pieces of the source", () => {
  fc.assert(
    fc.property(anyText, (source) => {
      const { text, offsets } = foldWithOffsets(source);
      expect(text).toBe(fold(source));
      expect(offsets.length).toBe(text.length + 1);
      expect([...offsets].every((at, i) => i === 0 || at >= (offsets[i - 1] ?? 0))).toBe(true);
    }),
    { numRuns: 500 },
  );
  const { text, offsets } = foldWithOffsets("a ＡＰＩ ﬁn");
  expect("a ＡＰＩ ﬁn".slice(offsets[text.indexOf("api")], offsets[text.indexOf(" fin")])).toBe("ＡＰＩ");
});

const python = (() => {
  try {
    return execFileSync("python3", [
      "-c",
      "import unicodedata; print(unicodedata.unidata_version)",
    ]).toString();
  } catch {
    return null;
  }
})();

test.skipIf(python === null)("the case fold equals Python's for every character that both know", () => {
  const script = `import json,unicodedata
print(json.dumps({chr(c): chr(c).casefold() for c in range(0x110000)
  if not 0xd800 <= c <= 0xdfff and unicodedata.category(chr(c)) != "Cn"}))`;
  const output = execFileSync("python3", ["-c", script], { maxBuffer: 1 << 26 }).toString();
  // The script prints an object of strings.
  const folds = JSON.parse(output) as Record<string, string>;
  const wrong = Object.entries(folds).filter(([char, folded]) => caseFold(char) !== folded);
  expect(wrong).toEqual([]);
  expect(Object.keys(folds).length).toBeGreaterThan(100_000);
});

test("words are tokens, CJK runs are overlapping pairs, and a script change splits", () => {
  expect(tokens("重跑gen-itgc后")).toEqual(["重跑", "跑", "gen", "itgc", "后"]);
  expect(queryTokens("今天玩成语接龙")).toEqual(["今天", "天玩", "玩成", "成语", "语接", "接龙"]);
  expect(queryTokens("止")).toEqual(["止"]);
  expect(tokens("𠮷野家")).toEqual(["𠮷野", "野家", "家"]);
  expect(tokens("データ 한국어")).toEqual(["デー", "ータ", "タ", "한국", "국어", "어"]);
});

test("every character of a CJK run starts a token, so one character is found by prefix", () => {
  const found = tokens("数据库连接超时");
  for (const char of "数据库连接超时") expect(found.some((token) => token.startsWith(char))).toBe(true);
});

test("query syntax is only words", () => {
  expect(queryTokens('"foo a-b C++ : NOT* (x)')).toEqual(["foo", "a", "b", "c", "not", "x"]);
  expect(queryTokens("!!! ---")).toEqual([]);
});

test("a word without end is cut, not dropped", () => {
  expect(tokens("x".repeat(500))).toEqual(["x".repeat(64)]);
});

test("isCjk knows the scripts without blanks", () => {
  expect(["漢", "か", "カ", "ー", "한", "々"].every(isCjk)).toBe(true);
  expect(["a", "é", "Я", "1", " "].some(isCjk)).toBe(false);
});

test("a text of megabytes has the tokens of its parts, a word or a run of millions of characters too", () => {
  const filler = "word 中文 ".repeat(80_000);
  const long = `${filler}${"x".repeat(6_000_000)} ${"止".repeat(6_000_000)} last`;
  const found = tokens(long);
  const before = tokens(filler);
  expect(found.slice(0, before.length)).toEqual(before);
  expect(found.slice(before.length, before.length + 2)).toEqual(["x".repeat(64), "止止"]);
  expect([found.at(-2), found.at(-1)]).toEqual(["止", "last"]);
  expect(found.length).toBe(before.length + 1 + 6_000_000 + 1);
});

test("millions of marks on one letter are folded with their places too", () => {
  const source = `x a${"\u0301".repeat(6_000_000)} y`;
  const { text, offsets } = foldWithOffsets(source);
  expect([text === fold(source), text.length, offsets.at(-1)]).toEqual([true, offsets.length - 1, 6_000_005]);
});
