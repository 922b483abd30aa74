/** What names a memory in parameters, and whose notebook it is in: one reading for every action about memory. */
import { z } from "zod";
import { NotesError } from "../../domain/errors.ts";
import { foldAgentName, type MemoryKey, parseAgentName } from "../../domain/identity.ts";
import { checkMemoryKey, isReservedKey, NAME_MAX_CHARS, RESERVED } from "../../domain/memory/memory-key.ts";
import { SCOPES, type Scope } from "../../domain/note.ts";
import type { Context } from "../action.ts";
import { AgentRef, oneLine } from "../inputs.ts";
import { invalidParams } from "../issues.ts";
import { authoriseNotebook } from "../rights.ts";

const Name = oneLine(1, NAME_MAX_CHARS);

/** What every action that writes or deletes one memory takes. */
export const MemoryNames = {
  key: Name.refine((key) => !isReservedKey(key), `begins with ${RESERVED}, which is reserved`).describe(
    `The name it is found by: one line, at most ${NAME_MAX_CHARS} characters.`,
  ),
  scope: z
    .enum([...SCOPES, "global"])
    .describe(
      "workspace: everyone's; agent: the agent's own; thread, person: the agent's own about scope_ref_id. global is a deprecated alias of agent.",
    ),
  scope_ref_id: Name.optional().describe(
    "Which thread or person; needed for these scopes, refused for others.",
  ),
  target_agent_id: AgentRef.optional().describe(
    "Whose notebook, by name or id. Persons must name it for agent, thread and person memory; for workspace it is ignored.",
  ),
} as const;

type Names = z.output<z.ZodObject<typeof MemoryNames>>;

export const scopeOf = (given: Names["scope"]): Scope => (given === "global" ? "agent" : given);

/**
 * The memory that a call speaks of.
 * @param prefix  what stands before the caller's key in the memory's
 * @throws NotesError INVALID_PARAMS a ref or a notebook that is missing, or that is none; FORBIDDEN another's notebook
 */
export function memoryNamed(method: string, given: Names, context: Context, prefix = ""): MemoryKey {
  const scope = scopeOf(given.scope);
  const agent = scope === "workspace" ? null : notebookOf(method, scope, given.target_agent_id, context);
  return checkMemoryKey({ scope, ref: given.scope_ref_id ?? null, agent, key: `${prefix}${given.key}` });
}

/** The name of the notebook that memory of this scope lies in. */
function notebookOf(
  method: string,
  scope: Scope,
  target: string | number | undefined,
  context: Context,
): string {
  return notebookNamed(method, `the scope ${scope}`, target, context, (id) =>
    authoriseNotebook(id, context.caller.principal),
  );
}

/**
 * The name of the notebook that a call is about: an agent's own, or the one that is named.
 * @param what  needs a notebook, for the refusal
 * @param check  asked with the id of a notebook that is named
 * @throws NotesError INVALID_PARAMS
 */
export function notebookNamed(
  method: string,
  what: string,
  target: string | number | undefined,
  context: Context,
  check: (agentId: number) => void = () => {},
): string {
  const { principal } = context.caller;
  const problem = (message: string) => invalidParams(method, [{ path: "target_agent_id", message }]);
  if (target === undefined) {
    if (principal.kind === "agent") return principal.name;
    throw problem(`is needed for ${what}: name the agent whose notebook it is`);
  }
  const ids = idsOf(target, context);
  const [id] = ids === "all" ? [] : ids;
  if (id === undefined) throw problem("names one agent, not all");
  check(id);
  if (principal.kind === "agent" && principal.agentId === id) return principal.name;
  const known = context.daemon.agentName(id) ?? context.notebook.agentName(id);
  if (/^\d+$/.test(String(target))) {
    if (known !== null) return known;
    throw problem(
      `${target} is the id of no agent that is known here, and a number alone is no name: give its name`,
    );
  }
  const name = parseAgentName(String(target));
  return known !== null && foldAgentName(known) === foldAgentName(name) ? known : name;
}

/** As filters read it, with the parameter named that was given. */
function idsOf(target: string | number, context: Context): readonly number[] | "all" {
  try {
    return context.notebook.agentFilter(target);
  } catch (error) {
    if (!(error instanceof NotesError) || error.code !== "INVALID_PARAMS") throw error;
    const message = "is neither an agent's id nor a name";
    throw new NotesError("INVALID_PARAMS", error.message, { issues: [{ path: "target_agent_id", message }] });
  }
}
