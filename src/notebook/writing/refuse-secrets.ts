/**
 * The last look at a planned write: a secret in its file, its path or its commit message refuses it, before anything of
 * it is built. Invariant: the refusal tells kinds, lines and fingerprints, and no value.
 */
import type { Change, WriteRequest } from "../../domain/change.ts";
import { NotesError } from "../../domain/errors.ts";
import type { Plan } from "../../domain/plan.ts";
import type { Caller } from "../../domain/principal.ts";
import { mayHoldSecret, type SecretMatch } from "../../domain/secrets/secrets.ts";
import type { SecretGuard } from "../secrets/secret-guard.ts";

/** Nobody mends more at once, and an answer is of bounded size. */
const MOST_TOLD = 50;

/** One outside of the file's text has line 0, and says where it is. */
type Told = SecretMatch & { readonly where?: string };

/**
 * @param before the note's bytes as its last commit has them; null: there is no such note
 * @throws NotesError SECRET_REFUSED  `data.matches`
 * @cost  one look for literals at the file and what is beside it; the rules only where there are some
 */
export async function refuseSecrets(
  guard: SecretGuard,
  planned: Plan,
  request: WriteRequest,
  caller: Caller,
  before: Uint8Array | null,
): Promise<void> {
  const file = planned.bytes === null || planned.bytes === before ? NOTHING : planned.bytes;
  const beside = besideFile(planned, request, caller);
  if (!mayHoldSecret(file) && !beside.some(([, text]) => mayHoldSecret(text))) return;
  const old = before === null ? null : utf8(before);
  const matches = new Map<string, Told>();
  for (const match of await guard.find(utf8(file), old))
    matches.set(`${match.line} ${match.fingerprint}`, match);
  const inFile = new Set([...matches.values()].map(({ fingerprint }) => fingerprint));
  for (const [where, text] of beside) {
    for (const { kind, fingerprint } of await guard.find(text, old)) {
      if (!inFile.has(fingerprint))
        matches.set(`${where} ${fingerprint}`, { kind, line: 0, fingerprint, where });
    }
  }
  if (matches.size === 0) return;
  const told = [...matches.values()].slice(0, MOST_TOLD);
  const { principal } = caller;
  // A name may be what is refused.
  const who = told.some(({ where }) => where === "author") ? "" : ` by ${principal.name}`;
  for (const match of told) guard.allowed.noteRefusal(match, `${request.change.kind}${who}`);
  throw refusal(told, matches.size - told.length);
}

const NOTHING = new Uint8Array();
const utf8 = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();

/** What a commit holds beside the file, and what the file may hold in another form: YAML escapes and folds. */
function besideFile(
  planned: Plan,
  { change, reason }: WriteRequest,
  { principal, session }: Caller,
): readonly (readonly [where: string, text: string])[] {
  const author = principal.kind === "person" ? `${principal.name}\n${principal.email}` : principal.name;
  return [
    ["parameters", parametersOf(change)],
    ["path", planned.expected === null ? planned.path : ""],
    ["reason", reason ?? ""],
    ["session", session ?? ""],
    ["author", author],
  ];
}

/** What stands in the file as it was sent, or was committed before. */
const ELSEWHERE = new Set(["content", "value", "oldStr", "newStr", "path"]);

function parametersOf(change: Change): string {
  const texts: string[] = [];
  for (const [name, value] of Object.entries(change)) if (!ELSEWHERE.has(name)) collect(value, texts);
  return texts.join("\n");
}

function collect(value: unknown, texts: string[]): void {
  if (typeof value === "string") texts.push(value);
  else if (Array.isArray(value)) for (const item of value) collect(item, texts);
  else if (typeof value === "object" && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      texts.push(key);
      collect(item, texts);
    }
  }
}

/** What a caller is told of a write that would bring these. @param more how many beside them */
export function refusal(matches: readonly Told[], more: number): NotesError {
  const [first] = matches;
  const place = first?.where === undefined ? `line ${first?.line}` : `the ${first.where}`;
  const others = matches.length + more - 1;
  const also = others === 0 ? "" : `, and ${others} more (data.matches)`;
  return new NotesError(
    "SECRET_REFUSED",
    `This write would put a secret into history, where it stays: ${first?.kind} in ${place}${also}. Nothing was written. Send it without the value, and say where it is kept instead. If it is none, a person allows it: notesd allow ${first?.fingerprint}`,
    { matches },
  );
}
