/** Every example of every action is run, so that what the documents show is what happens. */
import { expect, test } from "vitest";
import { invoke } from "../../src/actions/invoke.ts";
import { ACTIONS, registry } from "../../src/actions/registry.ts";
import { ada, caller, contextOf, planner } from "../support/call.ts";
import { FakeNotebook } from "../support/fake-notebook.ts";

const EXAMPLE_ID = "note_20261130_101500_k3vq7a";

/** A notebook that holds the one note that examples speak of, under its own id. */
async function exampleNotebook(): Promise<FakeNotebook> {
  const notebook = new FakeNotebook();
  notebook.nextId = EXAMPLE_ID;
  await caller(notebook, planner).call("notes.create", {
    title: "Login returns 500: refresh token",
    content: "The refresh token is read before the migration ran.\n",
    note_type: "blocker",
    tags: ["auth", "urgent"],
  });
  return notebook;
}

const examples = ACTIONS.flatMap((action) =>
  action.examples.map((example) => [action.name, example.name, example] as const),
);

test.each(examples)("%s: %s", async (method, _name, { params, result }) => {
  const notebook = await exampleNotebook();
  const principal = ["daemon.verify", "agent.token"].includes(method) ? ada : planner;
  const connection = {
    setSession: () => {},
    subscribe: async () => ({ subscription_id: "1", cursor: "c" }),
    unsubscribe: () => {},
  };
  const context = { ...contextOf(notebook, principal), connection };
  const answer = await invoke(registry, { method, params }, context, { checkOutput: true });
  expect(answer).toMatchObject(result as object);
});
