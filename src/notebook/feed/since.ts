/** What `since` of `notes.changes` and `notes.subscribe` names, as a cursor: a cursor, or any moment. */
import { NotesError } from "../../domain/errors.ts";
import type { Caller } from "../../domain/principal.ts";
import { type MomentDeps, resolveMoment } from "../moments.ts";
import { BEGINNING, parseCursor } from "./cursor.ts";

/**
 * @param resyncFrom  the cursor of the head, for who asks from an unknown commit
 * @throws NotesError INVALID_PARAMS no cursor, commit, time or word; UNKNOWN_COMMIT with `data.resync_from`
 */
export async function cursorSince(
  deps: MomentDeps,
  text: string,
  caller: Caller,
  resyncFrom: string,
): Promise<string> {
  if (parseCursor(text)) return text;
  try {
    return (await resolveMoment(deps, text, caller, "since")).commit ?? BEGINNING;
  } catch (error) {
    if (!(error instanceof NotesError) || error.code !== "UNKNOWN_COMMIT") throw error;
    throw new NotesError(error.code, error.message, { ...error.data, resync_from: resyncFrom }, error);
  }
}
