/** Hand edits as a person asks for them: committed at once, and what stays uncommitted all the same. */
import { commitPath } from "./commit-path.ts";
import type { Notebook } from "./notebook.ts";
import type { FirstLook } from "./reconcile/first-look.ts";
import { heldFiles } from "./reconcile/held-files.ts";
import type { Reconciler } from "./reconcile/reconciler.ts";

/** The part of a notebook that `notes.commit` asks. */
export function handEdits({
  reconciler,
  firstLook,
  roots,
}: {
  readonly reconciler: Pick<Reconciler, "settle" | "unsettled" | "held" | "heldEdit">;
  readonly firstLook: Pick<FirstLook, "wait">;
  /** Where notes may lie. */
  readonly roots: readonly string[];
}): Pick<Notebook, "settle" | "held"> {
  const noted = (paths: readonly string[] | undefined) => paths?.map((path) => commitPath(path, roots));
  return {
    async settle(paths, reason) {
      const files = noted(paths);
      await firstLook.wait();
      return reconciler.settle(files, reason, "person");
    },
    held: (paths) => heldFiles(reconciler, noted(paths)),
  };
}
