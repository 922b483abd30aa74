/** Hand edits that wait for somebody, each with why: what a person who asked for a commit is told. */
import type { RepoPath } from "../../domain/note.ts";
import type { SecretMatch } from "../../domain/secrets/secrets.ts";
import type { Reconciler } from "./reconciler.ts";
import type { Hold } from "./settling.ts";

/** A hand edit that stays uncommitted. */
export interface HeldFile {
  readonly path: RepoPath;
  /** `staged`: for the person's own git commit; `manual`: until asked; `conflict`; `secret`: for what `matches` say. */
  readonly why: Hold;
  readonly matches: readonly SecretMatch[];
}

/** Those of given paths, or all, by path. */
export function heldFiles(
  reconciler: Pick<Reconciler, "unsettled" | "held" | "heldEdit">,
  paths?: readonly RepoPath[],
): HeldFile[] {
  return reconciler.unsettled().flatMap((path) => {
    const why = paths === undefined || paths.includes(path) ? reconciler.held(path) : null;
    return why === null ? [] : [{ path, why, matches: reconciler.heldEdit(path)?.matches ?? [] }];
  });
}
