/**
 * Commit messages of ours: what a draft says and how Git shows it. Reading back and proving is
 * `commit-proof.ts`. Invariant: whatever a title, reason, agent or session holds, the last block has our
 * trailers and no other, and every name stays inside its header.
 */
import { isChangesLine } from "./changes-line.ts";
import { NotesError } from "./errors.ts";
import type { Author, Proved } from "./event.ts";
import { foldAgentName } from "./identity.ts";
import { escapeSegment } from "./note-path.ts";
import type { Principal } from "./principal.ts";

/** What a commit of ours will say: its trailers, and what stands above them. @see spec: storage, section 2 */
export interface CommitMessage extends Proved {
  /** Type of the note, or scope for memory; null for adopt. */
  readonly label: string | null;
  /** Title or key of the note, or for adopt of several, e.g. `3 notes`. */
  readonly title: string;
  readonly reason: string | null;
  readonly changes: string | null;
}

/** The trailers of a commit that no request made: what the daemon does by itself, or a person at a file. */
export const NO_REQUEST = {
  agent: null,
  agentId: null,
  session: null,
  requestKey: null,
  requestHash: null,
} as const satisfies Partial<CommitMessage>;

const SUBJECT_MAX_CHARS = 72;
const CONTROL_OR_BREAK = /[\p{Cc}\p{Cs}\u2028\u2029]/u;

/**
 * The message of a commit as text that ends in a newline, still without its `Note-Proof` line.
 *
 * @throws NotesError INVALID_PARAMS  a reason, agent, session or type with control characters, or none left
 */
export function formatMessage(message: CommitMessage): string {
  const blocks = [subjectOf(message)];
  const body = [guardReason(message.reason, message.changes !== null), checkedChanges(message.changes)];
  if (body.some((part) => part !== null)) blocks.push(body.filter((part) => part !== null).join("\n"));
  blocks.push(trailersOf(message).join("\n"));
  return `${blocks.join("\n\n")}\n`;
}

/** `<action>(<label>): <title>`, one line, at most 72 code points, cut between graphemes. */
function subjectOf({ action, label, title }: CommitMessage): string {
  const flat = (text: string) =>
    text
      .replace(/\p{Cs}/gu, "\ufffd")
      .replace(/[\s\p{Cc}\u2028\u2029]+/gu, " ")
      .trim();
  const subject = `${action}${label === null ? "" : `(${flat(label)})`}: ${flat(title)}`.trimEnd();
  if (Array.from(subject).length <= SUBJECT_MAX_CHARS) return subject;
  let cut = "";
  let length = 0;
  for (const { segment } of new Intl.Segmenter("und").segment(subject)) {
    length += Array.from(segment).length;
    if (length > SUBJECT_MAX_CHARS - 1) break;
    cut += segment;
  }
  return `${cut.trimEnd()}…`;
}

/** A reason as the commit keeps it: LF line ends, no blank lines around; null when nothing is left. */
export function normalizeReason(reason: string | null): string | null {
  const text = (reason ?? "")
    .replace(/\r\n?/g, "\n")
    .replace(/^(?:[^\S\n]*\n)+/, "")
    .trimEnd();
  if (text.trim() === "") return null;
  if (CONTROL_OR_BREAK.test(text.replace(/[\n\t]/g, ""))) {
    throw refusal("reason", "holds a control character");
  }
  return text;
}

/** What Git would take for a divider or a comment, with any blanks we may have put before it. */
const GUARDED = /^ *(?:---|#)/;
const looksLikeChanges = (line: string) => isChangesLine(line.replace(/^ +/, ""));

function guardReason(reason: string | null, hasChanges: boolean): string | null {
  const text = normalizeReason(reason);
  if (text === null) return null;
  const lines = text.split("\n");
  return lines
    .map((line, i) => {
      const mistakable = !hasChanges && i === lines.length - 1 && looksLikeChanges(line);
      return GUARDED.test(line) || mistakable ? ` ${line}` : line;
    })
    .join("\n");
}

/**
 * Take the body of a message of ours apart again.
 * @param body  between subject and trailers, without the blank lines around it
 */
export function parseBody(body: string): { readonly reason: string | null; readonly changes: string | null } {
  const lines = body === "" ? [] : body.split("\n");
  const last = lines.at(-1);
  const changes = last !== undefined && isChangesLine(last) ? last : null;
  if (changes !== null) lines.pop();
  const reason = lines.map((line, i) => {
    const mistakable = changes === null && i === lines.length - 1 && looksLikeChanges(line);
    return line.startsWith(" ") && (GUARDED.test(line) || mistakable) ? line.slice(1) : line;
  });
  return { reason: reason.length === 0 ? null : reason.join("\n"), changes };
}

function checkedChanges(changes: string | null): string | null {
  if (changes !== null && (!isChangesLine(changes) || CONTROL_OR_BREAK.test(changes))) {
    throw new NotesError("INTERNAL", `This is no line of changes: ${JSON.stringify(changes)}.`);
  }
  return changes;
}

function trailersOf(message: CommitMessage): string[] {
  const lines = message.noteIds.map((id) => trailer("Note-Id", id));
  const add = (key: string, value: string | number | null) => {
    if (value !== null) lines.push(trailer(key, String(value)));
  };
  add("Note-Action", message.action);
  add("Note-Type", message.noteType);
  add("Note-Source", message.source);
  add("Agent", message.agent);
  add("Agent-Id", message.agentId);
  add("Session", message.session);
  add("Request-Key", message.requestKey);
  add("Request-Hash", message.requestHash);
  return lines;
}

function trailer(key: string, value: string): string {
  const text = value.trim();
  if (text === "" || CONTROL_OR_BREAK.test(text)) {
    throw refusal(key.toLowerCase(), "is empty or holds a control character or a line break");
  }
  if (key === "Agent" && /[<>]/.test(text)) throw refusal("agent", "holds < or >");
  return `${key}: ${text}`;
}

/** Who stands as committer of every commit of ours. */
export const COMMITTER: Author = { name: "notesd", email: "notesd@notesd.invalid" };

/** The author of a principal's commit: the person, or `planner <planner@agents.notesd.invalid>`. */
export function authorOf(principal: Principal): Author {
  if (principal.kind === "person") return { name: principal.name, email: principal.email };
  const local = escapeSegment(foldAgentName(principal.name));
  return { name: principal.name, email: `${local}@agents.notesd.invalid` };
}

/**
 * An author or committer as Git's header has it: `Name <email> <seconds> +0000`.
 * @param atMs  milliseconds since the epoch; whole seconds reach Git
 * @throws NotesError INVALID_PARAMS  a control character, line break, `<` or `>`, or an empty name
 */
export function formatIdentity(author: Author, atMs: number): string {
  for (const [path, text] of Object.entries({ name: author.name, email: author.email })) {
    if (CONTROL_OR_BREAK.test(text) || /[<>]/.test(text)) {
      throw refusal(path, "holds a control character, a line break, < or >");
    }
  }
  if (author.name.trim() === "") throw refusal("name", "is empty");
  return `${author.name.trim()} <${author.email.trim()}> ${Math.floor(atMs / 1000)} +0000`;
}

function refusal(path: string, why: string): NotesError {
  return new NotesError(
    "INVALID_PARAMS",
    `The ${path} ${why}; a commit can't hold it. Give plain text on one line.`,
    {
      issues: [{ path, message: why }],
    },
  );
}
