import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  environmentSettings,
  mergeLayers,
  parseSettings,
  readRepositoryFile,
  readSettingsFile,
  settingFromText,
  withoutEffect,
} from "../../src/main/read-settings.ts";
import { settingsSchema } from "../../src/main/settings.ts";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "notesd-settings-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

test.each([
  [{ hsot: "::1" }, /hsot is no setting; did you mean host\?/],
  [{ reconcile: { quiet: 5 } }, /reconcile\.quiet is no setting/],
  [{ reconcile: { quiet_m: 5 } }, /did you mean reconcile\.quiet_ms\?/],
  [{ zzzzzz: 1 }, /zzzzzz is no setting\./],
  [{ port: 70000 }, /port: /],
  [{ port: "6683" }, /port: /],
  [{ roots: ["../x"] }, /roots\.0: /],
  [{ roots: ["/x"] }, /roots\.0: /],
  [{ roots: [".git"] }, /roots\.0: /],
  [{ durability: "none" }, /durability: /],
  [[], /expected an object/],
  ["x", /expected an object/],
])("%j is refused with what to do", (given, message) => {
  expect(() => parseSettings(given, "f.json")).toThrow(message);
  expect(() => parseSettings(given, "f.json")).toThrow(expect.objectContaining({ exit: 2 }));
});

test.each([
  "http://u:SECRET@h/y.git",
  "https://:SECRET@h/y.git",
  "https://SECRET:@h/y.git",
  "ssh://u:SECRET@h/y",
  " https://u:SEC@RET@h/y",
])("a password in a URL (%s) is refused wherever it is set, and not repeated", (url) => {
  const sync = { remote: url };
  for (const given of [
    () => parseSettings({ sync }, "notes.config.json"),
    () => environmentSettings({ NOTESD_SYNC: JSON.stringify(sync) }),
    () => parseSettings({ public_url: url.trim() }, "f"),
    () => parseSettings({ allowed_origins: [url.trim()] }, "f"),
  ]) {
    expect(given).toThrow(/password .*credential helper .*NOTESD_REMOTE_TOKEN/);
    expect(given).not.toThrow(/SECRET/);
  }
});

test.each([
  "https://u@h:8443/y.git",
  "https://h:8443/a@b",
  "ssh://git@h:22/y",
  "git@h:y.git",
  "../R",
  "origin",
  "/a:b@c",
])("a remote without a password (%s) may be set", (remote) => {
  expect(parseSettings({ sync: { remote } }, "f").sync?.remote).toBe(remote);
});

test("roots are folders below the top, written in one way", () => {
  expect(parseSettings({ roots: [".", "./docs/", "a b/c"] }, "f").roots).toEqual([".", "docs", "a b/c"]);
});

test("the environment sets every key by its name", () => {
  const env = {
    NOTESD_PORT: "7000",
    NOTESD_ROOTS: "docs, wiki",
    NOTESD_RECONCILE: '{"quiet_ms": 5}',
    NOTESD_URL: "x",
    NOTESD_HOST: "",
  };
  expect(environmentSettings(env).settings).toEqual({
    port: 7000,
    roots: ["docs", "wiki"],
    reconcile: { quiet_ms: 5 },
  });
  expect(() => environmentSettings({ NOTESD_PORT: "many" })).toThrow(/environment: port/);
});

test("a higher layer wins key by key, also inside groups", () => {
  const layers = [
    { from: "flags", settings: { port: 1 } },
    null,
    { from: "file", settings: { port: 2, host: "::1", reconcile: { quiet_ms: 1, max_wait_ms: 2 } } },
    { from: "lower", settings: { reconcile: { quiet_ms: 9, commit: "manual" as const } } },
  ];
  expect(mergeLayers(layers)).toEqual({
    port: 1,
    host: "::1",
    reconcile: { quiet_ms: 1, max_wait_ms: 2, commit: "manual" },
  });
});

test("a file's repo is relative to the file", async () => {
  await mkdir(join(dir, "sub"));
  await writeFile(join(dir, "sub/notes.config.json"), '{"$schema": "x", "repo": "../n"}');
  expect((await readSettingsFile(join(dir, "sub/notes.config.json")))?.settings.repo).toBe(join(dir, "n"));
  expect(await readSettingsFile(join(dir, "none.json"))).toBe(null);
});

test("a file that is no JSON is refused by name", async () => {
  await writeFile(join(dir, "x.json"), "{");
  await expect(readSettingsFile(join(dir, "x.json"))).rejects.toThrow(/x\.json is not JSON/);
  await writeFile(join(dir, "x.json"), "[]");
  await expect(readSettingsFile(join(dir, "x.json"))).rejects.toThrow(/expected an object/);
});

test("the file inside the note repository can open no door", async () => {
  await writeFile(
    join(dir, "notes.config.json"),
    '{"port": 1, "hosts": ["evil"], "nonsense": 1, "types": {"risk": {"priority": 1}}}',
  );
  const warnings: string[] = [];
  const layer = await readRepositoryFile(join(dir, "notes.config.json"), (text) => warnings.push(text));
  expect(layer?.settings).toEqual({ types: { risk: { priority: 1 } } });
  expect(warnings.map((text) => /: (\w+) is ignored/.exec(text)?.[1])).toEqual(["port", "hosts", "nonsense"]);
});

test("text from a command line becomes what the key asks for", () => {
  expect(settingFromText("port", "7")).toBe(7);
  expect(settingFromText("host", "7")).toBe("7");
  expect(settingFromText("hosts", "a,b")).toEqual(["a", "b"]);
  expect(settingFromText("reconcile.commit", "manual")).toBe("manual");
  expect(settingFromText("types.risk", '{"priority": 1}')).toEqual({ priority: 1 });
});

test("whoever sets what this version doesn't read is told", () => {
  expect(withoutEffect({ embedder: {}, port: 1 })).toEqual([
    "the setting embedder has no effect in this version.",
  ]);
});

test("the published schema knows every key and no other", () => {
  const schema = settingsSchema();
  expect(schema).toMatchObject({ additionalProperties: false, type: "object" });
  expect(Object.keys(schema["properties"] as object)).toContain("allowed_origins");
});
