/**
 * Which calls may be sent again when their answer was lost: reads, and writes that carry a key. A write without
 * one is given a random one here, so a caller has to think of it only to repeat a write in another process.
 */
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { registry } from "../actions/registry.ts";
import { effectsOf } from "../actions/rights.ts";

export type Params = Readonly<Record<string, unknown>>;

/** The parameters with a random `idempotency_key`, where the method takes one and none is given. */
export function withKey(method: string, params: Params): Params {
  if (params["idempotency_key"] !== undefined || !isKeyed(method, params)) return params;
  return { ...params, idempotency_key: randomUUID() };
}

// Settling edits twice is settling them once; a session set twice is the same one.
const SAME_TWICE: ReadonlySet<string> = new Set(["session.set", "notes.commit"]);

/** Whether a call that is sent twice does what it does once. */
export function isResendable(method: string, params: Params): boolean {
  if (params["idempotency_key"] !== undefined || SAME_TWICE.has(method)) return true;
  const action = registry.get(method);
  return action !== undefined && effectsOf(action, params) === "read";
}

/** Whether a call is a write that a key makes repeatable. */
function isKeyed(method: string, params: Params): boolean {
  const action = registry.get(method);
  if (action === undefined || !takesKey(action.input)) return false;
  return effectsOf(action, params) !== "read";
}

/** Whether parameters may have a key: named, or among the further ones that a loose object lets through. */
function takesKey(input: z.ZodType): boolean {
  if (input instanceof z.ZodUnion)
    return input.options.some((one) => one instanceof z.ZodType && takesKey(one));
  if (!(input instanceof z.ZodObject)) return false;
  return "idempotency_key" in input.shape || input.def.catchall instanceof z.ZodUnknown;
}
