import { expect, test } from "vitest";
import { escapeSegment } from "../../../src/domain/note-path.ts";
import { formsOf } from "../../../src/store/purge/forms.ts";

const KEY = "AKIAQ3EGRIJL5T7MVX2B";
const replaced = (text: string | Buffer, ...texts: string[]) =>
  formsOf(texts).replace(Buffer.from(text)).toString("utf8");

test("the text is replaced wherever it stands, and what lacks it is the very same buffer", () => {
  const forms = formsOf([KEY]);
  expect(replaced(`a ${KEY} b\n${KEY}${KEY}`, KEY)).toBe("a (purged) b\n(purged)(purged)");
  const other = Buffer.from("nothing of it");
  expect(forms.replace(other)).toBe(other);
  expect(forms.holds(other)).toBe(false);
});

test("what stands in its place is read by YAML as a plain text, also where the value began a scalar", async () => {
  const { readNoteFile } = await import("../../../src/domain/note-file.ts");
  const text = `---\nid: n1\ntitle: ${KEY}\ntags: [${KEY}, b]\nabout: "${KEY}"\n---\n\nbody\n`;
  const read = readNoteFile("notes/a.md", Buffer.from(replaced(text, KEY)), new Set());
  expect(read).toMatchObject({
    kind: "note",
    fields: { title: "(purged)", tags: ["(purged)", "b"], extra: { about: "(purged)" } },
  });
});

test("escapes of JSON and YAML, both Unicode forms and UTF-16 are forms of the text", () => {
  const odd = `pä"ss'wörd\\x`;
  for (const form of [odd, odd.normalize("NFD"), JSON.stringify(odd).slice(1, -1), odd.replaceAll("'", "''")])
    expect(replaced(`key: ${form}!`, odd)).toBe("key: (purged)!");
  const forms = formsOf([KEY]);
  const wide = Buffer.from(`x${KEY}y`, "utf16le");
  expect(forms.replace(wide).toString("utf16le")).toBe("x(purged)y");
  const big = Buffer.from(`x${KEY}y`, "utf16le").swap16();
  expect(forms.replace(big).swap16().toString("utf16le")).toBe("x(purged)y");
});

test("a text of several lines is found with other line ends, indented, quoted, escaped and flattened", () => {
  const pem = "-----BEGIN X-----\nAAAA\nBBBB\n-----END X-----\n";
  for (const form of [
    pem.trim(),
    pem.trim().replaceAll("\n", "\r\n"),
    pem.trim().replaceAll("\n", "\n    "),
    pem.trim().replaceAll("\n", "\n> "),
    pem.trim().replaceAll("\n", "\\n"),
    pem.trim().replaceAll("\n", " "),
  ])
    expect(replaced(`a: ${form}\nb`, pem)).toBe("a: (purged)\nb");
});

test("blanks inside of a line match blanks alone, so that no two lines are taken for one value", () => {
  expect(replaced("correct  horse battery", "correct horse battery")).toBe("(purged)");
  const lines = "title: correct\nhorse: x\nbattery: y";
  expect(replaced(lines, "correct horse battery")).toBe(lines);
});

test("what comes together again is replaced again, and a value that is in its own mask ends", () => {
  for (const value of ["(purged)", "purged", "d)foofoo", "aXaXaX", "-", "xx-yy"]) {
    const forms = formsOf([value]);
    const text = Buffer.from(`${value}${value.slice(0, 3)}${value}${value.slice(3)}foofoo`);
    expect(forms.holds(forms.replace(text))).toBe(false);
  }
});

test("a subject that was cut inside of the value loses the part that it shows", () => {
  const forms = formsOf([KEY]);
  const message = (text: string) => forms.replaceMessage(Buffer.from(text)).toString("utf8");
  expect(message(`save(agent): the key of the bucket ${KEY.slice(0, 12)}…\n\nbody\n`)).toBe(
    "save(agent): the key of the bucket (purged)…\n\nbody\n",
  );
  const other = "save(agent): the key of the bucket AKI…\n\nbody\n";
  expect(message(other)).toBe(other);
  expect(message(message(`a ${KEY.slice(0, 12)}…\n`))).toBe("a (purged)…\n");
});

test("a segment of a path is found as it is, escaped, cut, and as words of a title", () => {
  const forms = formsOf([KEY]);
  const name = (text: string) =>
    Buffer.from(forms.replaceName(Buffer.from(text).toString("latin1")), "latin1").toString("utf8");
  expect(name(`${escapeSegment(`token ${KEY}`)}.md`)).toBe(`${escapeSegment("token (purged)")}.md`);
  expect(name(`My ${KEY}.md`)).toBe("My purged.md");
  expect(name(`note_20261130_101500_k3vq7a-the-${KEY.toLowerCase()}-key.md`)).toBe(
    "note_20261130_101500_k3vq7a-the-purged-key.md",
  );
  expect(name("ordinary.md")).toBe("ordinary.md");
  const long = escapeSegment(`${KEY}${"x".repeat(200)}`);
  expect(long).toMatch(/_x[a-z2-7]{20}$/);
  expect(name(`${long}.md`)).not.toContain(escapeSegment(`a${KEY}`).slice(1, 12));
});
