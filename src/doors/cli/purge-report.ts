/** What `notesd purge` tells: its shapes, and how people read them. */
import { plain } from "./text-table.ts";

/** What is to go. */
export interface PurgeWish {
  /** Texts, as they stand in files; never given as arguments. */
  readonly values: readonly string[];
  /** 16 hex each: of what the scanner for secrets finds. */
  readonly fingerprints: readonly string[];
  /** Id or path of a note that goes with every version it had. */
  readonly note: string | null;
  /** False: look only. */
  readonly apply: boolean;
}

/** One line of a file that holds it; null: it is in the path alone, or the whole note goes. */
export interface PurgeLine {
  readonly commit: string;
  /** As it will be. */
  readonly path: string;
  readonly path_changes: boolean;
  readonly note_id: string | null;
  readonly line: number | null;
  /** With what is purged replaced. */
  readonly text: string | null;
}

export interface PurgeFound {
  readonly found: boolean;
  readonly places: readonly PurgeLine[];
  /** Of a note that goes: paths of other files that hold a text of it too, and keep it. */
  readonly shared_with: readonly string[];
  /** Commits whose own message or names hold it. */
  readonly messages: readonly { readonly commit: string; readonly subject: string }[];
  readonly rewritten_commits: number;
  readonly first_commit: string | null;
  /** Objects that go. */
  readonly objects: number;
  readonly refs: readonly {
    readonly ref: string;
    readonly becomes: "rewritten" | "dropped";
    /** Of one that goes: commits that no other ref reaches. */
    readonly commits_only_here: number;
  }[];
}

/** A file that is no object and holds it. `done`: what a purge does about it. */
export interface PurgeFile {
  /** Relative to the repository. */
  readonly path: string;
  readonly done: "replaced" | "removed" | "left";
  /** Of those left: what to do. */
  readonly why: string | null;
}

export interface PurgeReport extends PurgeFound {
  readonly repo: string;
  readonly dry_run: boolean;
  readonly files: readonly PurgeFile[];
  /** Old commits and what each became; empty in a dry run. */
  readonly commits: Readonly<Record<string, string>>;
  /** Where they are kept too, a line each; null: none were made again. */
  readonly map_file: string | null;
  readonly signatures_dropped: number;
  /** Commits that another daemon's key had proved. */
  readonly proofs_lost: number;
  /** Nothing is left of it here. */
  readonly complete: boolean;
  readonly by_hand: readonly string[];
}

const MOST = 20;

function some<T>(rows: readonly T[], text: (row: T) => string): string[] {
  const shown = rows.slice(0, MOST).map((row) => `  ${text(row)}`);
  return rows.length > MOST ? [...shown, `  and ${rows.length - MOST} more`] : shown;
}

const short = (id: string) => id.slice(0, 12);

/** The report for people. */
export function purgeText(report: PurgeReport): string {
  const { dry_run, found, files } = report;
  const lines: string[] = [];
  const part = (title: string, rows: readonly string[]) => {
    if (rows.length > 0) lines.push(title, ...rows);
  };
  if (!found && files.length === 0) lines.push("Nothing here holds it: no object, no ref, no file.");
  part(
    "In files of the history:",
    some(report.places, ({ path, line, commit, note_id, text }) => {
      const where = `${path}${line === null ? "" : `:${line}`}`;
      return plain(
        [where, note_id ?? "", `since ${short(commit)}`, text ?? "in its path"].filter(Boolean).join("  "),
      );
    }),
  );
  part(
    "Other files with the same text, which keep it:",
    some(report.shared_with, (path) => plain(path)),
  );
  part(
    "In messages or names of commits:",
    some(report.messages, ({ commit, subject }) => plain(`${short(commit)}  ${subject}`)),
  );
  part(
    dry_run ? "Refs that reach it:" : "Refs:",
    some(report.refs, ({ ref, becomes, commits_only_here: lost }) => {
      const only = lost === 0 ? "" : `, with ${lost} commits that no other ref reaches`;
      return plain(`${ref}  ${dry_run ? `would be ${becomes}` : becomes}${only}`);
    }),
  );
  part(
    "Files beside the history:",
    some(files, ({ path, done, why }) =>
      plain(
        `${path}  ${dry_run && done !== "left" ? `would be ${done}` : done}${why === null ? "" : `: ${why}`}`,
      ),
    ),
  );
  if (found)
    lines.push(
      `${report.rewritten_commits} commits ${dry_run ? "would be made" : "were made"} again${report.first_commit === null ? "" : `, from ${short(report.first_commit)} on`}; ${report.objects} objects ${dry_run ? "would go" : "are gone"}.`,
    );
  if (report.signatures_dropped > 0)
    lines.push(`${report.signatures_dropped} signatures no longer held and were left out.`);
  if (report.proofs_lost > 0)
    lines.push(
      `${report.proofs_lost} commits were proved with another daemon's key. What they say of agent and source is only text now.`,
    );
  const map = Object.entries(report.commits);
  part(
    "Old commits and what they became:",
    some(map, ([from, to]) => `${from} ${to}`),
  );
  part(
    "What no tool can undo:",
    report.by_hand.map((text) => `  ${text}`),
  );
  if (dry_run)
    lines.push("Nothing was changed: this was a dry run. With --yes and the same value it is done.");
  else if (!report.complete) lines.push("NOT COMPLETE: see the files above that are left, then purge again.");
  return `${lines.join("\n")}\n`;
}
