/** History, differences and blame as text for a person. What `--json` prints is the result itself. */
import type { ResultOf } from "../../client/client.ts";
import { wordDiff } from "../../domain/carried-lines.ts";
import type { Io } from "./host.ts";
import { minute, plain, styled } from "./text-table.ts";

type Colours = Pick<Io, "colour">;
type Entry = ResultOf<"notes.history">["entries"][number];

/** The beginning of a commit's id, as long as Git shows it. */
export const commit = (id: string): string => id.slice(0, 9);

/** An agent by name, a person by name; of what came another way than through a door, also which: disk, git, push, import. */
export function who(one: {
  readonly agent_name: string | null;
  readonly author_name?: string;
  readonly source: string;
  readonly trust: string;
}): string {
  if (one.agent_name !== null) return one.agent_name;
  if (one.author_name === undefined) return one.source === "api" ? one.trust : one.source;
  return one.source === "api" ? one.author_name : `${one.author_name} (${one.source})`;
}

/** One line of history: when, who, what; then why, the fields that changed, and where to look further. */
export function historyEntry(entry: Entry, io: Colours): string {
  const head = [
    minute(entry.at),
    styled(io, "bold", plain(who(entry))),
    `${styled(io, "cyan", entry.action)}(${plain(entry.type ?? "-")})`,
    plain(entry.title),
  ];
  const below = [
    ...(entry.reason === null ? [] : plain(entry.reason).split("\n")),
    ...(entry.changes === null ? [] : [plain(entry.changes)]),
    styled(io, "dim", `${commit(entry.commit)}  ${entry.note_id}`),
  ];
  return `${head.join("  ")}\n${below.map((line) => `    ${line}\n`).join("")}`;
}

/** A unified diff, its lines coloured. */
export function diffText({ unified, truncated }: ResultOf<"notes.diff">, io: Colours): string {
  const lines = unified.split("\n").slice(0, -1);
  const shown = lines.map((line) => `${painted(plain(line), io)}\n`);
  return shown.length === 0 ? "no difference\n" : shown.join("") + cutNote(truncated, io);
}

const cutNote = (cut: true | undefined, io: Colours) =>
  cut ? styled(io, "yellow", "The difference is longer than one answer; the rest is left out.\n") : "";

function painted(line: string, io: Colours): string {
  if (/^(?:diff --git|---|\+\+\+|rename|new file|deleted file) /.test(line)) return styled(io, "bold", line);
  if (line.startsWith("@@")) return styled(io, "cyan", line);
  if (line.startsWith("+")) return styled(io, "green", line);
  return line.startsWith("-") ? styled(io, "red", line) : line;
}

/**
 * A unified diff word by word: in colour, or as `[-gone-]` and `{+new+}` where there is none.
 * Lines that were replaced by others are compared with them; all others are shown whole.
 */
export function wordDiffText({ unified, truncated }: ResultOf<"notes.diff">, io: Colours): string {
  if (unified === "") return "no difference\n";
  let text = "";
  let gone: string[] = [];
  let come: string[] = [];
  let inHunk = false;
  const flush = () => {
    if (gone.length + come.length > 0) text += `${words(gone.join("\n"), come.join("\n"), io)}\n`;
    [gone, come] = [[], []];
  };
  for (const line of unified.split("\n").slice(0, -1)) {
    if (inHunk && line.startsWith("-")) {
      if (come.length > 0) flush();
      gone.push(line.slice(1));
    } else if (inHunk && line.startsWith("+")) come.push(line.slice(1));
    else if (!line.startsWith("\\")) {
      flush();
      inHunk = line.startsWith("@@") || (inHunk && line.startsWith(" "));
      text += `${inHunk && line.startsWith(" ") ? plain(line.slice(1)) : painted(plain(line), io)}\n`;
    }
  }
  flush();
  return text + cutNote(truncated, io);
}

function words(before: string, after: string, io: Colours): string {
  return wordDiff(before, after)
    .map(({ kind, text }) => {
      const shown = plain(text);
      if (kind === "same" || shown === "") return shown;
      if (!io.colour) return kind === "gone" ? `[-${shown}-]` : `{+${shown}+}`;
      // Each line by itself: a terminal ends a style at its edge, not at ours.
      const paint = (line: string) => styled(io, kind === "gone" ? "red" : "green", line);
      return shown.split("\n").map(paint).join("\n");
    })
    .join("");
}

/** Each line with the commit, who and day that it comes from. */
export function blameText({ lines, commits, truncated }: ResultOf<"notes.blame">, io: Colours): string {
  const known = new Map(
    commits.map((one) => [one.commit, { who: plain(who(one)), day: one.at.slice(0, 10) }]),
  );
  const width = Math.max(0, ...[...known.values()].map((one) => one.who.length));
  const numbers = String(lines.at(-1)?.line ?? 0).length;
  const rows = lines.map(({ line, text, commit: id }) => {
    const from = known.get(id);
    const head = `${commit(id)} ${(from?.who ?? "").padEnd(width)} ${from?.day ?? ""} ${String(line).padStart(numbers)}`;
    return `${styled(io, "dim", head)}) ${plain(text)}`.trimEnd();
  });
  const more = truncated ? styled(io, "yellow", `Lines follow: --offset ${lines.at(-1)?.line ?? 0}\n`) : "";
  return rows.map((row) => `${row}\n`).join("") + more;
}
