/**
 * What the actions look like from outside: OpenRPC, a Markdown table, function names and command lines.
 * Pure, from the registry alone; whoever writes files or serves them calls this.
 */
import { z } from "zod";
import { ERRORS } from "../domain/errors.ts";
import type { AnyAction, Registry } from "./action.ts";

type Json = Readonly<Record<string, unknown>>;

/** JSON Schema, draft 7, of what a caller sends. */
export const inputSchema = (action: AnyAction): Json => schemaOf(action.input, "input");

/** JSON Schema, draft 7, of what a caller gets. */
export const outputSchema = (action: AnyAction): Json => schemaOf(action.output, "output");

function schemaOf(type: z.ZodType, io: "input" | "output"): Json {
  const { $schema: _, ...schema } = z.toJSONSchema(type, { target: "draft-7", io });
  return schema;
}

/** Name of the action where dots are not allowed: `notes_create`. @see spec: protocol, section 1 */
export const functionName = (action: AnyAction): string => action.name.replaceAll(".", "_");

/**
 * The OpenRPC document of a registry.
 *
 * @param version  of the program, semantic
 * @see https://spec.open-rpc.org (1.3.2)
 */
export function openRpc(registry: Registry, version: string): Json {
  return {
    openrpc: "1.3.2",
    info: {
      title: "notesd",
      version,
      description: "A Git-backed notes daemon: typed notes for agents and people, every write a commit.",
      license: { name: "Apache-2.0" },
    },
    methods: [...registry.values()].map(method),
    components: {
      errors: Object.fromEntries(
        Object.entries(ERRORS).map(([code, { number }]) => [
          code,
          { code: number, message: code, data: { code } },
        ]),
      ),
    },
  };
}

function parametersOf(action: AnyAction): {
  readonly properties: Readonly<Record<string, Json>>;
  readonly required: readonly string[];
} {
  // What zod writes for an object.
  const { properties = {}, required = [] } = inputSchema(action) as Partial<ReturnType<typeof parametersOf>>;
  return { properties, required };
}

function method(action: AnyAction): Json {
  const { properties, required } = parametersOf(action);
  const params = Object.entries(properties).map(([name, schema]) => ({
    name,
    ...(typeof schema["description"] === "string" ? { description: schema["description"] } : {}),
    required: required.includes(name),
    schema,
  }));
  return {
    name: action.name,
    summary: action.summary,
    description: action.description,
    tags: [{ name: action.effects }],
    paramStructure: "by-name",
    params: params.sort((a, b) => Number(b.required) - Number(a.required)),
    result: { name: "result", schema: outputSchema(action) },
    errors: action.errors.map((code) => ({ $ref: `#/components/errors/${code}` })),
    examples: action.examples.map(({ name, params: given, result }) => ({
      name,
      params: Object.entries(given).map(([key, value]) => ({ name: key, value })),
      result: { name: "result", value: result },
    })),
  };
}

/** The actions as a Markdown table, for the README: method, parameters (optional ones with ?), what it does. */
export function markdownTable(registry: Registry): string {
  const rows = [...registry.values()].map((action) => {
    const { properties, required } = parametersOf(action);
    const names = Object.keys(properties).map((name) => (required.includes(name) ? name : `${name}?`));
    const cells = [`\`${action.name}\``, names.join(", "), action.summary];
    return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  });
  return ["| method | parameters | what it does |", "| --- | --- | --- |", ...rows, ""].join("\n");
}

/** One option of an action's command line. */
export interface CliOption {
  /** The parameter's name, e.g. `note_type`; the flag is `--note-type`. */
  readonly name: string;
  readonly flag: string;
  readonly kind: "string" | "number" | "boolean" | "list" | "numbers" | "json";
  readonly required: boolean;
  readonly positional: boolean;
  readonly choices: readonly string[] | null;
  readonly description: string;
}

export interface CliCommand {
  readonly command: string;
  readonly method: string;
  readonly summary: string;
  readonly description: string;
  /** Positional ones first, in their order. */
  readonly options: readonly CliOption[];
}

/** The command line of one action, or null when it has none. */
export function cliCommand(action: AnyAction): CliCommand | null {
  if (action.cli === null) return null;
  const { command, positional } = action.cli;
  const { properties, required } = parametersOf(action);
  const options = Object.entries(properties).map(
    ([name, schema]): CliOption => ({
      name,
      flag: `--${name.replaceAll("_", "-")}`,
      kind: kindOf(schema),
      required: required.includes(name),
      positional: positional.includes(name),
      choices: choicesOf(schema),
      description: typeof schema["description"] === "string" ? schema["description"] : "",
    }),
  );
  const first = positional.flatMap((name) => options.filter((option) => option.name === name));
  const rest = options.filter((option) => !option.positional);
  return {
    command,
    method: action.name,
    summary: action.summary,
    description: action.description,
    options: [...first, ...rest],
  };
}

/** How a shell's text becomes this parameter. */
function kindOf(schema: Json): CliOption["kind"] {
  const branches = branchesOf(schema);
  const types = branches.map((branch) => branch["type"]).filter((type) => type !== "null");
  if (types.includes("array")) return branches.some(isOfNumbers) ? "numbers" : "list";
  if (types.includes("object") || types.length === 0)
    return branches.some((b) => "enum" in b) ? "string" : "json";
  if (types.includes("string")) return "string";
  if (types.includes("number") || types.includes("integer")) return "number";
  return types.includes("boolean") ? "boolean" : "json";
}

/** A list of numbers and nothing else. */
const isOfNumbers = ({ items }: Json): boolean =>
  typeof items === "object" &&
  items !== null &&
  "type" in items &&
  /^(?:number|integer)$/.test(String(items.type));

function choicesOf(schema: Json): readonly string[] | null {
  const words = branchesOf(schema).flatMap((branch) => {
    const allowed = branch["enum"] ?? (branch["const"] === undefined ? null : [branch["const"]]);
    return Array.isArray(allowed) ? allowed.map(String) : [];
  });
  return words.length > 0 ? words : null;
}

function branchesOf(schema: Json): readonly Json[] {
  const { anyOf } = schema;
  // zod writes every union as anyOf with schemas in it.
  return Array.isArray(anyOf) ? (anyOf as Json[]) : [schema];
}
