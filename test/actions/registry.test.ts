import { readdirSync } from "node:fs";
import { basename } from "node:path";
import { expect, test } from "vitest";
import { inputSchema, outputSchema } from "../../src/actions/describe.ts";
import { ACTIONS, registry } from "../../src/actions/registry.ts";
import { ERRORS } from "../../src/domain/errors.ts";

const sources = readdirSync(new URL("../../src/actions", import.meta.url), { recursive: true }).map((path) =>
  basename(String(path)),
);

test("names are unique, and each action lives in the file of its name", () => {
  expect(registry.size).toBe(ACTIONS.length);
  for (const { name } of ACTIONS) expect(sources).toContain(`${name.replace(".", "-")}.ts`);
});

test.each(ACTIONS.map((action) => [action.name, action] as const))(
  "%s is described for people and models",
  (_name, action) => {
    expect(action.summary.length).toBeLessThanOrEqual(80);
    expect(action.summary.endsWith(".")).toBe(true);
    expect(action.description.length).toBeGreaterThan(action.summary.length);
    expect(action.description.length).toBeLessThanOrEqual(400);
    expect(action.examples.length).toBeGreaterThan(0);
    for (const code of action.errors) expect(ERRORS).toHaveProperty(code);
  },
);

test.each(ACTIONS.map((action) => [action.name, action] as const))(
  "%s has parameters in snake_case and schemas that can be written down",
  (name, action) => {
    const { properties = {}, additionalProperties } = inputSchema(action) as Record<string, object>;
    for (const parameter of Object.keys(properties)) expect(parameter).toMatch(/^[a-z][a-z0-9_]*$/);
    if (name !== "notes.run") expect(additionalProperties).toBe(false);
    expect(() => outputSchema(action)).not.toThrow();
  },
);

test.each(
  ACTIONS.filter(({ effects }) => effects === "write" || effects === "destructive").map(
    (action) => [action.name, action] as const,
  ),
)("%s writes and so takes a reason and an idempotency key", (name, action) => {
  // Committing what people saved, or a sync, is the same twice, and the commits are theirs.
  if (name === "sync.run") return;
  if (name === "agent.token" || name === "notes.run" || name === "notes.commit") return;
  expect(Object.keys(inputSchema(action)["properties"] ?? {})).toEqual(
    expect.arrayContaining(["reason", "idempotency_key"]),
  );
});
