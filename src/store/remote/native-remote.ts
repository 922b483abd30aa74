/** A remote that native Git reaches: another folder, or a host by SSH. */
import type { CommitId } from "../../domain/note.ts";
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
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly limitMs: number;
}

export function nativeRemote(settings: NativeSettings): Remote {
  const { gitdir, url, branch, kept, shown, read, isCommit } = settings;
  const ref = `refs/heads/${branch}`;
  const git = (...args: string[]) => runGit(gitdir, args, settings);

  /** Names alone: what they hold may move before it is fetched. */
  async function refsThere(): Promise<ReadonlySet<string>> {
    const run = await git("ls-remote", "--end-of-options", url, ref, `${REVIEWS}*`);
    if (run.code !== 0) throw failure(run);
    const names = run.out.split("\n").flatMap((line) => /^[0-9a-f]{40}\t(.+)$/.exec(line)?.[1] ?? []);
    // A tag that is peeled has a line for each.
    return new Set(names.filter((name) => !name.endsWith("^{}")));
  }

  return {
    shown,
    async fetch() {
      const there = await refsThere();
      const marks = [...there].filter(isMark);
      const keptMark = (name: string) => `${kept}/review/${name.slice(REVIEWS.length)}`;
      const specs = [
        ...(there.has(ref) ? [`+${ref}:${kept}/branch`] : []),
        ...marks.map((name) => `+${name}:${keptMark(name)}`),
      ];
      if (specs.length > 0) {
        const run = await git(
          ...[
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-write-fetch-head",
            "--no-recurse-submodules",
            "--no-auto-maintenance",
          ],
          ...["--end-of-options", url, ...specs],
        );
        if (run.code !== 0) throw failure(run);
      }
      // What came is what the refs hold now: it may be newer than what was listed.
      const reviews = new Map<string, CommitId>();
      for (const name of marks) {
        const id = read(keptMark(name));
        if (id !== null && isCommit(id)) reviews.set(name, id);
      }
      const refusedMarks = [...there].filter((name) => name.startsWith(REVIEWS) && !reviews.has(name));
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
