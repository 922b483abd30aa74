/**
 * Carrying out verdicts, inside a job of the single writer: placing files that lag, committing edits that are
 * due, keeping what doesn't merge. Invariant: a person's text leaves the disk only for one that merges it.
 */
import { blobIdOf, fileId } from "../../domain/identity.ts";
import type { CommitId, NoteId, RepoPath } from "../../domain/note.ts";
import { stemOf } from "../../lib/slash-path.ts";
import { slicer } from "../../lib/slicer.ts";
import type { Draft, Publication } from "../../store/note-store.ts";
import { type Adoptable, adoptionDraft, type Merged, mergeDraft, type Signature } from "./adoption.ts";
import type { Standing } from "./looking.ts";
import type { ReconcilerDeps } from "./reconciler.ts";
import type { Edit, Group, Settling } from "./settling.ts";

export interface Adopter {
  /** Let base follow where disk = tip, and bring forward files that nobody touched; staged ones wait. */
  place(standings: readonly Standing[], staged: ReadonlySet<RepoPath>): Promise<void>;
  /** Make a working file hold the tip, if it still holds what was seen; else it is pending. */
  bringForward(standing: Standing): Promise<unknown>;
  /**
   * Commit groups that are due: all plain edits in one commit, each merged one in its own.
   *
   * @param force commit what conflicts as it lies on the disk
   * @returns `moved`: something changed under our hands, look again and repeat
   */
  commit(
    groups: readonly Group[],
    standings: readonly Standing[],
    sign: Signature,
    force: boolean,
  ): Promise<{ commits: CommitId[]; moved: boolean }>;
  readonly pending: ReadonlySet<RepoPath>;
}

/** A chain has at most 256 drafts; what is over goes into the next. */
const MAX_MERGES = 255;

/** Attempts at one commit of all edits without those that were refused; then each is committed by itself. */
const MAX_WITHOUT = 4;

/** Texts of one job that are held in memory; edits over it go into the next commit. */
const MAX_BYTES = 64 << 20;

