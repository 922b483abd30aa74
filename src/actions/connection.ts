/** Actions that belong to one connection, and how they are refused where there is none. */
import { NotesError } from "../domain/errors.ts";
import type { Connection, Context } from "./action.ts";

/** The caller's connection. @throws NotesError INVALID_REQUEST over HTTP, which has none */
export function connectionOf(method: string, context: Context, instead: string): Connection {
  if (context.connection !== null) return context.connection;
  throw new NotesError("INVALID_REQUEST", `${method} needs a WebSocket: connect to /rpc. ${instead}.`);
}
