/**
 * The door for this repository's own Git hooks, which run as processes of a person's Git. Invariant: a hook that goes
 * away while it waits leaves nothing held.
 */
import type { ServerResponse } from "node:http";
import { z } from "zod";
import { NotesError } from "../domain/errors.ts";
import { principalKey } from "../domain/identity.ts";
import type { CommitId } from "../domain/note.ts";
import { jsonOrNull } from "../lib/json-text.ts";
import type { PushSide } from "../notebook/push/push-side.ts";
import { type Route, refuse, respond } from "./http.ts";
import { readBody } from "./read-body.ts";
import type { RefusalLog } from "./refusal-log.ts";

/** What `POST /hooks/pre-commit` answers. */
interface PreCommitAnswer {
  /** Notes whose file or index entry is not level yet. */
  readonly lagging: readonly string[];
  /** Notes whose file misses what the branch has gained, and can't be merged while it holds a secret. */
  readonly parted: readonly string[];
}

/** What a push is held to; `POST /hooks/rules` answers it. */
export const PushRules = z.object({
  branch: z.string(),
  roots: z.array(z.string()),
  types: z.array(z.string()),
  /** Largest note, and largest file of any kind, bytes. */
  note_bytes: z.number(),
  file_bytes: z.number(),
});
export type PushRules = z.infer<typeof PushRules>;

const pid = z.number().int().positive();
const commit = z.custom<CommitId>((value) => typeof value === "string" && /^[0-9a-f]{40}$/.test(value));

/** What `POST /hooks/pre-receive` takes; it answers a `LeaseAnswer`. */
export const LeaseWish = z.object({
  /** Of receive-pack. */
  pid,
  /** Where that number counts; null or absent: not known. */
  space: z.string().max(200).nullable().default(null),
  /** Null: the branch is unborn. */
  from: commit.nullable(),
  to: commit,
  /** Tracked files that differ from HEAD. */
  dirty: z.array(z.string()),
  /** Ids of notes that are new at their path. */
  ids: z.array(z.object({ id: z.string(), path: z.string() })),
});
export type LeaseWish = z.infer<typeof LeaseWish>;

/** What `POST /hooks/post-receive` takes. */
const PushEnd = z.object({ pid });

/** What `POST /hooks/proc-receive` takes. */
const JoinWish = z.object({
  tip: commit,
  /** Who pushes; null: the repository's own person. */
  author: z.object({ name: z.string(), email: z.string() }).nullable(),
});
type JoinWish = z.infer<typeof JoinWish>;

/** What it answers. */
export const Joined = z.discriminatedUnion("kind", [
  z.object({
    kind: z.enum(["up_to_date", "fast_forward", "merged"]),
    commit: z.string(),
    conflicts: z.array(z.object({ note_id: z.string(), path: z.string() })),
  }),
  /** Nothing moved; `why` is a sentence. */
  z.object({ kind: z.literal("refused"), why: z.string() }),
]);
export type Joined = z.infer<typeof Joined>;

export interface HookDoor {
  levelForCommit(): Promise<PreCommitAnswer>;
  readonly push: PushSide;
  readonly rules: PushRules;
  /** Merge a pushed commit into the branch. @throws NotesError why it can't be */
  join(tip: CommitId, author: JoinWish["author"]): Promise<Exclude<Joined, { kind: "refused" }>>;
  /** HEAD, the index or a ref moved. */
  moved(): Promise<void>;
}

/** Paths of very many notes in one push. */
const BODY_BYTES = 32 << 20;

/** Routes by path; the owner's token only. */
export function hookRoutes(door: HookDoor, refused: RefusalLog["refused"]): Map<string, Route> {
  const { push } = door;
  const hook = hookOf(refused);
  return new Map<string, Route>([
    ["/hooks/pre-commit", hook(z.unknown(), door.levelForCommit)],
    ["/hooks/rules", hook(z.unknown(), async () => door.rules)],
    ["/hooks/pre-receive", hook(LeaseWish, (wish, gone) => push.lease(wish, gone))],
    [
      "/hooks/post-receive",
      hook(PushEnd, async (end) => {
        await push.ended(end.pid);
        return {};
      }),
    ],
    ["/hooks/proc-receive", hook(JoinWish, (wish) => joined(door, wish))],
    [
      "/hooks/moved",
      hook(z.unknown(), async () => {
        await door.moved();
        return {};
      }),
    ],
  ]);
}

async function joined(door: HookDoor, { tip, author }: JoinWish): Promise<Joined> {
  try {
    door.push.personAtGit();
    const { kind, commit, conflicts } = await door.join(tip, author);
    return { kind, commit, conflicts: conflicts.map(({ note_id, path }) => ({ note_id, path })) };
  } catch (error) {
    // What the pusher can do something about is said in the terminal; the rest is the log's.
    if (error instanceof NotesError) return { kind: "refused", why: error.message };
    throw error;
  }
}

/** The maker of a hook's route. @returns a function: `carryOut` is told by its second argument when the hook is gone */
const hookOf =
  (refused: RefusalLog["refused"]) =>
  <T>(schema: z.ZodType<T>, carryOut: (wish: T, gone: AbortSignal) => Promise<object>): Route => ({
    needs: "token",
    methods: {
      async POST(request, response, { principal }) {
        // A hook names whose push it is, so nobody else may speak as one.
        if (principal?.kind !== "person" || principal.owner !== true) {
          if (principal !== null) {
            const who = principalKey(principal);
            refused({ principal: who, action: "hook", code: "FORBIDDEN", reason: "owner_only" });
          }
          return refuse(request, response, 403, "A hook sends the token of the repository's owner.");
        }
        const body = await readBody(request, BODY_BYTES);
        if (body === "broken") return;
        if (body === "too large")
          return refuse(request, response, 413, "The push has too many files for one.");
        const wish = schema.safeParse(body.text === "" ? {} : jsonOrNull(body.text));
        if (!wish.success)
          return refuse(request, response, 400, "The hook is of another version: notesd init.");
        respond(response, 200, JSON.stringify(await carryOut(wish.data, goneOf(response))));
      },
    },
  });

function goneOf(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) gone.abort();
  });
  return gone.signal;
}
