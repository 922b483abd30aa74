/** One note that changed: which sections of a review tell of it, and what. */
import { type CommitId, isExpired, type NoteId } from "../../domain/note.ts";
import type { NoteIndex } from "../../index/note-index.ts";
import type { Sections, Touched } from "./collect.ts";
import { createLineage } from "./lineage.ts";
import { stateAt, stepsOf, type Told, tellingStep, toldBy } from "./note-steps.ts";
import { lostLines } from "./peoples-text.ts";
import type { ReviewDeps, Reviewed } from "./review.ts";

const EXCERPT_CHARS = 200;
const TELLING: ReadonlySet<string> = new Set(["title", "type", "status", "content"]);

interface Looked extends Touched {
  readonly noteId: NoteId;
  readonly base: readonly CommitId[];
  readonly head: CommitId | null;
}

/** Look at one note, and add what a person should know of it. */
export async function reviewNote(deps: ReviewDeps, looked: Looked, sections: Sections): Promise<void> {
  const { noteId, rows, base, head } = looked;
  const [newest] = rows;
  if (newest === undefined) return;
  let before = null;
  for (const commit of base) before ??= await stateAt(deps, commit, noteId);
  const now = await stateAt(deps, head, noteId);
  const meta = now?.state.metadata ?? null;
  const wasOpen = isOpenBlocker(before?.state.metadata);
  const { title, type } = meta ?? { title: newest.title, type: newest.type ?? "general" };
  const told = (status: string, step: Told): Reviewed => ({ noteId, title, type, status, ...step });
  if (now === null) {
    const gone = rows.find((row) => row.revision === null) ?? newest;
    // What expired did as somebody had set it to.
    if (gone.action !== "expire") sections.deleted.push(told("deleted", await toldBy(deps, gone)));
  } else if (meta !== null && !isExpired(meta, deps.nowMs())) {
    const asked = meta.type === "conclusion" || meta.type === "blocker" || wasOpen;
    const steps = asked ? await stepsOf(deps, rows, before?.state ?? null) : [];
    if (meta.type === "conclusion") {
      const step = await tellingStep(deps, steps, ({ fields }) => fields.some((field) => TELLING.has(field)));
      const isNew = before?.state.metadata?.type !== "conclusion";
      if (step)
        sections.conclusions.push({
          ...told(meta.status, step),
          isNew,
          excerpt: excerptOf(now.state.content),
        });
    }
    const isOpen = isOpenBlocker(meta);
    const wasEver = wasOpen || steps.some(({ after }) => isOpenBlocker(after?.metadata));
    if (isOpen ? !wasOpen : wasEver) {
      const step = await tellingStep(
        deps,
        steps,
        ({ fields, after }) =>
          isOpenBlocker(after?.metadata) === isOpen && (fields.includes("status") || fields.includes("type")),
      );
      const shown = told(meta.status, step ?? (await toldBy(deps, newest)));
      (isOpen ? sections.opened : sections.closed).push(shown);
    }
  }
  await reviewEdits(deps, looked, told(meta?.status ?? "deleted", await toldBy(deps, newest)), sections);
}

const isOpenBlocker = (meta: { type: string; status: string } | null | undefined): boolean =>
  meta?.type === "blocker" && meta.status === "open";

/** Agents' steps on one note that took lines of people's away: one entry for the note, told by the newest of them. */
async function reviewEdits(
  deps: ReviewDeps,
  { noteId, rows, byAgent }: Looked,
  shown: Reviewed,
  { edits }: Sections,
): Promise<void> {
  if (byAgent === 0 || !hasPersons(deps.index, noteId)) return;
  const lineage = createLineage(deps);
  let [lines, first, step] = [0, "", null as Told | null];
  for (const row of rows) {
    const lost = row.agentId === null ? null : await lostLines(deps, lineage, row);
    if (lost === null) continue;
    step ??= await toldBy(deps, row);
    lines += lost.count;
    first = lost.first;
  }
  if (step !== null) edits.push({ ...shown, ...step, lines, first });
}

/** Whether a person ever wrote this note. */
function hasPersons(index: Pick<NoteIndex, "history">, noteId: NoteId): boolean {
  const sources = ["api", "disk", "push", "git"];
  return index.history({ noteId, sources }, ALL, null).items.some(({ agentId }) => agentId === null);
}

const ALL = 1_000;

/** The first line of a text that says something. */
function excerptOf(content: string): string {
  const said = content.split("\n").find((line) => line.trim() !== "" && !/^\s*#/.test(line)) ?? "";
  const chars = Array.from(said.replace(/^\s*(?:[-*+>]|\d+\.)\s+/, "").trim());
  return chars.length <= EXCERPT_CHARS ? chars.join("") : `${chars.slice(0, EXCERPT_CHARS - 1).join("")}…`;
}
