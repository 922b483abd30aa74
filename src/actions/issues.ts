/** What is wrong with parameters, as sentences that name each one: `data.issues` of INVALID_PARAMS. */
import { z } from "zod";
import { NotesError } from "../domain/errors.ts";
import { nearest } from "../lib/nearest.ts";

interface Issue {
  /** Names joined by dots, e.g. `tags.0`; empty for the parameters as a whole. */
  readonly path: string;
  readonly message: string;
}

const MAX_ISSUES = 20;
const short = (text: string) => (text.length > 100 ? `${text.slice(0, 100)}…` : text);

/** INVALID_PARAMS with its issues, the first of them in the message. */
export function invalidParams(method: string, issues: readonly Issue[], didYouMean?: string): NotesError {
  const first = issues[0] ?? { path: "", message: "are not what was expected" };
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more, see data.issues)` : "";
  const subject = first.path === "" ? "the parameters" : first.path;
  return new NotesError(
    "INVALID_PARAMS",
    `${method}: ${subject} ${first.message}${more}${more === "" && first.message.endsWith("?") ? "" : "."}`,
    {
      issues: issues.slice(0, MAX_ISSUES),
      ...(didYouMean === undefined ? {} : { did_you_mean: didYouMean }),
    },
  );
}

/** The names an action's parameters may have, for "did you mean". */
export function parameterNames(input: z.ZodType): string[] {
  return input instanceof z.ZodObject ? Object.keys(input.shape) : [];
}

/** Turn zod's refusal into ours. */
export function paramsError(
  method: string,
  error: z.ZodError,
  params: unknown,
  input: z.ZodType,
): NotesError {
  const known = parameterNames(input);
  let didYouMean: string | undefined;
  const issues = error.issues.flatMap((issue): Issue[] => {
    if (issue.code !== "unrecognized_keys" || issue.path.length > 0) {
      return [{ path: short(issue.path.join(".")), message: sentence(issue, valueAt(params, issue.path)) }];
    }
    return issue.keys.slice(0, MAX_ISSUES).map((key) => {
      const near = nearest(key, known);
      didYouMean ??= near ?? undefined;
      const hint =
        near === null ? `; ${method} takes ${known.join(", ") || "none"}` : `; did you mean ${near}?`;
      return { path: short(key), message: `is not a parameter of ${method}${hint}` };
    });
  });
  return invalidParams(method, issues, didYouMean);
}

function sentence(issue: z.core.$ZodIssue, value: unknown): string {
  switch (issue.code) {
    case "invalid_type":
      return value === undefined
        ? `is required: ${a(issue.expected)}`
        : `must be ${a(issue.expected)}, not ${nameOf(value)}`;
    case "invalid_value": {
      const allowed = issue.values.map((one) => JSON.stringify(one)).join(" or ");
      return value === undefined ? `is required: ${allowed}` : `must be ${allowed}, not ${nameOf(value)}`;
    }
    case "too_small":
      if (issue.origin !== "number") return `needs at least ${issue.minimum} ${unit(issue.origin)}`;
      return `must be ${issue.inclusive === false ? "above" : "at least"} ${issue.minimum}`;
    case "too_big":
      if (issue.origin !== "number") return `has at most ${issue.maximum} ${unit(issue.origin)}`;
      return `must be at most ${issue.maximum}`;
    case "not_multiple_of":
      return "must be a whole number";
    case "invalid_union": {
      // The branch that got inside the value is the one that was meant: a list's member, say.
      const inside = issue.errors.map(([first]) => first).find((first) => first && first.path.length > 0);
      if (inside && value !== undefined) return sentence(inside, valueAt(value, inside.path));
      const branches = issue.errors.flatMap((errors) => errors.slice(0, 1));
      const types = branches.flatMap((branch) =>
        branch.code === "invalid_type" ? [a(branch.expected)] : [],
      );
      if (value === undefined) return `is required: ${types.join(" or ")}`;
      const other = branches.find((branch) => branch.code !== "invalid_type");
      if (other === undefined) return `must be ${types.join(" or ")}, not ${nameOf(value)}`;
      return sentence(other, value);
    }
    case "unrecognized_keys":
      return `has unknown members: ${issue.keys.map(short).slice(0, MAX_ISSUES).join(", ")}`;
    case "invalid_key":
      return "has a name of a member that is empty or too long";
    default:
      return issue.message;
  }
}

const a = (type: string) => (/^[aeio]/.test(type) ? `an ${type}` : type === "null" ? type : `a ${type}`);
const unit = (origin: string) => (origin === "string" ? "characters" : "items");

function nameOf(value: unknown): string {
  if (value === null) return "null";
  if (typeof value === "string") return JSON.stringify(short(value));
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `${typeof value} ${String(value)}`;
}

function valueAt(params: unknown, path: readonly PropertyKey[]): unknown {
  let value = params;
  for (const step of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return undefined;
    value = Object.getOwnPropertyDescriptor(value, step)?.value;
  }
  return value;
}
