/**
 * `agent` and `person` with `add`, `list`, `revoke` and `rotate`: they work on the repository's files, daemon or not. A
 * running daemon sees what they did at once.
 */
import type { Command } from "commander";
import { ProcessError } from "../../domain/process-error.ts";
import type { AgentShown, AgentTokenShown, CliHost, PersonShown, TokenShown } from "./host.ts";
import { flagsOf, type Options, withArgument, withRepository } from "./shared-options.ts";
import { minute, table } from "./text-table.ts";

/** Add `agent` and `person` with their own commands. */
export function addIdentityCommands(program: Command, host: CliHost): void {
  const { io } = host;
  const identities = async (options: Options) => host.identities(await host.locate(flagsOf(options)));
  const print = (options: Options, value: unknown, text: string) =>
    io.out(options["json"] ? `${JSON.stringify(value)}\n` : text);
  const agent = program.command("agent").summary("agents and their tokens");
  const person = program.command("person").summary("persons and their tokens");

  withArgument(withRepository(agent.command("add")), "name", "1 to 64 characters")
    .summary("a token for an agent, shown once")
    .option("--read-only", "the token reads and doesn't write")
    .option("--mcp", "the token is for an MCP client")
    .action(async (name: string, options: Options) => {
      const { mcp, readOnly } = options;
      const added = await (await identities(options)).addAgent({
        name,
        mcp: mcp === true,
        readOnly: readOnly === true,
      });
      io.err(`Agent ${added.agent} has the id ${added.agent_id}. Keep this token; it is shown this once:\n`);
      print(options, added, `${added.token}\n`);
    });
  withRepository(agent.command("list"))
    .summary("agents and their tokens, by ids that are no secret")
    .action(async (options: Options) => {
      const agents = (await identities(options)).agents();
      const head = ["agent", "id", "tokens", "token", "made", "last used"];
      print(options, agents, table(io, head, agents.flatMap(agentRows)) || "no agents\n");
    });
  withArgument(withRepository(agent.command("revoke")), "agent", "name or id")
    .summary("make tokens of an agent worthless, at once")
    .option("--token <id>", "this token alone, by its id in the list; without it every one of the agent's")
    .action(async (ref: string, options: Options) => {
      const token = tokenOf(options);
      const gone = await (await identities(options)).revokeAgent(ref, token);
      print(
        options,
        gone,
        `revoked ${token === undefined ? "every token" : `token ${token}`} of ${gone.agent}\n`,
      );
    });
  withArgument(withRepository(agent.command("rotate")), "agent", "name or id")
    .summary("a new token for an agent, shown once; the others end at once")
    .action(async (ref: string, options: Options) => {
      const rotated = await (await identities(options)).rotateAgent(ref);
      io.err(`Every other token of ${rotated.agent} has ended. Keep this one; it is shown this once:\n`);
      print(options, rotated, `${rotated.token}\n`);
    });

  withArgument(withRepository(person.command("add")), "name", "as in commits")
    .option("--email <address>", "as in the person's commits (needed)")
    .summary("a token for a person, shown once")
    .action(async (name: string, options: Options) => {
      if (typeof options["email"] !== "string")
        throw new ProcessError("USAGE", "A person needs --email ADDRESS.");
      const added = await (await identities(options)).addPerson({ name, email: options["email"] });
      io.err(`${added.name} <${added.email}> may do everything. Keep this token; it is shown this once:\n`);
      print(options, added, `${added.token}\n`);
    });
  withRepository(person.command("list"))
    .summary("persons and their tokens, by ids that are no secret")
    .action(async (options: Options) => {
      const persons = (await identities(options)).persons();
      const head = ["person", "address", "tokens", "token", "made", "last used"];
      print(options, persons, table(io, head, persons.flatMap(personRows)) || "no persons\n");
    });
  withArgument(withRepository(person.command("revoke")), "person", "address or name")
    .summary("make tokens of a person worthless, at once")
    .option("--token <id>", "this token alone, by its id in the list; without it every one of the person's")
    .action(async (ref: string, options: Options) => {
      const token = tokenOf(options);
      const gone = await (await identities(options)).revokePerson(ref, token);
      print(
        options,
        gone,
        `revoked ${token === undefined ? "every token" : `token ${token}`} of ${gone.name}\n`,
      );
    });
  withArgument(withRepository(person.command("rotate")), "person", "address or name, the owner's too")
    .summary("a new token for a person; the others end at once")
    .action(async (ref: string, options: Options) => {
      const { owner, ...rotated } = await (await identities(options)).rotatePerson(ref);
      io.err(
        owner
          ? `Every other token of ${rotated.name} has ended. The new one lies in the repository's notesd/token, too:\n`
          : `Every other token of ${rotated.name} has ended. Keep this one; it is shown this once:\n`,
      );
      print(options, rotated, `${rotated.token}\n`);
    });
}

const tokenOf = ({ token }: Options): string | undefined => (typeof token === "string" ? token : undefined);

const times = ({ id, created_at, last_used_at }: TokenShown) => [
  id,
  minute(created_at),
  last_used_at === null ? "" : minute(last_used_at),
];

/** One row for each token; what stands before it in the first alone. */
function tokenRows<T extends TokenShown>(
  before: readonly string[],
  tokens: readonly T[],
  about: (token: T) => string,
): string[][] {
  if (tokens.length === 0) return [[...before, "", "", ""]];
  return tokens.map((token, at) => {
    const [id = "", ...when] = times(token);
    const kind = about(token);
    return [...(at === 0 ? before : before.map(() => "")), kind === "" ? id : `${id} (${kind})`, ...when];
  });
}

function agentRows({ agent, agent_id, tokens, read_only, revoked, token_list }: AgentShown): string[][] {
  const count = tokens === 0 ? (revoked ? "revoked" : "none") : `${tokens}${read_only ? ", read-only" : ""}`;
  const kind = (token: AgentTokenShown) =>
    [token.read_only ? "read-only" : "", token.mcp ? "mcp" : ""].filter(Boolean).join(", ");
  return tokenRows([agent, String(agent_id), count], token_list, kind);
}

const personRows = ({ name, email, owner, tokens, token_list }: PersonShown): string[][] =>
  tokenRows([name, email, owner ? "owner" : String(tokens)], token_list, () => "");
