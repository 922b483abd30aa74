/** Turns an operation that a person has under way on our branch into the refusal of a write. */
import { NotesError } from "../../domain/errors.ts";
import type { RepoState } from "../note-store.ts";

const RETRY_MS = 1_000;

/** @throws NotesError REPO_BUSY with `state`, `path` and `retry_after_ms` */
export function refuseBusy(state: RepoState): void {
  switch (state.state) {
    case "ok":
    case "elsewhere":
    case "unborn":
    // A lock is waited for where it is taken; what a remote has is the sync's business.
    case "locked":
    case "diverged":
      return;
    case "unsupported":
      throw new NotesError("REPO_BUSY", `${state.why} Until then nothing can be written here.`, {
        state: state.state,
        path: state.path,
        retry_after_ms: RETRY_MS,
      });
    default:
      throw new NotesError(
        "REPO_BUSY",
        `A ${state.state} is under way in the repository; finish or abort it, then send the request again.`,
        { state: state.state, path: state.path, retry_after_ms: RETRY_MS },
      );
  }
}
