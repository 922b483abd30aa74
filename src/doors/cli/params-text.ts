/** Parameters as text on a command line: JSON objects, and the names that options have in code. */
import { ProcessError } from "../../domain/process-error.ts";

export type Params = Record<string, unknown>;

/** Where commander keeps an option's value: `note_type` → `noteType`. */
export const optionKey = (name: string): string =>
  name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** @throws ProcessError USAGE what is no JSON object */
export function parseObject(text: string, flag: string): Params {
  try {
    const value: unknown = JSON.parse(text);
    // Checked: an object that is no array has string keys.
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Params;
  } catch (error) {
    throw new ProcessError("USAGE", `${flag} is not JSON: ${(error as Error).message}.`, error);
  }
  throw new ProcessError("USAGE", `${flag}: a JSON object is expected.`);
}
