import { rules } from "@secretlint/secretlint-rule-preset-recommend";
import { expect, test } from "vitest";
import { LIBRARY_RULES } from "../../../src/domain/secrets/library-rules.ts";
import { findSecrets } from "../../../src/domain/secrets/secrets.ts";
import { NO_SECRETS, secretSpecimens } from "../../support/secret-specimens.ts";

const KEY = new Uint8Array(32).fill(7);
const found = async (text: string, before: string | null = null) =>
  (await findSecrets(text, KEY, before)).map(({ kind, line }) => `${line} ${kind}`);

test.each(secretSpecimens())(
  "$kind ($of) is found in its line, once, wherever it stands",
  async ({ kind, text }) => {
    const notes = {
      alone: text,
      "in a list": `# Title\n\n- use ${text}\n`,
      "in a fence": `One.\n\n\`\`\`sh\n${text}\n\`\`\`\n`,
      "in a string": `x\n"a\\n${text}\\nb"`,
      "in a table": `\n\n| key | ${text} | x |\n`,
      "with CRLF": `a\r\nb\r\n${text.replaceAll("\n", "\r\n")}\r\n`,
      "beside CJK": `令牌：\n${text}\n完`,
    };
    const at = {
      alone: 1,
      "in a list": 3,
      "in a fence": 4,
      "in a string": 2,
      "in a table": 3,
      "with CRLF": 3,
      "beside CJK": 2,
    };
    for (const [name, note] of Object.entries(notes)) {
      expect([name, await found(note)]).toEqual([name, [`${at[name as keyof typeof at]} ${kind}`]]);
    }
  },
);

test.each(NO_SECRETS.map((text) => [text]))("%j is none", async (text) => {
  expect(await found(text)).toEqual([]);
});

test("no directive in a note switches a rule off", async () => {
  for (const { kind, text } of secretSpecimens()) {
    const note = `<!-- secretlint-disable -->\n<!-- secretlint-disable-next-line -->\n${text}\n<!-- secretlint-enable -->\n`;
    expect(await found(note)).toEqual([`3 ${kind}`]);
  }
});

test("several are told by line, each value once on a line", async () => {
  const [one, two] = secretSpecimens();
  const note = `${one?.text} ${one?.text}\n\n${two?.text}\n${one?.text}\n`;
  expect(await found(note)).toEqual(["1 github-token", "3 github-token", "4 github-token"]);
});

test("a token in a URL is told as what it is, and once", async () => {
  const [token] = secretSpecimens();
  expect(await found(`git clone https://x-access-token:${token?.text}@github.com/a/b.git`)).toEqual([
    "1 github-token",
  ]);
});

test("a token is found where Markdown slants it or a name goes on behind it", async () => {
  const [token] = secretSpecimens();
  for (const note of [`_${token?.text}_`, `__${token?.text}__`, `${token?.text}_old`, `*${token?.text}*`])
    expect([note.length, await found(note)]).toEqual([note.length, ["1 github-token"]]);
});

test("a value that was there before is no new one, another of its kind is", async () => {
  const [, , , one] = secretSpecimens();
  const [, , , two] = secretSpecimens();
  const before = `a\n${one?.text}\n`;
  expect(await found(`moved\n\n${one?.text}\n`, before)).toEqual([]);
  expect(await found(`${one?.text}\n${two?.text}\n`, before)).toEqual(["2 atlassian-token"]);
});

test("a fingerprint is the value's under this key, and another one's under another", async () => {
  const text = secretSpecimens()[0]?.text ?? "";
  const print = async (note: string, key = KEY) => (await findSecrets(note, key))[0]?.fingerprint;
  const first = await print(text);
  expect(first).toMatch(/^[0-9a-f]{16}$/);
  expect(await print(`# Elsewhere\n\n> ${text}, said again\n`)).toBe(first);
  expect(await print(text, new Uint8Array(32).fill(8))).not.toBe(first);
  expect(await print(secretSpecimens()[0]?.text ?? "")).not.toBe(first);
});

test("no kind is without a specimen", () => {
  const kinds = new Set(secretSpecimens().map(({ kind }) => kind));
  const known = Object.values(LIBRARY_RULES).map(({ kind }) => kind);
  expect(known.filter((kind) => !kinds.has(kind))).toEqual([]);
});

/** Rules that are not asked, and why. */
const NOT_ASKED: Readonly<Record<string, string>> = {
  basicauth: "ours sees every scheme and every character",
  "database-connection-string": "ours sees every scheme",
  "filter-comments": "it obeys directives inside the text",
  gcp: "it reads .json and .p12 files; the key in one is found as a private key",
};

test("every rule that the library brings is asked, or it is said why not", () => {
  const names = rules.map(({ meta }) => meta.id.replace("@secretlint/secretlint-rule-", ""));
  expect(names.toSorted()).toEqual([...Object.keys(LIBRARY_RULES), ...Object.keys(NOT_ASKED)].toSorted());
});

test("eight times the text takes no more than some eight times the work, whatever it repeats", async () => {
  const dashes = "-".repeat(5);
  const begin = `${dashes}BEGIN RSA PRIVATE KEY${dashes}\n`;
  const hostile = [
    ...[
      begin,
      `${begin}MIIabc\n`,
      `${begin}A-b: c\n`,
      "PRIVATE KEY ",
      "a://b:c",
      "://",
      `a://${"b".repeat(200)}:`,
    ],
    ...[
      "eyJ-",
      "eyJaaaaaaaaaaaa.eyJaaaaaaaaaaaa.",
      "xoxb-a-",
      "SECRET_ACCESS_KEY = ",
      "AccountKey    ",
      "aaa8Q~aaaa",
    ],
    ...[
      "SG.aa.",
      "npm_",
      "ghp_a",
      "https://hooks.slack.com/services/T",
      "12345678:AA",
      "sk_live_a-",
      "ops_ey",
    ],
    ...["postgres://a:b", "hvs.a", "\\n", "sk-a"],
  ];
  const work = async (unit: string, length: number) => {
    const text = unit.repeat(Math.ceil(length / unit.length));
    const before = process.cpuUsage();
    await findSecrets(text, KEY);
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  for (const unit of hostile) {
    const few = Math.max(await work(unit, 1 << 17), 2_000);
    // What goes by the square of the length takes 64 times as much.
    expect([unit, (await work(unit, 1 << 20)) / few < 40]).toEqual([unit, true]);
  }
});