/** Make the adopter of one reconciler. @param settling the edits that wait, which it forgets as they are committed */
export function createAdopter(deps: ReconcilerDeps, settling: Settling): Adopter {
  const { store } = deps;
  const pending = new Set<RepoPath>();
  /** Texts kept as conflicts for a path since it last was level. */
  const kept = new Map<RepoPath, { noteId: string; theirs: Set<string> }>();

  async function bringForward({ path, base, tip, disk }: Standing): Promise<Plan> {
    // Base followed a commit of the person's since the look: then what lies there may be an edit on top of that one.
    const asJudged = store.workTree.base(path) === base;
    if (!asJudged || !(await store.workTree.bringForward(path, tip, disk))) {
      pending.add(path);
      return { kind: "moved" };
    }
    pending.delete(path);
    settling.forget(path);
    return { kind: "done" };
  }

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
      renamedFrom(group, (path) => index.idAt(path)) ??
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

  async function adoptable(standing: Standing, group: Group): Promise<Adoptable | null> {
    if (standing.disk === null) return identify(standing, group, null);
    const bytes = await read(standing);
    return bytes === null ? null : identify(standing, group, bytes);
  }

  /** Keep the person's text as a conflict of the note; the file stays as it is and waits. */
  async function keep(standing: Standing, theirs: Uint8Array, noteId: NoteId): Promise<void> {
    const { path, base, tip, disk } = standing;
    if (disk === null) return;
    const since = new Date(deps.clock.now()).toISOString();
    await store.keepConflict({ note_id: noteId, path, base, ours: tip, theirs: disk, since }, theirs);
    const clash = kept.get(path) ?? { noteId, theirs: new Set() };
    kept.set(path, clash);
    clash.theirs.add(disk);
    settling.hold(path, "conflict");
  }

  /** The path is committed: conflicts that only held its earlier saves are resolved by it. */
  async function resolved(path: RepoPath): Promise<void> {
    pending.delete(path);
    settling.forget(path);
    const clash = kept.get(path);
    if (clash === undefined) return;
    kept.delete(path);
    const open = (await store.conflicts()).filter((conflict) => conflict.note_id === clash.noteId);
    if (open.every((conflict) => clash.theirs.has(conflict.theirs))) await store.dropConflicts(clash.noteId);
  }

  /** Both sides changed. */
  async function merge(standing: Standing, group: Group, force: boolean): Promise<Plan> {
    const theirs = await read(standing);
    if (theirs === null || standing.tip === null || standing.disk === null) return { kind: "moved" };
    const base = standing.base === null ? null : await store.readBlob(standing.base);
    const ours = await store.readBlob(standing.tip);
    const merged = deps.words.merge(standing.path, base, ours, theirs);
    const edit = identify(standing, group, theirs);
    const asItLies = merged === null ? force : Buffer.compare(merged, theirs) === 0;
    if (asItLies) return { kind: "adopt", edit };
    if (merged === null) {
      await keep(standing, theirs, edit.noteId);
      return { kind: "done" };
    }
    if (Buffer.compare(merged, ours) === 0) {
      return bringForward(standing);
    }
    return { kind: "merge", edit: { ...edit, bytes: merged, onDisk: standing.disk } };
  }

  async function plan(standing: Standing, group: Group, force: boolean): Promise<Plan> {
    switch (standing.verdict) {
      case "accept":
        return { kind: "done" };
      case "bring-forward":
        return bringForward(standing);
      case "adopt": {
        const edit = await adoptable(standing, group);
        return edit === null ? { kind: "moved" } : { kind: "adopt", edit };
      }
      case "merge":
        return merge(standing, group, force);
    }
  }

  async function settleOutcomes(publication: Publication, drafts: readonly { paths: readonly RepoPath[] }[]) {
    const commits: CommitId[] = [];
    for (const [i, outcome] of publication.outcomes.entries()) {
      if (outcome.kind !== "committed") continue;
      commits.push(outcome.events.commit.id);
      for (const path of drafts[i]?.paths ?? []) await resolved(path);
      for (const path of outcome.pending) pending.add(path);
    }
    return commits;
  }

  async function commitDrafts(drafts: readonly { draft: Draft; paths: readonly RepoPath[] }[]) {
    const publication = await deps.commitDrafts(drafts.map(({ draft }) => draft));
    return settleOutcomes(publication, drafts);
  }

  /**
   * All edits in one commit. What the branch refuses (a file or submodule lies where a folder must be) or what was
   * saved again meanwhile is left out, and stops no other.
   */
  async function commitAdoption(groups: readonly (readonly Adoptable[])[], sign: Signature) {
    const draftOf = (edits: readonly Adoptable[]) => ({
      draft: adoptionDraft(edits, sign),
      paths: edits.map((edit) => edit.path),
    });
    let left = groups;
    for (let tries = 0; tries < MAX_WITHOUT && left.length > 0; tries++) {
      const whole = draftOf(left.flat());
      const publication = await deps.commitDrafts([whole.draft]);
      const [outcome] = publication.outcomes;
      if (outcome === undefined || outcome.kind === "committed") {
        return { commits: await settleOutcomes(publication, [whole]), whole: left.length === groups.length };
      }
      const refused = new Set<RepoPath>(outcome.kind === "dirty" ? outcome.paths : [outcome.path]);
      left = left.filter((group) => !group.some((edit) => refused.has(edit.path)));
    }
    const one = left.slice(0, MAX_MERGES).map(draftOf);
    return { commits: one.length === 0 ? [] : await commitDrafts(one), whole: false };
  }

  return {
    pending,
    bringForward,
    async place(standings, staged) {
      const untouched: Standing[] = [];
      const turn = slicer();
      for (const standing of standings) {
        const pause = turn();
        if (pause !== null) await pause;
        const { path, verdict, base, tip, disk } = standing;
        if (verdict === "accept") {
          store.workTree.accept(path, tip);
          await resolved(path);
        }
        const deleted = disk === null && base !== null;
        if (verdict !== "bring-forward" || deleted) continue;
        if (staged.has(path)) pending.add(path);
        else untouched.push(standing);
      }
      // Asked for in one turn, the store brings them all under one taking of the locks.
      const brought = await Promise.allSettled(untouched.map(bringForward));
      brought.forEach((outcome, i) => {
        const path = untouched[i]?.path;
        if (outcome.status === "fulfilled" || path === undefined) return;
        // One that the disk refuses is pending, and stops no other.
        pending.add(path);
        deps.failed(outcome.reason);
      });
    },
    async commit(groups, standings, sign, force) {
      const byPath = new Map(standings.map((standing) => [standing.path, standing]));
      const adopts: Adoptable[][] = [];
      const merges: Merged[] = [];
      const turn = slicer();
      let moved = false;
      let bytes = 0;
      for (const group of groups) {
        if (bytes > MAX_BYTES) {
          moved = true;
          break;
        }
        const plans: Plan[] = [];
        for (const { path } of group.edits) {
          const pause = turn();
          if (pause !== null) await pause;
          const standing = byPath.get(path);
          if (standing === undefined) continue;
          const made = await plan(standing, group, force);
          if ("edit" in made) bytes += made.edit.bytes?.byteLength ?? 0;
          plans.push(made);
        }
        if (plans.some((p) => p.kind === "moved")) moved = true;
        else adopts.push(plans.flatMap((p) => (p.kind === "adopt" ? [p.edit] : [])));
        for (const p of plans) if (p.kind === "merge") merges.push(p.edit);
      }
      moved ||= merges.length > MAX_MERGES;
      const adopted = await commitAdoption(
        adopts.filter((group) => group.length > 0),
        sign,
      );
      const merging = merges
        .slice(0, MAX_MERGES)
        .map((edit) => ({ draft: mergeDraft(edit, sign), paths: [edit.path] }));
      const merged = merging.length === 0 ? [] : await commitDrafts(merging);
      const whole = adopted.whole && merged.length === merging.length;
      return { commits: [...adopted.commits, ...merged], moved: moved || !whole };
    },
  };
}

type Plan =
  | { readonly kind: "done" | "moved" }
  | { readonly kind: "adopt"; readonly edit: Adoptable }
  | { readonly kind: "merge"; readonly edit: Merged };

/** The id of the one missing file whose text the group's one new file has. */
function renamedFrom(group: Group, idAt: (path: RepoPath) => NoteId | null): NoteId | null {
  const missing = group.edits.filter((edit: Edit) => edit.blob === null);
  const [gone] = missing;
  return gone !== undefined && group.edits.length === 2 && missing.length === 1 ? idAt(gone.path) : null;
}
