/** Hand edits as a person asks for them: committed at once, and what stays uncommitted all the same. */
import { commitPath } from "./commit-path.ts";
import type { Notebook } from "./notebook.ts";
import type { FirstLook } from "./reconcile/first-look.ts";
import { heldFiles } from "./reconcile/held-files.ts";
import type { Reconciler } from "./reconcile/reconciler.ts";
import type { SecretGuard } from "./secrets/secret-guard.ts";
import { refusal } from "./writing/refuse-secrets.ts";

/** The part of a notebook that `notes.commit` asks. */
export function handEdits({
  reconciler,
  firstLook,
  secrets,
  roots,
}: {
  readonly reconciler: Pick<Reconciler, "settle" | "unsettled" | "held" | "heldEdit">;
  readonly firstLook: Pick<FirstLook, "wait">;
  readonly secrets: Pick<SecretGuard, "find">;
  /** Where notes may lie. */
  readonly roots: readonly string[];
}): Pick<Notebook, "settle" | "held"> {
  const noted = (paths: readonly string[] | undefined) => paths?.map((path) => commitPath(path, roots));
  return {
    async settle(paths, reason) {
      const files = noted(paths);
      // It goes into the commit, as it is.
      const found = await secrets.find(reason ?? "", null);
      if (found.length > 0)
        throw refusal(
          found.map(({ kind, fingerprint }) => ({ kind, fingerprint, line: 0, where: "reason" })),
          0,
        );
      await firstLook.wait();
      return reconciler.settle(files, reason, "person");
    },
    held: (paths) => heldFiles(reconciler, noted(paths)),
  };
}
