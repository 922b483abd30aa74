/** What a person typed, as an action's parameters. Whether they are right is for the action's own schema. */
import type { CliCommand, CliOption } from "../../actions/describe.ts";
import { ProcessError } from "../../domain/process-error.ts";
import { optionKey, type Params, parseObject } from "./params-text.ts";
import type { Options } from "./shared-options.ts";

/**
 * Parameters from `--params`, then options, then positional arguments; what is more particular wins.
 * A text of `-` is standard input, which is read once.
 * @throws ProcessError USAGE
 */
export async function actionParams(
  command: CliCommand,
  options: Options,
  positional: readonly (string | undefined)[],
  readInput: () => Promise<string>,
): Promise<Params> {
  let input: string | null = null;
  const text = async (given: string): Promise<string> => {
    if (given !== "-") return given;
    if (input !== null) throw new ProcessError("USAGE", "Standard input can be only one of the parameters.");
    input = await readInput();
    return input;
  };
  const params: Params = {};
  if (typeof options["params"] === "string") {
    Object.assign(params, parseObject(await text(options["params"]), "--params"));
  }
  for (const option of command.options) {
    const given = options[optionKey(option.name)];
    if (given !== undefined) params[option.name] = await typedValue(option, given, text);
  }
  const wanted = command.options.filter((option) => option.positional);
  for (const [at, option] of wanted.entries()) {
    const given = positional[at];
    if (given !== undefined) params[option.name] = await typedValue(option, given, text);
  }
  return params;
}

async function typedValue(
  option: CliOption,
  given: unknown,
  text: (given: string) => Promise<string>,
): Promise<unknown> {
  if (option.kind === "boolean") return typeof given === "boolean" ? given : given === "true";
  if (option.kind === "list") return (Array.isArray(given) ? given : [given]).map(String);
  if (option.kind === "json")
    return pairs(Array.isArray(given) ? given.map(String) : [String(given)], option.flag);
  if (option.kind === "numbers") {
    return (Array.isArray(given) ? given : [given]).map((word) => numberOf(String(word), option.flag));
  }
  const word = String(given);
  if (option.kind === "string") return text(word);
  return word === "null" ? null : numberOf(word, option.flag);
}

function numberOf(word: string, flag: string): number {
  const value = Number(word);
  if (word.trim() !== "" && Number.isFinite(value)) return value;
  throw new ProcessError("USAGE", `${flag}: a number is expected, not ${JSON.stringify(word)}.`);
}

/** `key=value` pairs, or one JSON object. Values that read as JSON scalars are those; all others are text. */
function pairs(given: readonly string[], flag: string): Params {
  const [only] = given;
  if (given.length === 1 && only?.trimStart().startsWith("{")) return parseObject(only, flag);
  return Object.fromEntries(
    given.map((pair) => {
      const at = pair.indexOf("=");
      if (at < 1)
        throw new ProcessError("USAGE", `${flag}: KEY=VALUE is expected, not ${JSON.stringify(pair)}.`);
      return [pair.slice(0, at), scalar(pair.slice(at + 1))];
    }),
  );
}

function scalar(text: string): unknown {
  if (!/^(?:true|false|null|-?(?:0|[1-9]\d{0,14})(?:\.\d+)?|".*"|\[.*\])$/s.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text; // it only looked like JSON
  }
}
