/**
 * An action's result as text for a person. What `--json` prints is the result itself; nothing parses this.
 * Results come from the daemon, so each is taken as what its action's schema says it is.
 */
import type { Method, ResultOf } from "../../client/client.ts";
import type { Io } from "./host.ts";
import { blameText, commit, diffText, historyEntry, who } from "./show-history.ts";
import { reviewText } from "./show-review.ts";
import { counted, minute, plain, plainJson, plainLine, short, styled, table } from "./text-table.ts";

type Shown = Pick<Io, "colour" | "columns">;
type Views = { readonly [M in Method]?: (result: ResultOf<M>, io: Shown) => string };

const VIEWS: Views = {
  "notes.create": (made, io) =>
    `${styled(io, "green", "created")} ${made.note_id}  ${plainLine(made.path ?? "")}  (commit ${commit(made.commit)})\n`,
  "notes.update": changed,
  "notes.append": changed,
  "notes.edit": changed,
  "notes.delete": (gone, io) =>
    `${styled(io, "yellow", "deleted")} ${gone.note_id}  ${plain(gone.title ?? "")}  (commit ${commit(gone.commit)})\n`,
  "notes.save": saved,
  "feedback.save": saved,
  "feedback.delete": (gone, io) =>
    `${styled(io, "yellow", "deleted")} ${plain(gone.key ?? "")}  ${gone.note_id}  (commit ${commit(gone.commit)})\n`,
  "notes.recall": ({ notes }, io) =>
    remembered(
      notes.map((row) => ({ ...row, text: row.value, about: row.pinned ? ["pinned"] : [] })),
      io,
    ),
  "feedback.list": ({ rules }, io) =>
    remembered(
      rules.map((row) => ({
        ...row,
        text: [row.rule, row.why && `Why: ${row.why}`, row.how_to_apply && `How: ${row.how_to_apply}`]
          .filter(Boolean)
          .join("\n"),
        about: [],
      })),
      io,
    ),
  "notes.read": read,
  "notes.list": list,
  "notes.search": ({ results, total }, io) =>
    results
      .map(
        (row) =>
          `${styled(io, "bold", plain(row.title))}  ${styled(io, "dim", `${row.note_id}  ${plain(row.type)}, ${row.status}`)}\n` +
          `  ${short(plain(row.snippet).replace(/\s+/g, " ").trim(), Math.max(20, io.columns - 2))}\n`,
      )
      .join("") + footer(io, results.length, total, null),
  "notes.summary": (summary, io) =>
    `${counted(summary.total_notes, "note")}\n` +
    counts(io, "type", summary.type_distribution) +
    counts(io, "status", summary.by_status) +
    counts(io, "scope", summary.by_scope) +
    counts(io, "agent", summary.by_agent) +
    section(io, "open blockers", summary.open_blockers) +
    section(io, "recent", summary.recent_notes),
  "notes.history": ({ entries, next_cursor }, io) =>
    entries.map((entry) => historyEntry(entry, io)).join("") + footer(io, entries.length, null, next_cursor),
  "notes.diff": diffText,
  "notes.blame": blameText,
  "notes.restore": changed,
  "notes.review": reviewText,
  "notes.changes": ({ changes, cursor }, io) =>
    changes.map((change) => changeLine(change, io)).join("") + styled(io, "dim", `cursor ${cursor}\n`),
  "notes.conflicts": ({ conflicts }, io) =>
    table(
      io,
      ["note", "since", "ours", "theirs"],
      conflicts.map((one) => [
        one.note_id,
        minute(one.since),
        one.ours === null ? "removed" : counted(one.ours.split("\n").length, "line"),
        counted(one.theirs.split("\n").length, "line"),
      ]),
    ) || "no conflicts\n",
  "daemon.verify": ({ digest, equal, problems }, io) =>
    `digest ${digest}\n${equal ? styled(io, "green", "the index equals one rebuilt from Git") : styled(io, "red", "the index differs from one rebuilt from Git")}\n` +
    table(
      io,
      ["problem", "path", "detail"],
      problems.map((one) => [one.kind, one.path, one.detail]),
    ),
};

/** The text for a result of `method`; what has no view of its own is shown as JSON, in lines. */
export function show(method: string, result: unknown, io: Shown): string {
  const view = Object.hasOwn(VIEWS, method) ? VIEWS[method as Method] : undefined;
  if (!view)
    return typeof result === "string"
      ? `${plain(result)}\n`
      : `${plainJson(JSON.stringify(result, null, 2))}\n`;
  // The daemon answers what its action's schema says, and the view is kept under that method's name.
  return (view as (result: unknown, io: Shown) => string)(result, io);
}

/** One change as a line, for `watch` and `changes`. */
export function changeLine(change: ResultOf<"notes.changes">["changes"][number], io: Shown): string {
  return (
    `${minute(change.at)}  ${styled(io, "cyan", change.action)}(${plain(change.type)}) ${plain(change.title)}  ` +
    `${styled(io, "dim", `${plain(who(change))}  ${change.note_id}`)}${change.reason ? `  ${plainLine(change.reason)}` : ""}\n`
  );
}

