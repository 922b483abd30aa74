/** `feedback.save`: a rule of behaviour, with why it is one. */
import { z } from "zod";
import { FEEDBACK } from "../../domain/memory/memory-key.ts";
import { defineAction } from "../action.ts";
import { WriteInputs } from "../inputs.ts";
import { replayOf, write } from "../write.ts";
import { MemoryNames, memoryNamed } from "./memory-inputs.ts";
import { SAVE_ERRORS, SaveOutput } from "./notes-save.ts";

const ABOUT_MAX_CHARS = 4_000;

export const feedbackSave = defineAction({
  name: "feedback.save",
  effects: "write",
  summary: "Keep a rule of how to behave, apart from facts.",
  description:
    "Save what somebody wants done differently, as a rule under a key, with why and how to apply it. The same key, scope, scope_ref_id and notebook replaces the rule. Rules are in no recall, search or list: feedback.list gives them.",
  input: z.strictObject({
    key: MemoryNames.key,
    rule: z.string().min(1).describe("What to do, or not to do."),
    scope: MemoryNames.scope,
    why: z.string().max(ABOUT_MAX_CHARS).optional().describe("What it is good for; left out: none."),
    how_to_apply: z.string().max(ABOUT_MAX_CHARS).optional().describe("When and how; left out: none."),
    scope_ref_id: MemoryNames.scope_ref_id,
    target_agent_id: MemoryNames.target_agent_id,
    ...WriteInputs,
  }),
  output: SaveOutput,
  errors: SAVE_ERRORS,
  examples: [
    {
      name: "A rule for everyone",
      params: {
        key: "no force push",
        rule: "Never force-push to main.",
        scope: "workspace",
        why: "Two days of work were lost in May.",
        how_to_apply: "Open a pull request, also for one line.",
      },
      result: { key: "no force push", scope: "workspace", created: true },
    },
  ],
  cli: { command: "feedback save", positional: ["key", "rule"] },
  async run(params, context) {
    const memory = memoryNamed("feedback.save", params, context, FEEDBACK);
    const outcome = await write(
      {
        kind: "save",
        ...memory,
        value: params.rule,
        pinned: false,
        expiresInHours: null,
        extra: { why: params.why ?? null, how_to_apply: params.how_to_apply ?? null },
      },
      params,
      context,
    );
    if (outcome.replayed) return replayOf(outcome);
    const { noteId: note_id, created, revision, commit } = outcome;
    const key = memory.key.slice(FEEDBACK.length);
    return { note_id, key, scope: memory.scope, created, revision, commit };
  },
});
