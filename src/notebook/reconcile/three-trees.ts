/**
 * Base, tip and disk: what to do with one working file. Pure; what the three are is the caller's to know.
 * *base* is what the file was last known to hold, *tip* what the branch holds, *disk* what lies there now;
 * null means absent. Invariant: no verdict lets a text that only the disk holds be overwritten.
 */
import type { BlobId } from "../../domain/note.ts";

export type Verdict =
  /** All three agree. */
  | { readonly kind: "level" }
  /** The file holds the tip already; only base lags. */
  | { readonly kind: "accept" }
  /** Nobody touched the file, or a deletion met an edit: it must come to hold the tip. */
  | { readonly kind: "bring-forward" }
  /** The disk's own state is a person's edit on top of the tip: a new text, or a deletion. */
  | { readonly kind: "adopt" }
  /** Both sides wrote something different. */
  | { readonly kind: "merge" };

const verdict = (kind: Verdict["kind"]): Verdict => ({ kind });

/**
 * Judge one path.
 *
 * @see spec: storage, section 3 (three trees) and 5 (edit against delete keeps the edit)
 */
export function judge(base: BlobId | null, tip: BlobId | null, disk: BlobId | null): Verdict {
  if (disk === tip) return verdict(base === tip ? "level" : "accept");
  if (base === tip) return verdict("adopt");
  if (disk === base) return verdict("bring-forward");
  if (disk === null) return verdict("bring-forward");
  if (tip === null) return verdict("adopt");
  return verdict("merge");
}
