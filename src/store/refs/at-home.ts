/** Whether the working files are the branch's own, with nothing of a person's Git under way on them. */
import type { RepoState } from "../note-store.ts";

/** Tell it from a state. A lock or a remote that went another way changes nothing about the files. */
export const isAtHome = ({ state }: RepoState): boolean =>
  state === "ok" || state === "unborn" || state === "locked" || state === "diverged";
