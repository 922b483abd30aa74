import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { attributeRefusals } from "../../../src/store/preflight/attribute-check.ts";
import { gitRepo } from "../../support/git-repo.ts";

const PATHS = ["notes/2026/11/30/note_1.md", "notes/own/a.md", "memory/workspace/key.md"];

function repoWith(files: Readonly<Record<string, string>>) {
  const repo = gitRepo();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(repo.root, name)), { recursive: true });
    writeFileSync(join(repo.root, name), text);
  }
  return { root: repo.root, gitdir: repo.gitdir, paths: PATHS };
}

const OURS =
  "notes/**/*.md -text -filter -ident merge=notesd\nmemory/**/*.md -text -filter -ident merge=notesd\n";

test("a repository without attributes, or with ours alone, is fine", () => {
  expect(attributeRefusals(repoWith({}))).toEqual([]);
  expect(attributeRefusals(repoWith({ ".gitattributes": OURS }))).toEqual([]);
  expect(
    attributeRefusals(repoWith({ ".gitattributes": "*.png filter=lfs\n*.sh eol=lf\n*.md diff=markdown\n" })),
  ).toEqual([]);
});

test.each([
  ["*.md text eol=crlf", /line endings/],
  ["* text=auto", /line endings/],
  ["*.md eol=crlf", /line ending crlf/],
  ["notes/** filter=lfs diff=lfs merge=lfs -text", /filter lfs/],
  ["*.md working-tree-encoding=UTF-16 -text", /encoding UTF-16/],
  ["*.md ident", /\$Id\$/],
])("%s is refused, naming file and line", (line, why) => {
  const found = attributeRefusals(repoWith({ ".gitattributes": `# first\n\n${line}\n` }));
  expect(found.map(({ file, line: at }) => [file, at])).toEqual([[".gitattributes", 3]]);
  expect(found[0]?.message).toMatch(/^\.gitattributes:3 /);
  expect(found[0]?.message).toMatch(why);
});

test("our lines in info/attributes win over a person's file, pending ones too; an encoding they don't undo", () => {
  const lfs = { ".gitattributes": "* text=auto filter=lfs ident\n" };
  expect(attributeRefusals(repoWith({ ...lfs, ".git/info/attributes": OURS }))).toEqual([]);
  expect(attributeRefusals({ ...repoWith(lfs), pendingLines: OURS })).toEqual([]);
  expect(
    attributeRefusals({ ...repoWith({ ...lfs, ".git/info/attributes": "*.md text" }), pendingLines: OURS }),
  ).toEqual([]);
  const encoded = repoWith({
    ".gitattributes": "*.md working-tree-encoding=UTF-16\n",
    ".git/info/attributes": OURS,
  });
  expect(attributeRefusals(encoded).length).toBe(1);
});

test("a file nearer to the note decides, and only the notes below it are named", () => {
  const found = attributeRefusals(
    repoWith({ ".gitattributes": OURS, "notes/own/.gitattributes": "*.md text\n" }),
  );
  expect(found.map(({ file, line, path }) => ({ file, line, path }))).toEqual([
    { file: "notes/own/.gitattributes", line: 1, path: "notes/own/a.md" },
  ]);
});

test("a person's own file outside the repository counts, weakest of all", () => {
  const check = repoWith({ outside: "*.md eol=crlf\n" });
  const outsideFiles = [join(check.root, "outside")];
  expect(attributeRefusals({ ...check, outsideFiles }).map(({ file }) => file)).toEqual(outsideFiles);
  expect(attributeRefusals({ ...check, outsideFiles, pendingLines: OURS })).toEqual([]);
});

test("paths are looked at only where some line could convert a file", () => {
  const looked = (files: Readonly<Record<string, string>>) => {
    let asked = false;
    const check = repoWith(files);
    const paths = () => {
      asked = true;
      return check.paths;
    };
    attributeRefusals({
      ...check,
      folders: ["notes/own"],
      get paths() {
        return paths();
      },
    });
    return asked;
  };
  expect(looked({ ".gitattributes": OURS })).toBe(false);
  expect(looked({ ".gitattributes": "*.md binary !eol\n[attr]plain -text\n*.txt plain\n" })).toBe(false);
  expect(looked({ "notes/own/.gitattributes": "*.txt text\n" })).toBe(true);
  expect(looked({ ".gitattributes": "[attr]odd text\n*.txt odd\n" })).toBe(true);
});
