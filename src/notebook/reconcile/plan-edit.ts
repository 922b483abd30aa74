/**
 * What becomes of one hand edit that is due: adopted as it lies, merged, kept as a conflict, or held for a secret. The
 * texts are read here and nothing is committed. Invariant: whatever a plan would bring into the repository was
 * searched for secrets, and a text that holds one stays on the disk alone.
 */
import { blobIdOf, fileId } from "../../domain/identity.ts";
import { isMemoryId } from "../../domain/memory/memory-words.ts";
import type { BlobId, NoteId, RepoPath } from "../../domain/note.ts";
import type { SecretMatch } from "../../domain/secrets/secrets.ts";
import { stemOf } from "../../lib/slash-path.ts";
import type { Adoptable, Merged } from "./adoption.ts";
import type { HeldEdits } from "./held-edits.ts";
import type { KeptConflicts } from "./kept-conflicts.ts";
import type { Standing } from "./looking.ts";
import type { ReconcilerDeps } from "./reconciler.ts";
import type { SecretCheck } from "./secret-check.ts";
import type { Edit, Group, Settling } from "./settling.ts";

export type EditPlan =
  /** `moved`: it changed under our hands. */
  | { readonly kind: "done" | "moved" }
  /** For a secret, with all that settles with it; `from`: where the note lay before. */
  | { readonly kind: "held"; readonly from: RepoPath | null }
  | { readonly kind: "adopt"; readonly edit: Adoptable }
  | { readonly kind: "merge"; readonly edit: Merged };

/** Plan an edit of a group. @param force adopt what conflicts as it lies on the disk */
type PlanEdit = (standing: Standing, group: Group, force: boolean) => Promise<EditPlan>;

