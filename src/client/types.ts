/** The client's types, mapped from the actions themselves: nothing is generated and nothing can drift. */
import type { z } from "zod";
import type { ACTIONS } from "../actions/registry.ts";
import type { Filters } from "../domain/filters.ts";

type Actions = (typeof ACTIONS)[number];
type ActionOf<M extends Method> = Extract<Actions, { readonly name: M }>;

/** Every method there is. */
export type Method = Actions["name"];
/** What a method takes. */
export type ParamsOf<M extends Method> = z.input<ActionOf<M>["input"]>;
/** What a method answers. */
export type ResultOf<M extends Method> = z.output<ActionOf<M>["output"]>;

// The second form is there where every parameter may be absent.
type Call<M extends Method> =
  Record<never, never> extends ParamsOf<M>
    ? (params?: ParamsOf<M>) => Promise<ResultOf<M>>
    : (params: ParamsOf<M>) => Promise<ResultOf<M>>;

/** Subscriptions live on a connection: `client.subscribe` makes and keeps them. */
type ByConnection = "notes.subscribe" | "notes.unsubscribe";

type Space<M extends string> = M extends `${infer S}.${string}` ? S : never;

/** Methods as functions: `client.notes.create({…})`. */
export type Spaces = {
  readonly [S in Space<Method>]: {
    readonly [M in Exclude<Method, ByConnection> as M extends `${S}.${infer Name}` ? Name : never]: Call<M>;
  };
};

/** What a subscription may ask for; `since` a cursor or a moment, absent: from now on. */
export type SubscriptionFilter = z.input<z.ZodObject<typeof Filters>> & {
  readonly [key: `extra.${string}`]: string;
};

/** One change of one note, as subscriptions and `notes.changes` tell it. */
export type Changed = ResultOf<"notes.changes">["changes"][number];
