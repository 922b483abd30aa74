/** What a purge found and did, as data: where it stands, with lines masked, and what no tool can undo. */

import { join } from "node:path";
import type { PurgeFound, PurgeLine } from "../../doors/cli/purge-report.ts";
import { readGitConfig } from "../../lib/git-config.ts";
import type { GitPlace } from "../../lib/git-dir.ts";
import type { Forms } from "../../store/purge/forms.ts";
import type { PurgeLook } from "../../store/purge/purge.ts";
import { cutObject } from "../../store/purge/raw-object.ts";
import { renamedPath } from "../../store/purge/rewriting.ts";
import { noteIdOf, type PurgeRules } from "./purge-rules.ts";

const LINE_MAX_CHARS = 120;
const MOST_LINES = 20;

/** @param roots where notes lie */
export function foundBy(
  look: PurgeLook,
  { forms, rewriting, shared }: PurgeRules,
  roots: readonly string[],
): PurgeFound {
  const { objects, survey, commits, places, refs } = look;
  const lines = places.flatMap(({ commit, path, blob, cut }): PurgeLine[] => {
    const bytes = objects.find(blob)?.bytes ?? Buffer.alloc(0);
    const note_id = noteIdOf(path, bytes, roots);
    const becomes = renamedPath(rewriting, path);
    const at = { commit, path: becomes, note_id, path_changes: becomes !== path };
    const found = linesOf(bytes, forms);
    const whole = cut || rewriting.blob(blob, bytes) === null;
    if (whole) return [{ ...at, line: null, text: "the whole note" }];
    return found.length === 0 ? [{ ...at, line: null, text: null }] : found.map((one) => ({ ...at, ...one }));
  });
  const messages = commits.flatMap((commit) => {
    if (!survey.hits.has(commit)) return [];
    const text = rewriting.message(cutObject(objects.read("commit", commit)).message ?? Buffer.alloc(0));
    return [{ commit, subject: text.toString("utf8").split("\n", 1)[0] ?? "" }];
  });
  return {
    found: survey.tainted.size > 0,
    places: lines,
    shared_with: shared,
    messages,
    rewritten_commits: commits.length,
    first_commit: commits[0] ?? null,
    objects: survey.tainted.size,
    refs: refs.map(({ ref, becomes, onlyHere }) => ({ ref, becomes, commits_only_here: onlyHere })),
  };
}

/** Lines, 1-based, with what is purged replaced. */
function linesOf(bytes: Buffer, forms: Forms): { readonly line: number; readonly text: string }[] {
  const found: { line: number; text: string }[] = [];
  for (const { start, end } of forms.ranges(bytes)) {
    const from = bytes.lastIndexOf(0x0a, Math.max(0, start - 1)) + 1;
    const next = bytes.indexOf(0x0a, end);
    const line = count(bytes.subarray(0, start)) + 1;
    if (found.at(-1)?.line === line) continue;
    const text = forms
      .replace(Buffer.from(bytes.subarray(start === 0 ? 0 : from, next < 0 ? bytes.length : next)))
      .toString("utf8");
    found.push({ line, text: text.length > LINE_MAX_CHARS ? `${text.slice(0, LINE_MAX_CHARS)}…` : text });
    if (found.length === MOST_LINES) break;
  }
  return found;
}

function count(bytes: Buffer): number {
  let lines = 0;
  for (let at = bytes.indexOf(0x0a); at >= 0; at = bytes.indexOf(0x0a, at + 1)) lines++;
  return lines;
}

/** Sentences: what a person must do elsewhere. */
export async function whatToolsCannot(place: GitPlace, branch: string): Promise<string[]> {
  const config = await readGitConfig(join(place.gitDir, "config"));
  const remotes = [...config.keys()].flatMap((key) => /^remote\.(.+)\.url$/.exec(key)?.[1] ?? []);
  return [
    "Treat the value as known to others: change it where it is used.",
    ...remotes.map(
      (name) =>
        `${name} still has the old history. Who owns it replaces ${branch} there with a push of it with Git's option --force-with-lease (and of each rewritten branch and tag), and has the host collect its garbage; sync never forces.`,
    ),
    "Every other clone, once the remote is replaced: notesd sync --accept-remote there, then purge the same value there too; or clone anew. One that holds writes which were never pushed purges first and syncs then, which joins both.",
    "Published pages, mails, forks, caches of hosts, backups and snapshots of disks keep what they have.",
  ];
}
