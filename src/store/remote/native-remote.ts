/** A remote that native Git reaches: another folder, or a host by SSH. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { CommitId } from "../../domain/note.ts";
import type { ObjectId } from "../objects/object-id.ts";
import { everyObject } from "../purge/every-object.ts";
import { refusePurged } from "./refuse-purged.ts";
import {
  isMark,
  REVIEWS,
  type RefResult,
  type RefUpdate,
  type Remote,
  RemoteFailure,
  type RemoteWish,
} from "./remote.ts";
import { type GitRun, runGit } from "./run-git.ts";

interface NativeSettings extends RemoteWish {
  readonly gitdir: string;
  readonly url: string;
  /** Folder of refs under which what was fetched is kept. */
  readonly kept: string;
  readonly read: (ref: string) => CommitId | null;
  readonly isCommit: (id: CommitId) => boolean;
  /** What was purged here. */
  readonly purged: () => ReadonlySet<ObjectId>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly limitMs: number;
}

const FETCH = [
  "fetch",
  "--quiet",
  "--no-tags",
  "--no-write-fetch-head",
  "--no-recurse-submodules",
  "--no-auto-maintenance",
];

export function nativeRemote(settings: NativeSettings): Remote {
  const { gitdir, url, branch, kept, shown, read, isCommit } = settings;
  const ref = `refs/heads/${branch}`;
  const git = (...args: string[]) => runGit(gitdir, args, settings);

  /** Names first: what they hold may move before it is fetched. */
  async function refsThere(): Promise<ReadonlyMap<string, string>> {
    const run = await git("ls-remote", "--end-of-options", url, ref, `${REVIEWS}*`);
    if (run.code !== 0) throw failure(run);
    const lines = run.out.split("\n").flatMap((line) => {
      const [, id, name] = /^([0-9a-f]{40})\t(.+)$/.exec(line) ?? [];
      // A tag that is peeled has a line for each.
      return id === undefined || name === undefined || name.endsWith("^{}") ? [] : [[name, id] as const];
    });
    return new Map(lines);
  }

  /** Fetch into a folder that nobody reads, and look at what came. @throws RemoteFailure broken: something purged */
  async function lookFirst(purged: ReadonlySet<ObjectId>, refs: readonly string[]): Promise<void> {
    const folder = mkdtempSync(join(gitdir, "notesd", "incoming-"));
    try {
      const objects = join(folder, "objects");
      for (const name of ["pack", "info"]) mkdirSync(join(objects, name), { recursive: true });
      const run = await runGit(gitdir, [...FETCH, "--end-of-options", url, ...refs], {
        ...settings,
        quarantine: objects,
      });
      if (run.code !== 0) throw failure(run);
      refusePurged(purged, everyObject(folder), shown);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  return {
    shown,
    async fetch() {
      const there = await refsThere();
      const purged = settings.purged();
      const marks = [...there].flatMap(([name, id]) => (isMark(name) && !purged.has(id) ? [name] : []));
      const keptMark = (name: string) => `${kept}/review/${name.slice(REVIEWS.length)}`;
      const specs = [
        ...(there.has(ref) ? [`+${ref}:${kept}/branch`] : []),
        ...marks.map((name) => `+${name}:${keptMark(name)}`),
      ];
      if (specs.length > 0) {
        if (purged.size > 0) {
          refusePurged(purged, [there.get(ref) ?? ""], shown);
          await lookFirst(purged, [...(there.has(ref) ? [ref] : []), ...marks]);
        }
        const run = await git(...FETCH, "--end-of-options", url, ...specs);
        if (run.code !== 0) throw failure(run);
      }
      // What came is what the refs hold now: it may be newer than what was listed.
      const reviews = new Map<string, CommitId>();
      for (const name of marks) {
        const id = read(keptMark(name));
        if (id !== null && isCommit(id)) reviews.set(name, id);
      }
      const refusedMarks = [...there.keys()].filter((name) => name.startsWith(REVIEWS) && !reviews.has(name));
      const refs = { branch: there.has(ref) ? read(`${kept}/branch`) : null, reviews, refusedMarks };
      return { refs, release() {} };
    },
    async push(updates) {
      const run = await git(
        ...[
          "push",
          "--quiet",
          "--porcelain",
          "--no-verify",
          "--no-signed",
          "--recurse-submodules=no",
          "--end-of-options",
        ],
        ...[url, ...updates.map(({ ref: name, to }) => `${to}:${name}`)],
      );
      const results = resultsOf(run.out, updates);
      if (run.code !== 0 && results.every(({ kind }) => kind === "pushed")) throw failure(run);
      const told = /^remote: .*$/gm;
      const words = (run.err.match(told) ?? [])
        .map((line) => line.slice("remote: ".length).trim())
        .filter(Boolean);
      return results.map((one) =>
        one.kind === "refused" ? { ...one, why: [one.why, ...words].join("\n") } : one,
      );
    },
  };
}

/** Lines of `git push --porcelain`: flag TAB from:to TAB summary. */
function resultsOf(out: string, updates: readonly RefUpdate[]): RefResult[] {
  const lines = new Map(
    out.split("\n").flatMap((line) => {
      const [flag = "", refs = "", summary = ""] = line.split("\t");
      return summary === "" ? [] : [[refs.slice(refs.indexOf(":") + 1), { flag, summary }] as const];
    }),
  );
  return updates.map(({ ref }) => {
    const line = lines.get(ref);
    if (line === undefined || !line.flag.startsWith("!")) return { ref, kind: "pushed", why: "" };
    return { ref, kind: isRace(line.summary) ? "behind" : "refused", why: line.summary };
  });
}

/** Somebody else moved the ref, or is moving it: it is not a rule that says no. */
export const isRace = (why: string) =>
  /fetch first|non-fast-forward|stale info|failed to update ref|failed to lock|cannot lock ref|incorrect old value|already exists|reference already|remote ref updated since/i.test(
    why,
  );

/** Why Git could not reach or read the other side, in its last words. */
function failure({ err, code }: GitRun): RemoteFailure {
  const lines = err
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const why =
    lines
      .filter((line) => /^(?:fatal|error|ssh|remote):/i.test(line))
      .slice(0, 3)
      .join(" ") ||
    lines.slice(-2).join(" ") ||
    `git ended with ${code}`;
  if (
    /permission denied|authentication failed|could not read (?:username|password)|host key verification/i.test(
      err,
    )
  )
    return new RemoteFailure("denied", why);
  if (/shallow/i.test(err))
    return new RemoteFailure("broken", `${why} (a shallow remote: run git fetch --unshallow there)`);
  if (/bad object|corrupt|fsck|index-pack failed|unresolved deltas/i.test(err))
    return new RemoteFailure("broken", why);
  return new RemoteFailure("away", why);
}
