/** `agent add|list|revoke` and `person add|list|revoke`: they work on the repository's files, daemon or not. */
import type { Command } from "commander";
import { ProcessError } from "../../domain/process-error.ts";
import type { CliHost } from "./host.ts";
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
      const added = (await identities(options)).addAgent({
        name,
        mcp: mcp === true,
        readOnly: readOnly === true,
      });
      io.err(`Agent ${added.agent} has the id ${added.agent_id}. Keep this token; it is shown this once:\n`);
      print(options, added, `${added.token}\n`);
    });
  withRepository(agent.command("list"))
    .summary("agents that have been given tokens")
    .action(async (options: Options) => {
      const agents = (await identities(options)).agents();
      const rows = agents.map((one) => [
        one.agent,
        String(one.agent_id),
        one.tokens === 0 ? "revoked" : `${one.tokens}${one.read_only ? ", read-only" : ""}`,
        one.created_at === null ? "" : minute(one.created_at),
      ]);
      print(options, agents, table(io, ["agent", "id", "tokens", "since"], rows) || "no agents\n");
    });
  withArgument(withRepository(agent.command("revoke")), "agent", "name or id")
    .summary("make every token of an agent worthless")
    .action(async (ref: string, options: Options) => {
      const gone = (await identities(options)).revokeAgent(ref);
      print(options, gone, `revoked every token of ${gone.agent}\n`);
    });

  withArgument(withRepository(person.command("add")), "name", "as in commits")
    .option("--email <address>", "as in the person's commits (needed)")
    .summary("a token for a person, shown once")
    .action(async (name: string, options: Options) => {
      if (typeof options["email"] !== "string")
        throw new ProcessError("USAGE", "A person needs --email ADDRESS.");
      const added = (await identities(options)).addPerson({ name, email: options["email"] });
      io.err(`${added.name} <${added.email}> may do everything. Keep this token; it is shown this once:\n`);
      print(options, added, `${added.token}\n`);
    });
  withRepository(person.command("list"))
    .summary("persons who may call")
    .action(async (options: Options) => {
      const persons = (await identities(options)).persons();
      const rows = persons.map((one) => [one.name, one.email, one.owner ? "owner" : String(one.tokens)]);
      print(options, persons, table(io, ["person", "address", "tokens"], rows) || "no persons\n");
    });
  withArgument(withRepository(person.command("revoke")), "person", "address or name")
    .summary("make every token of a person worthless")
    .action(async (ref: string, options: Options) => {
      const gone = (await identities(options)).revokePerson(ref);
      print(options, gone, `revoked every token of ${gone.name}\n`);
    });
}
