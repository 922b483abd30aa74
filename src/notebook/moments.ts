/**
 * Points in history and time as callers name them: a commit, an ISO time, `7d`, `12h`, a weekday, `last`.
 * Words are UTC. Text in, commit and time out; what is none of these is refused with the forms that are.
 */
import { NotesError } from "../domain/errors.ts";
import type { CommitId } from "../domain/note.ts";
import type { Caller } from "../domain/principal.ts";
import type { Clock } from "../lib/clock.ts";
import type { NoteStore } from "../store/note-store.ts";
import { parseCursor } from "./feed/cursor.ts";
import type { Moment } from "./notebook.ts";
import type { Seen } from "./seen.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Shorter than any short commit id, which may end in `d` as well. */
const AGO = /^([1-9]\d{0,4})([hd])$/;
const WEEKDAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
const ISO = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(Z|[+-]\d{2}:?\d{2})?)?$/i;
/** Where a stretch of history begins; it may be before the first commit. */
const STARTS: ReadonlySet<string> = new Set(["since", "from"]);
const FORMS =
  "a commit (7 to 40 hex digits), a time such as 2026-11-30 or 2026-11-30T10:15:00Z, 7d, 12h, a weekday, today, yesterday or last";

export interface MomentDeps {
  readonly store: Pick<NoteStore, "resolveCommit" | "commitAt" | "commitInfo">;
  readonly seen: Pick<Seen, "last">;
  readonly clock: Clock;
}

/**
 * Resolve a moment. A commit's time is its author date; a time's commit is the newest on the branch by then.
 * @param parameter  where the caller gave it, for the refusal
 * @throws NotesError INVALID_PARAMS what is no such form; UNKNOWN_COMMIT hex digits that name no commit of ours,
 * nor, for what is no beginning, one at all
 * @cost a time: a walk back along the branch
 */
export async function resolveMoment(
  deps: MomentDeps,
  text: string,
  caller: Caller,
  parameter: string,
): Promise<Moment> {
  const word = text.trim().toLowerCase();
  if (word === "last") return ofCommit(deps, deps.seen.last(caller));
  const atMs = timeOf(word, deps.clock.now(), parameter);
  if (atMs !== null) return { commit: await deps.store.commitAt(atMs), atMs };
  if (/^[0-9a-f]{7,40}$/.test(word) && !/^0{40}$/.test(word)) {
    return ofCommit(deps, await deps.store.resolveCommit(word));
  }
  const cursor = parseCursor(word);
  if (cursor && (cursor.commit !== null || STARTS.has(parameter))) return ofCommit(deps, cursor.commit);
  if (cursor) {
    const message = `${shown(text)} is the place before the first commit, where there is nothing yet. Name a commit or a time.`;
    throw new NotesError("UNKNOWN_COMMIT", message, { commit: text });
  }
  throw invalid(text, `is no moment: give ${FORMS}`, parameter);
}

async function ofCommit({ store }: MomentDeps, commit: CommitId | null): Promise<Moment> {
  return { commit, atMs: commit === null ? 0 : Date.parse((await store.commitInfo(commit)).at) };
}

/** Milliseconds since the epoch, or null when the word is no time. @throws NotesError INVALID_PARAMS */
function timeOf(word: string, nowMs: number, parameter: string): number | null {
  const ago = AGO.exec(word);
  if (ago) return nowMs - Number(ago[1]) * (ago[2] === "h" ? HOUR_MS : DAY_MS);
  const midnightMs = nowMs - (nowMs % DAY_MS);
  if (word === "today") return midnightMs;
  if (word === "yesterday") return midnightMs - DAY_MS;
  const weekday =
    word.length < 3 ? -1 : WEEKDAYS.findIndex((day) => day === word || day.slice(0, 3) === word);
  if (weekday >= 0) return midnightMs - ((new Date(nowMs).getUTCDay() - weekday + 7) % 7) * DAY_MS;
  const iso = ISO.exec(word);
  return iso ? isoOf(word, iso, parameter) : null;
}

/** A time without offset is UTC. Days that no month has are refused. */
function isoOf(
  word: string,
  [, day = "", time = "00:00", zone = "Z"]: RegExpExecArray,
  parameter: string,
): number {
  const offset = zone.toUpperCase() === "Z" ? "Z" : `${zone.slice(0, 3)}:${zone.slice(-2)}`;
  const atMs = Date.parse(`${day}T${time}${offset}`);
  const dayMs = Date.parse(`${day}T00:00Z`);
  const isDay = !Number.isNaN(dayMs) && new Date(dayMs).toISOString().slice(0, 10) === day;
  if (!Number.isNaN(atMs) && isDay) return atMs;
  throw invalid(word, "is no time of the calendar: give e.g. 2026-11-30 or 2026-11-30T10:15:00Z", parameter);
}

function invalid(word: string, message: string, path: string): NotesError {
  return new NotesError("INVALID_PARAMS", `${path}: ${shown(word)} ${message}.`, {
    issues: [{ path, message }],
  });
}

const shown = (text: string) => JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