function changed(result: ResultOf<"notes.update">, io: Shown): string {
  const word = result.changed === false ? "unchanged" : result.merged ? "merged" : "updated";
  return `${styled(io, "green", word)} ${result.note_id}  (commit ${commit(result.commit)}, revision ${commit(result.revision ?? "")})\n`;
}

function saved(result: ResultOf<"notes.save">, io: Shown): string {
  const word = result.created ? "saved" : "updated";
  return `${styled(io, "green", word)} ${plain(result.key ?? "")}  ${result.note_id}  (commit ${commit(result.commit)})\n`;
}

/** Memory with its texts whole, each below what it is called and whose it is. */
function remembered(
  rows: readonly {
    readonly key: string;
    readonly text: string;
    readonly scope: string;
    readonly scope_ref_id: string | null;
    readonly agent_name: string | null;
    readonly updated_at: string;
    readonly about: readonly string[];
    readonly truncated?: true | undefined;
  }[],
  io: Shown,
): string {
  return (
    rows
      .map(({ key, text, scope, scope_ref_id: ref, agent_name: agent, updated_at, about, truncated }) => {
        const facts = [
          ref === null ? scope : `${scope} ${ref}`,
          agent === null ? "" : `by ${agent}`,
          minute(updated_at),
          ...about,
          truncated ? "cut: notesd read" : "",
        ];
        const lines = plain(text).trimEnd().split("\n");
        const head = plain(facts.filter((fact) => fact !== "").join(", "));
        return `${styled(io, "bold", plain(key))}  ${styled(io, "dim", head)}\n${lines.map((line) => `  ${line}\n`).join("")}`;
      })
      .join("") + footer(io, rows.length, null, null)
  );
}

function read(
  { metadata, content, truncated, dirty, conflicted }: ResultOf<"notes.read">,
  io: Shown,
): string {
  const facts = [
    metadata.note_id,
    `${metadata.type}, ${metadata.status}`,
    metadata.tags.map((tag) => `#${tag}`).join(" "),
    `updated ${minute(metadata.updated_at)}${metadata.agent_name ? ` by ${metadata.agent_name}` : ""}`,
    metadata.path,
  ].filter((fact) => fact !== "");
  const flags = [
    dirty ? "The file holds an edit that is not committed yet." : "",
    conflicted ? "Two versions are kept: notesd conflicts" : "",
    truncated ? "Lines follow: --offset" : "",
  ].filter((flag) => flag !== "");
  const text = plain(content);
  return (
    `${styled(io, "bold", plain(metadata.title))}\n${styled(io, "dim", plainLine(facts.join("  ")))}\n` +
    `${flags.map((flag) => `${styled(io, "yellow", flag)}\n`).join("")}\n${text}${text.endsWith("\n") ? "" : "\n"}`
  );
}

const TITLE_LEAST_COLUMNS = 24;

/** As many columns as leave room for the title; ids are kept whole, for they are copied. */
function list({ notes, total, next_cursor }: ResultOf<"notes.list">, io: Shown): string {
  const rows = notes.map((note) => [note.note_id, note.status, note.type, minute(note.updated_at)]);
  const head = ["note", "status", "type", "updated"];
  const widths = head.map((word, at) => Math.max(word.length, ...rows.map((row) => row[at]?.length ?? 0)));
  const roomFor = (columns: number) =>
    io.columns - widths.slice(0, columns).reduce((sum, width) => sum + width + 2, 0);
  let columns = head.length;
  while (columns > 1 && roomFor(columns) < TITLE_LEAST_COLUMNS) columns -= 1;
  const room = Math.max(10, roomFor(columns));
  const titled = notes.map(({ title, tags }, at) => [
    ...(rows[at] ?? []).slice(0, columns),
    short(plain([title, ...tags.map((tag) => `#${tag}`)].join(" ")), room),
  ]);
  return (
    table(io, [...head.slice(0, columns), "title"], titled) + footer(io, notes.length, total, next_cursor)
  );
}

function counts(io: Shown, name: string, of: Readonly<Record<string, number>>): string {
  const words = Object.entries(of).map(([word, count]) => `${plain(word)} ${count}`);
  return words.length === 0 ? "" : `${styled(io, "dim", `by ${name}`)}  ${words.join(", ")}\n`;
}

function section(
  io: Shown,
  name: string,
  rows: readonly { note_id: string; title: string; updated_at: string }[],
) {
  const lines = rows.map((row) => `  ${row.note_id}  ${minute(row.updated_at)}  ${plain(row.title)}\n`);
  return lines.length === 0 ? "" : `${styled(io, "bold", name)}\n${lines.join("")}`;
}

function footer(io: Shown, shown: number, total: number | null, cursor: string | null): string {
  if (shown === 0) return `${styled(io, "dim", "nothing found")}\n`;
  const more = cursor === null ? "" : `  more: --cursor ${cursor}`;
  return total !== null && total > shown
    ? styled(io, "dim", `${shown} of ${total}${more}\n`)
    : styled(io, "dim", more && `${more.trim()}\n`);
}