/** @param bringForward makes a working file hold the tip */
export function createPlanEdit(
  deps: Pick<ReconcilerDeps, "store" | "index" | "words">,
  parts: {
    readonly settling: Settling;
    readonly books: HeldEdits;
    readonly check: SecretCheck;
    readonly conflicts: KeptConflicts;
    readonly bringForward: (standing: Standing) => Promise<EditPlan>;
  },
): PlanEdit {
  const { store } = deps;
  const { settling, books, check, conflicts, bringForward } = parts;

  /** The bytes that were judged; null when the file changed again since. */
  async function read({ path, disk }: Standing): Promise<Uint8Array | null> {
    const bytes = await store.workTree.read(path);
    return bytes !== null && blobIdOf(bytes) === disk ? bytes : null;
  }

  /** Who the note is: by its path, by the file that was renamed to this one, by what the file says, by name. */
  function identify(standing: Standing, group: Group, bytes: Uint8Array | null) {
    const index = deps.index();
    const said = bytes === null ? null : deps.words.describe(standing.path, bytes);
    const known = standing.tip === null ? null : index.idAt(standing.path);
    const own = said?.id ?? null;
    const free = own !== null && index.get(own)?.note_id !== own ? own : null;
    const noteId: NoteId =
      known ??
      // A memory is its path: moved there, or away, it is another.
      (own !== null && isMemoryId(own) ? own : renamedFrom(group, (path) => index.idAt(path))) ??
      free ??
      fileId(standing.path, (id) => index.idTaken(id));
    const before = index.get(noteId);
    return {
      path: standing.path,
      noteId,
      title: said?.title ?? before?.title ?? stemOf(standing.path),
      noteType: before?.type ?? said?.type ?? "general",
      expected: standing.tip,
      bytes,
    };
  }

  async function adopt(standing: Standing, group: Group): Promise<EditPlan> {
    const { disk, tip } = standing;
    if (disk === null) return { kind: "adopt", edit: identify(standing, group, null) };
    // A file that moved brings nothing that the branch doesn't have.
    const known = [tip, ...group.edits.map(({ was }) => was)];
    const held = known.includes(disk) ? null : await holdSecret(standing, await check.fresh(disk, known));
    if (held !== null) return held;
    const bytes = await read(standing);
    if (bytes === null) return { kind: "moved" };
    const edit = identify(standing, group, bytes);
    return (await besideText(standing, edit.title, known)) ?? { kind: "adopt", edit };
  }

  /** What comes into the repository beside the text: the path in a tree, and in a message the title without escapes. */
  async function besideText(
    standing: Standing,
    title: string,
    known: readonly (BlobId | null)[],
  ): Promise<EditPlan | null> {
    const search = async (text: string) =>
      (await check.freshIn(Buffer.from(text), known)).map((match) => ({ ...match, line: 0 }));
    const named = standing.tip === null ? await search(standing.path) : [];
    if (named.length > 0) return holdSecret(standing, named, true);
    return holdSecret(standing, await search(title));
  }

  /** Hold an edit that would bring secrets. @param matches null: its text was not searched yet */
  async function holdSecret(
    standing: Standing,
    matches: readonly SecretMatch[] | null,
    isName = false,
  ): Promise<EditPlan | null> {
    const { path, disk, tip } = standing;
    if (matches?.length === 0) return null;
    if (matches === null || disk === null) return { kind: "moved" };
    const from = tip === null ? await tieToSource(standing) : null;
    if (settling.get(path)?.blob !== disk) return { kind: "moved" };
    books.hold({ path, blob: disk, was: tip, matches, from, isName });
    settling.hold(path, "secret");
    return { kind: "held", from };
  }

  /** A note that was moved and given a secret stays where it was until it comes along. */
  async function tieToSource(standing: Standing): Promise<RepoPath | null> {
    const bytes = await read(standing);
    const id = bytes === null ? null : deps.words.describe(standing.path, bytes).id;
    if (id === null) return null;
    for (const { path, blob } of settling.all()) {
      if (blob !== null || deps.index().idAt(path) !== id) continue;
      settling.tie(path, standing.path);
      return path;
    }
    return null;
  }

  /** Both sides changed. */
  async function merge(standing: Standing, group: Group, force: boolean): Promise<EditPlan> {
    const theirs = await read(standing);
    if (theirs === null || standing.tip === null || standing.disk === null) return { kind: "moved" };
    const base = standing.base === null ? null : await store.readBlob(standing.base);
    const ours = await store.readBlob(standing.tip);
    const merged = deps.words.merge(standing.path, base, ours, theirs);
    const edit = identify(standing, group, theirs);
    if (merged !== null && Buffer.compare(merged, ours) === 0) return bringForward(standing);
    const asItLies = merged === null ? force : Buffer.compare(merged, theirs) === 0;
    // What is kept beside the branch may hold what either side has; what goes onto it, what the branch has.
    const known =
      merged === null && !force ? [standing.tip, base === null ? null : standing.base] : [standing.tip];
    const held = await holdSecret(standing, await check.freshIn(merged ?? theirs, known));
    const beside = held ?? (await besideText(standing, edit.title, known));
    if (beside !== null) return beside;
    if (asItLies) return { kind: "adopt", edit };
    if (merged === null) {
      await conflicts.keep(standing, theirs, edit.noteId);
      return { kind: "done" };
    }
    return { kind: "merge", edit: { ...edit, bytes: merged, onDisk: standing.disk } };
  }

  return async (standing, group, force) => {
    switch (standing.verdict) {
      case "accept":
        return { kind: "done" };
      case "bring-forward":
        return bringForward(standing);
      case "adopt":
        return adopt(standing, group);
      case "merge":
        return merge(standing, group, force);
    }
  };
}

/** The id of the one missing file whose text the group's one new file has. */
function renamedFrom(group: Group, idAt: (path: RepoPath) => NoteId | null): NoteId | null {
  const missing = group.edits.filter((edit: Edit) => edit.blob === null);
  const [gone] = missing;
  const id = gone !== undefined && group.edits.length === 2 && missing.length === 1 ? idAt(gone.path) : null;
  return id !== null && isMemoryId(id) ? null : id;
}
