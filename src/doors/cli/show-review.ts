/** A review as text: what needs the reader first, then what was decided and why. Read in a minute. */
import type { ResultOf } from "../../client/client.ts";
import type { Io } from "./host.ts";
import { who } from "./show-history.ts";
import { counted, minute, plain, short, styled } from "./text-table.ts";

type Shown = Pick<Io, "colour" | "columns">;
type Review = ResultOf<"notes.review">;
type Row = Review["deleted"][number];

const FROM = {
  mark: "where you last looked",
  given: "the time you named",
  week: "a week ago; notesd review --mark keeps what you saw",
} as const;

/** The whole review. */
export function reviewText(review: Review, io: Shown): string {
  const { since, by, writes, notes } = review;
  const names = by.map(({ name, writes: count }) => `${plain(name)} ${count}`).join(", ");
  const head =
    `${styled(io, "bold", `Since ${minute(since.at)}`)} ${styled(io, "dim", `(${FROM[since.from]})`)}\n` +
    (writes === 0
      ? "Nothing was written.\n"
      : `${counted(writes, "write")} to ${counted(notes, "note")}: ${names}\n`);
  const conflicts = review.conflicts.map(
    (one) => `${plain(one.path)}\n    since ${minute(one.since)}: notesd conflicts ${one.note_id}`,
  );
  const sections = [
    section(io, "Needs you: two versions are kept", conflicts, review, "conflicts"),
    section(
      io,
      "New blockers",
      review.new_blockers.map((one) => rowText(one, io)),
      review,
      "new_blockers",
    ),
    section(
      io,
      "Decided",
      review.conclusions.map((one) => rowText(one, io, decided(one))),
      review,
      "conclusions",
    ),
    section(
      io,
      "Blockers closed",
      review.closed_blockers.map((one) => rowText(one, io)),
      review,
      "closed_blockers",
    ),
    section(
      io,
      "People's text that agents changed",
      review.edits.map((one) =>
        rowText(one, io, [`took away ${counted(one.lines, "line")}, e.g. "${one.first.trim()}"`]),
      ),
      review,
      "edits",
    ),
    section(
      io,
      "Deleted",
      review.deleted.map((one) => rowText(one, io)),
      review,
      "deleted",
    ),
  ];
  const end = review.marked ? styled(io, "dim", "\nMarked: the next review begins here.\n") : "";
  return head + sections.join("") + end;
}

function decided(one: Review["conclusions"][number]): string[] {
  const state = one.status === "open" ? "" : ` (${one.status})`;
  const lines = one.excerpt === "" ? [] : [`${one.excerpt}${state}`];
  return one.new ? lines : [...lines, "revised"];
}

function section(
  io: Shown,
  name: string,
  rows: readonly string[],
  { omitted }: Review,
  list: string,
): string {
  if (rows.length === 0) return "";
  const more = omitted[list] ?? 0;
  const rest = more === 0 ? "" : `  ${styled(io, "dim", `and ${more} more: --limit`)}\n`;
  return `\n${styled(io, "bold", `${name} (${rows.length + more})`)}\n${rows.map((one) => `  ${one}\n`).join("")}${rest}`;
}

/** Title; what; why; who, when and where to look further. */
function rowText(row: Row, io: Shown, about: readonly string[] = []): string {
  const room = Math.max(20, io.columns - 4);
  const flat = (text: string) => plain(text).replace(/\s+/g, " ").trim();
  const lines = [
    ...about.map((text) => short(flat(text), room)),
    ...(row.reason === null ? [] : [short(`why: ${flat(row.reason)}`, room)]),
    styled(
      io,
      "dim",
      `${flat(who(row))}, ${minute(row.at)}  ${row.note_id}${row.status === "deleted" ? `  ${row.commit.slice(0, 9)}` : ""}`,
    ),
  ];
  return [styled(io, "cyan", flat(row.title)), ...lines.map((line) => `    ${line}`)].join("\n");
}
