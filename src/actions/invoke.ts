/**
 * One call, from a method's name and its raw parameters to a result: find, authorise, parse, run.
 * Every door comes through here, so what holds here holds at every door.
 */
import { z } from "zod";
import { NotesError } from "../domain/errors.ts";
import { canonicalHash } from "../lib/canonical-json.ts";
import { findUnkeepable, isDeeperThan } from "../lib/json-walk.ts";
import { nearest } from "../lib/nearest.ts";
import type { AnyAction, Context, Registry } from "./action.ts";
import { refusalOf } from "./gate/refusal.ts";
import { invalidParams, parameterNames, paramsError } from "./issues.ts";
import { authoriseCall, effectsOf } from "./rights.ts";

export interface Call {
  readonly method: string;
  /** As the caller sent them; must be a record of JSON values or absent. */
  readonly params: unknown;
}

/** A context before the request itself is known. */
export type CallContext = Omit<Context, "requestHash" | "method">;

interface InvokeOptions {
  /** Hold each result to its schema; for tests. */
  readonly checkOutput?: boolean;
}

const DEPTH = 64;

/**
 * Carry out one call.
 *
 * @returns the action's result, JSON
 * @throws NotesError OVERLOADED, METHOD_NOT_FOUND, FORBIDDEN, INVALID_PARAMS, and what the action says
 */
export async function invoke(
  registry: Registry,
  call: Call,
  context: CallContext,
  options: InvokeOptions = {},
): Promise<unknown> {
  const action = registry.get(call.method);
  const { principal } = context.caller;
  let leave = () => {};
  try {
    leave = context.daemon.quota.enter(principal, action ? effectsOf(action, call.params) : "read");
    if (action === undefined) throw unknownMethod(call.method, registry);
    return await carryOut(action, call, context, options);
  } catch (error) {
    const refusal = refusalOf(error, principal, action?.name ?? "");
    if (refusal !== null) context.daemon.refused(refusal);
    throw error;
  } finally {
    leave();
  }
}

async function carryOut(
  action: AnyAction,
  call: Call,
  context: CallContext,
  options: InvokeOptions,
): Promise<unknown> {
  const given = paramsOf(call);
  authoriseCall(action, given, context.caller);
  const params = parseParams(action, given);
  context.notebook.seen(context.caller);
  try {
    const result = await action.run(params, {
      ...context,
      method: action.name,
      requestHash: requestHash(call.method, given),
    });
    if (options.checkOutput) checkOutput(action, result);
    return result;
  } finally {
    // Again, since a write moves the head that `last` will mean.
    context.notebook.seen(context.caller);
  }
}

function unknownMethod(method: string, registry: Registry): NotesError {
  const shown = method.length > 80 ? `${method.slice(0, 80)}…` : method;
  const near = nearest(method, registry.keys());
  const hint = near === null ? "rpc.discover lists them all" : `did you mean ${near}?`;
  return new NotesError("METHOD_NOT_FOUND", `There is no method ${JSON.stringify(shown)}; ${hint}`, {
    ...(near === null ? {} : { did_you_mean: near }),
  });
}

function paramsOf({ method, params }: Call): Readonly<Record<string, unknown>> {
  if (params === undefined || params === null) return {};
  if (Array.isArray(params) && params.length === 0) return {};
  if (typeof params !== "object" || Array.isArray(params)) {
    throw invalidParams(method, [{ path: "", message: "are by name: send an object, not an array" }]);
  }
  if (isDeeperThan(params, DEPTH)) {
    throw invalidParams(method, [{ path: "", message: `nest deeper than ${DEPTH} levels` }]);
  }
  const unkeepable = findUnkeepable(params);
  if (unkeepable) {
    const path = unkeepable.path.slice(0, 100).replace(/\p{Surrogate}/gu, "\ufffd");
    throw invalidParams(method, [{ path, message: unkeepable.problem }]);
  }
  // An object that is no array, with the string keys of JSON.
  return params as Record<string, unknown>;
}

/**
 * Parameters as the action's schema wants them: `extra.KEY` gathered into `extra`, defaults filled in.
 *
 * @throws NotesError INVALID_PARAMS with data.issues
 */
export function parseParams(action: AnyAction, given: Readonly<Record<string, unknown>>): unknown {
  const gathered = parameterNames(action.input).includes("extra") ? gatherExtra(action.name, given) : given;
  const parsed = action.input.safeParse(gathered);
  if (!parsed.success) throw paramsError(action.name, parsed.error, gathered, action.input);
  return parsed.data;
}

function gatherExtra(method: string, given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const dotted = Object.keys(given).filter((name) => name.startsWith("extra.") && name.length > 6);
  if (dotted.length === 0) return given;
  const rest = Object.fromEntries(Object.entries(given).filter(([name]) => !dotted.includes(name)));
  const extra = given["extra"] ?? {};
  if (typeof extra !== "object" || Array.isArray(extra)) {
    throw invalidParams(method, [{ path: "extra", message: "must be an object" }]);
  }
  for (const name of dotted) {
    if (Object.hasOwn(extra, name.slice(6))) {
      throw invalidParams(method, [{ path: name, message: "is given twice, here and in extra" }]);
    }
  }
  return {
    ...rest,
    extra: { ...extra, ...Object.fromEntries(dotted.map((name) => [name.slice(6), given[name]])) },
  };
}

/** Over the parameters as they were sent, so that a client in any language computes the same. */
function requestHash(method: string, given: Readonly<Record<string, unknown>>): string | null {
  const { idempotency_key: key, ...params } = given;
  return key === undefined ? null : canonicalHash({ method, params });
}

function checkOutput(action: AnyAction, result: unknown): void {
  const parsed = action.output.safeParse(result);
  if (!parsed.success) {
    throw new NotesError(
      "INTERNAL",
      `${action.name} answered outside its schema: ${z.prettifyError(parsed.error)}`,
    );
  }
}
