import { createRequire } from "node:module";
import { expect, test } from "vitest";
import { cliCommand, functionName, markdownTable, openRpc } from "../../src/actions/describe.ts";
import { registry } from "../../src/actions/registry.ts";

// By require, since the package's types are sources that don't compile under this project's settings.
const { validateOpenRPCDocument } = createRequire(import.meta.url)("@open-rpc/schema-utils-js") as {
  validateOpenRPCDocument(document: object): true | Error;
};
const actions = [...registry.values()];

test("the OpenRPC document is valid and holds every action", () => {
  const document = openRpc(registry, "0.1.0");
  expect(validateOpenRPCDocument(document)).toBe(true);
  expect(validateOpenRPCDocument({ ...document, methods: [{ name: 1 }] })).not.toBe(true);
  expect(document["methods"]).toHaveLength(actions.length);
});

test("parameters are by name, required ones first, with their defaults and limits", () => {
  const { methods } = openRpc(registry, "0.1.0") as { methods: { name: string; params: object[] }[] };
  const create = methods.find((method) => method.name === "notes.create");
  expect(create).toMatchObject({ paramStructure: "by-name" });
  expect(create?.params.slice(0, 3)).toMatchObject([
    { name: "title", required: true, schema: { type: "string", minLength: 1, maxLength: 300 } },
    { name: "content", required: true },
    { name: "note_type", required: false, schema: { default: "general" } },
  ]);
});

test("function names are what models may call", () => {
  for (const action of actions) expect(functionName(action)).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
});

test("the Markdown table has one row an action and no broken cells", () => {
  const lines = markdownTable(registry).trimEnd().split("\n");
  expect(lines).toHaveLength(actions.length + 2);
  for (const line of lines) expect(line.match(/(?<!\\)\|/g)).toHaveLength(4);
});

test("a command line knows positions, kinds and choices", () => {
  const update = registry.get("notes.update");
  expect(update && cliCommand(update)).toMatchObject({ command: "update", method: "notes.update" });
  const options = Object.fromEntries((update && cliCommand(update)?.options.map((o) => [o.name, o])) ?? []);
  expect(options["note_id"]).toMatchObject({ positional: true, required: true, kind: "string" });
  expect(options["status"]).toMatchObject({ kind: "string", choices: ["open", "resolved", "archived"] });
  expect(options["tags"]).toMatchObject({ kind: "list", flag: "--tags" });
  expect(options["extra"]).toMatchObject({ kind: "json" });
  expect(options["pinned"]).toMatchObject({ kind: "boolean" });
  expect(options["expires_in_hours"]).toMatchObject({ kind: "number", flag: "--expires-in-hours" });
  const list = registry.get("notes.list");
  const filters = Object.fromEntries((list && cliCommand(list)?.options.map((o) => [o.name, o])) ?? []);
  expect(filters["note_type"]).toMatchObject({ kind: "list", required: false });
  expect(filters["limit"]).toMatchObject({ kind: "number", required: false });
  expect(filters["scope"]).toMatchObject({ choices: ["workspace", "agent", "thread", "person", "global"] });
});
