/**
 * The parameters that several actions share, each written once: how a title, a tag or a limit looks and
 * what its refusal says. What a note's file can hold beyond this is the domain's to judge.
 */
import { z } from "zod";
import type { NoteId } from "../domain/note.ts";

const CONTROL = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u2028\u2029]/;
const characters = (text: string) => [...text].length;

/** One line of `least..most` characters (code points); with `least` 1 not blank. */
export function oneLine(least: number, most: number) {
  return z
    .string()
    .superRefine((text, context) => {
      const refuse = (message: string) => context.addIssue({ code: "custom", message });
      if (CONTROL.test(text)) refuse("must be one line without line breaks or control characters");
      else if (least > 0 && text.trim() === "") refuse("must not be empty or blank");
      else if (characters(text) > most)
        refuse(`has at most ${most} characters; this has ${characters(text)}`);
    })
    .meta({ minLength: least, maxLength: most });
}

/** Text of `least..most` characters (code points, as JSON Schema counts them). */
function text(least: number, most: number) {
  return z
    .string()
    .superRefine((given, context) => {
      const count = characters(given);
      const refuse = (message: string) => context.addIssue({ code: "custom", message });
      if (count < least) refuse(`needs at least ${least} character${least === 1 ? "" : "s"}`);
      else if (count > most) refuse(`has at most ${most} characters; this has ${count}`);
    })
    .meta({ minLength: least, maxLength: most });
}

export const Title = oneLine(1, 300).describe("One line, 1 to 300 characters.");
export const Tags = z.array(oneLine(1, 64)).max(64).describe("At most 64; duplicates are dropped.");
export const NoteType = z
  .string()
  .min(1)
  .max(64)
  .describe("task_state, conclusion, blocker, action, reference, general or a configured type.");
/** A point in history or time; the notebook resolves it. */
export const MomentInput = z
  .string()
  .min(1)
  .max(128)
  .describe("A commit, an ISO time, 7d, 12h, monday or last.");
export const NoteIdInput = z.string().min(1).max(512).describe("The note's id.");
export const Content = z.string().describe("Markdown; kept byte for byte.");
export const Extra = z
  .record(z.string().min(1).max(128), z.union([z.string(), z.number(), z.boolean(), z.null()]))
  .describe("Further front-matter keys with flat values; also as extra.KEY. On update null removes a key.");
export const ExpiresInHours = z.number().positive().max(876_000).describe("Hours from now, above 0.");
export const IfRevision = z
  .string()
  .regex(/^[0-9a-f]{40}$/, "must be a revision: 40 hex digits, as notes.read gives it")
  .describe("Refuse with CONFLICT unless the note is at this revision.");
export const AgentRef = z
  .union([z.string().min(1).max(64), z.number().int().positive()])
  .describe("An agent's name or id.");
export const Cursor = z.string().min(1).max(1024).describe("next_cursor of the page before.");

/** What every write takes beside its own parameters. */
export const WriteInputs = {
  reason: text(0, 500).optional().describe("Why; goes into the commit's message. At most 500 characters."),
  idempotency_key: text(1, 128)
    .optional()
    .describe("The write takes effect once for this key, however often it is sent."),
} as const;

/** A whole number from 1; what lies over the ceiling is lowered to it by `atMost`. */
export const limit = (fallback: number, ceiling: number) =>
  z.number().min(1).multipleOf(1).default(fallback).describe(`At most ${ceiling}; more is lowered to that.`);

export const atMost = (ceiling: number, wanted: number): number => Math.min(ceiling, wanted);

// The brand says "a caller named it"; whether a note has this id is the notebook's to find out.
export const noteId = (text: string): NoteId => text as NoteId;

export const unique = (tags: readonly string[]): string[] => [...new Set(tags)];
