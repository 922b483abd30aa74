import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { decide, gitMacros, parseAttributes } from "../../../src/store/preflight/attribute-rules.ts";
import { gitRepo } from "../../support/git-repo.ts";

const PATHS = [
  "a.md",
  "notes/a.md",
  "notes/2026/11/b.md",
  "notes/x y.md",
  "notes/[z].md",
  "memory/ä.md",
  "a/b/c/notes/a.md",
];
const NAMES = ["text", "eol", "filter", "crlf"];

/** Values by path and name, as `git check-attr` words them. */
function ours(root: string, nested: string): string[] {
  const macros = gitMacros();
  const rules = [
    ...parseAttributes(root, ".gitattributes", "", macros),
    ...parseAttributes(nested, "notes/.gitattributes", "notes", macros),
  ];
  const word = (path: string, name: string) => {
    const value = decide(rules, macros, path).get(name)?.value ?? null;
    return value === null ? "unspecified" : value === true ? "set" : value === false ? "unset" : value;
  };
  return PATHS.flatMap((path) => NAMES.map((name) => `${path}: ${name}: ${word(path, name)}`));
}

const patterns = [
  "*.md",
  "*",
  "a.md",
  "/a.md",
  "notes/*.md",
  "notes/**",
  "**/a.md",
  "notes/**/*.md",
  "**/notes/**/a.md",
  "?.md",
  "[a-b].md",
  "[!a].md",
  "[^b].md",
  "*/a.md",
  "2026/*/b.md",
  "2026/**",
  "notes/",
  "!a.md",
  '"notes/x y.md"',
  "\\*.md",
  "notes/\\[z\\].md",
  "memory/?.md",
  "**",
  "a/**/c/**",
  "n*s/a.md",
  "*a*",
  "[[:alpha:]].md",
  "[z-a].md",
  "[]z].md",
  "/*.md",
  "notes/*/*/b.md",
];
const attributes = [
  "text",
  "-text",
  "!text",
  "text=auto",
  "eol=crlf",
  "eol=lf -text",
  "filter=lfs",
  "-filter",
  "binary",
  "lfs",
  "-lfs",
  "crlf=input",
];

test("any rules decide as git check-attr does", () => {
  const repo = gitRepo();
  mkdirSync(join(repo.root, "notes"));
  const line = fc
    .tuple(fc.constantFrom(...patterns), fc.constantFrom(...attributes))
    .map((pair) => pair.join(" "));
  const file = fc.array(line, { maxLength: 6 }).map((lines) => lines.join("\n"));
  fc.assert(
    fc.property(file, file, (own, nested) => {
      const root = `# comment\n[attr]lfs filter=lfs -text\n\n${own}\r\n`;
      writeFileSync(join(repo.root, ".gitattributes"), root);
      writeFileSync(join(repo.root, "notes/.gitattributes"), nested);
      const theirs = repo.gitBytes(
        ["-c", "core.quotePath=false", "check-attr", "--stdin", ...NAMES],
        `${PATHS.join("\n")}\n`,
      );
      expect(ours(root, nested)).toEqual(theirs.toString().trimEnd().split("\n"));
    }),
    { numRuns: 150 },
  );
  rmSync(join(repo.root, ".gitattributes"));
});
