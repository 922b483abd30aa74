/** `daemon.status`: what the daemon is and how it is. */
import { z } from "zod";
import type { RepoState } from "../store/note-store.ts";
import { type Context, defineAction } from "./action.ts";
import { rowsThatFit } from "./answer-size.ts";
import { SecretMatchOutput } from "./secret-output.ts";

const STATES = [
  "ok",
  "merge",
  "rebase",
  "cherry-pick",
  "revert",
  "bisect",
  "elsewhere",
  "unborn",
  "locked",
  "diverged",
  "unsupported",
] as const satisfies readonly RepoState["state"][];

export const daemonStatus = defineAction({
  name: "daemon.status",
  effects: "read",
  summary: "The daemon's version, repository, branch and health.",
  description:
    "What the daemon serves and how it is: the branch's head, whether a merge or rebase holds up writes, files that can't be read as notes, files that wait to be placed, and hand edits that are held for a secret in them.",
  input: z.strictObject({}),
  output: z.looseObject({
    branch: z.string(),
    head: z.string().nullable(),
    state: z
      .enum(STATES)
      .describe(
        "ok, or what a person's Git is doing; operations, a lock and what is unsupported hold up writes.",
      ),
    notes: z.number().int(),
    quarantined: z.array(
      z.strictObject({ path: z.string(), line: z.number().int().nullable(), reason: z.string() }),
    ),
    pending: z.array(z.string()),
    held: z
      .array(z.strictObject({ path: z.string(), matches: z.array(SecretMatchOutput), since: z.string() }))
      .describe("Hand edits that hold a secret: not committed until it is gone or allowed."),
    truncated: z.literal(true).optional().describe("Some of the lists are longer than shown."),
  }),
  errors: [],
  examples: [
    {
      name: "All",
      params: {},
      result: { branch: "main", state: "ok", quarantined: [], pending: [], held: [] },
    },
  ],
  cli: null,
  run: (_params, context) => status(context),
});

async function status({ daemon, notebook }: Context) {
  const [process, { state, ...own }] = [await daemon.status(), await notebook.status()];
  const lists = ["quarantined", "duplicates", "pending", "unsettled", "reported", "held"] as const;
  let cut = false;
  const shown = <T>(rows: readonly T[]): T[] => {
    const fitting = rowsThatFit(rows, 150_000);
    cut ||= fitting < rows.length;
    return rows.slice(0, fitting);
  };
  const { state: word, ...about } = state;
  const status = {
    ...process,
    ...own,
    state: word,
    ...(Object.keys(about).length > 0 ? { state_detail: about } : {}),
    quarantined: shown(own.quarantined),
    duplicates: shown(own.duplicates),
    pending: shown(own.pending),
    unsettled: shown(own.unsettled),
    reported: shown(own.reported),
    held: shown(own.held.map((edit) => ({ ...edit, matches: [...edit.matches] }))),
    counts: Object.fromEntries(lists.map((name) => [name, own[name].length])),
  };
  return cut ? { ...status, truncated: true as const } : status;
}
