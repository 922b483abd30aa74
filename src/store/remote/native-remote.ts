/** A remote that native Git reaches: another folder, or a host by SSH. */
import type { CommitId } from "../../domain/note.ts";
import {
  REVIEWS,
  type RefResult,
  type RefUpdate,
  type Remote,
  RemoteFailure,
  type RemoteRefs,
  type RemoteWish,
} from "./remote.ts";
import { type GitRun, runGit } from "./run-git.ts";

interface NativeSettings extends RemoteWish {
  readonly gitdir: string;
  readonly url: string;
  /** Folder of refs under which what was fetched is kept. */
  readonly kept: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly limitMs: number;
}

export function nativeRemote(settings: NativeSettings): Remote {
  const { gitdir, url, branch, kept, shown } = settings;
  const ref = `refs/heads/${branch}`;
  const git = (...args: string[]) => runGit(gitdir, args, settings);

  async function refsThere(): Promise<RemoteRefs> {
    const run = await git("ls-remote", "--end-of-options", url, ref, `${REVIEWS}*`);
    if (run.code !== 0) throw failure(run);
    const found = new Map<string, CommitId>();
    for (const line of run.out.split("\n")) {
      const [id = "", name = ""] = line.split("\t");
      // Checked by the expression: 40 hex digits.
      if (/^[0-9a-f]{40}$/.test(id)) found.set(name, id as CommitId);
    }
    const reviews = new Map([...found].filter(([name]) => name.startsWith(REVIEWS)));
    return { branch: found.get(ref) ?? null, reviews };
  }

  return {
    shown,
    async fetch() {
      const refs = await refsThere();
      const specs = [
        ...(refs.branch === null ? [] : [`+${ref}:${kept}/branch`]),
        ...[...refs.reviews.keys()].map((name) => `+${name}:${kept}/review/${name.slice(REVIEWS.length)}`),
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
