/** Every example of every action is run on a whole notebook: what the documents show is what happens. */
import { expect, test } from "vitest";
import { invoke } from "../../src/actions/invoke.ts";
import { ACTIONS, registry } from "../../src/actions/registry.ts";
import { ada, contextOf, planner } from "../support/call.ts";
import { openTestNotebook, type TestNotebook } from "../support/open-notebook.ts";

const NOTE = `---
id: note_20261130_101500_k3vq7a
title: "Login returns 500: refresh token"
type: blocker
tags: [auth, urgent]
---

The refresh token is read before the migration ran.
`;

/** A rule of behaviour that somebody saved. */
const RULE_PATH = "memory/workspace/_5f_5ffeedback_5f_5fanswer_20length.md";

const PATH = "notes/2026/11/30/note_20261130_101500_k3vq7a.md";
const DAY_MS = 24 * 3_600_000;

/** A notebook that holds the one note that examples speak of, committed by a person eight days ago and changed since. */
async function exampleNotebook(): Promise<TestNotebook> {
  const opened = await openTestNotebook();
  const { person } = opened.store;
  const earlier = NOTE.replace("The refresh", "It seems that the refresh");
  person.commit({ [PATH]: earlier }, { atMs: Date.now() - 8 * DAY_MS });
  person.commit({ [PATH]: NOTE, [RULE_PATH]: "At most ten lines.\n" }, { atMs: Date.now() - 1000 });
  await opened.disk.headMoved();
  return opened;
}

const FOR_PERSONS = [
  "daemon.verify",
  "agent.token",
  "notes.commit",
  "notes.delete",
  "feedback.delete",
  "sync.run",
];

const examples = ACTIONS.flatMap((action) =>
  action.examples.map((example) => [action.name, example.name, example] as const),
);

test.each(examples)("%s: %s", async (method, _name, { params, result }) => {
  const opened = await exampleNotebook();
  try {
    const connection = {
      setSession: () => {},
      subscribe: async () => ({ subscription_id: "1", cursor: "c" }),
      unsubscribe: () => {},
    };
    const principal = FOR_PERSONS.includes(method) ? ada : planner;
    const context = { ...contextOf(opened.notebook, principal), connection };
    const answer = await invoke(registry, { method, params }, context, { checkOutput: true });
    expect(answer).toMatchObject(result as object);
  } finally {
    await opened.dispose();
  }
});
