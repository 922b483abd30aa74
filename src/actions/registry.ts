/** The catalogue: every action there is, one line each. A method that isn't here doesn't exist at any door. */
import type { Action } from "./action.ts";
import { notesCreate } from "./notes-create.ts";
import { notesRead } from "./notes-read.ts";

export const ACTIONS = [notesCreate, notesRead] as const;

/** Some action, its own types forgotten: what doors and generators work with. */
export type AnyAction = Action;

/** Actions by method name. */
export type Registry = ReadonlyMap<string, AnyAction>;

export const registry: Registry = new Map(
  ACTIONS.map((action): [string, AnyAction] => [action.name, action]),
);
