/**
 * Carrying out verdicts, inside a job of the single writer: placing files that lag, and committing edits that are
 * due, each as `plan-edit.ts` says. Invariant: a person's text leaves the disk only for one that merges it.
 */
import type { CommitId, RepoPath } from "../../domain/note.ts";
import { slicer } from "../../lib/slicer.ts";
import type { Draft, Publication } from "../../store/note-store.ts";
import { type Adoptable, adoptionDraft, type Merged, mergeDraft, type Signature } from "./adoption.ts";
import type { HeldEdits } from "./held-edits.ts";
import { keptConflicts } from "./kept-conflicts.ts";
import type { Standing } from "./looking.ts";
import { createPlanEdit, type EditPlan } from "./plan-edit.ts";
import type { ReconcilerDeps } from "./reconciler.ts";
import type { SecretCheck } from "./secret-check.ts";
import type { Group, Settling } from "./settling.ts";

export interface Adopter {
  /** Let base follow where disk = tip, and bring forward files that nobody touched; staged ones wait. */
  place(standings: readonly Standing[], staged: ReadonlySet<RepoPath>): Promise<void>;
  /** Make a working file hold the tip, if it still holds what was seen; else it is pending. */
  bringForward(standing: Standing): Promise<unknown>;
  /**
   * Commit groups that are due: all plain edits in one commit, each merged one in its own. What would bring a secret
   * into the repository is held, and so is what settles with it.
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
export function createAdopter(
  deps: ReconcilerDeps,
  parts: { readonly settling: Settling; readonly books: HeldEdits; readonly check: SecretCheck },
): Adopter {
  const { store } = deps;
  const { settling, books } = parts;
  const pending = new Set<RepoPath>();
  const conflicts = keptConflicts({ ...deps, settling });

  async function bringForward({ path, base, tip, disk }: Standing): Promise<EditPlan> {
    // Base followed a commit of the person's since the look: then what lies there may be an edit on top of that one.
    const asJudged = store.workTree.base(path) === base;
    if (!asJudged || !(await store.workTree.bringForward(path, tip, disk))) {
      pending.add(path);
      return { kind: "moved" };
    }
    pending.delete(path);
    settling.forget(path);
    books.forget(path);
    return { kind: "done" };
  }

  const plan = createPlanEdit(deps, { ...parts, conflicts, bringForward });

  async function resolved(path: RepoPath): Promise<void> {
    pending.delete(path);
    settling.forget(path);
    books.forget(path);
    await conflicts.resolved(path);
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
      const waiting = new Set<RepoPath>();
      const turn = slicer();
      let moved = false;
      let bytes = 0;
      for (const group of groups) {
        if (bytes > MAX_BYTES) {
          moved = true;
          break;
        }
        const plans: EditPlan[] = [];
        for (const { path } of group.edits) {
          const pause = turn();
          if (pause !== null) await pause;
          const standing = byPath.get(path);
          if (standing === undefined) continue;
          const made = await plan(standing, group, force);
          if ("edit" in made) bytes += made.edit.bytes?.byteLength ?? 0;
          plans.push(made);
        }
        for (const p of plans) if (p.kind === "held" && p.from !== null) waiting.add(p.from);
        if (plans.some((p) => p.kind === "held")) continue;
        if (plans.some((p) => p.kind === "moved")) moved = true;
        else adopts.push(plans.flatMap((p) => (p.kind === "adopt" ? [p.edit] : [])));
        for (const p of plans) if (p.kind === "merge") merges.push(p.edit);
      }
      moved ||= merges.length > MAX_MERGES;
      const adopted = await commitAdoption(
        adopts.filter((group) => group.length > 0 && !group.some(({ path }) => waiting.has(path))),
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
