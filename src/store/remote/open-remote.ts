/**
 * The remotes of one repository, and what is remembered of each here: refs of ours alone, which never travel.
 * `<kept>/synced` is the head of the remote that the branch took in last; a head that doesn't descend from it was
 * rewritten there.
 */
import { createHash } from "node:crypto";
import { join, resolve } from "node:path";
import { NotesError } from "../../domain/errors.ts";
import type { CommitId } from "../../domain/note.ts";
import { readGitConfig } from "../../lib/git-config.ts";
import { openRepositoryLog } from "../history/repository-log.ts";
import type { GitObjects } from "../objects/objects.ts";
import { purgedIds } from "../purge/purged-list.ts";
import { deleteLocalRef, writeLocalRef } from "../refs/local-refs.ts";
import { listRefs, readRef } from "../refs/refs.ts";
import { withStorageErrors } from "../storage-error.ts";
import type { StoreParts } from "../store-parts.ts";
import { credentialsOf, type Login } from "./credentials.ts";
import { markDiverged } from "./diverged.ts";
import { httpRemote } from "./http-remote.ts";
import { nativeRemote } from "./native-remote.ts";
import type { Remote } from "./remote.ts";
import { parseRemoteUrl, scrub } from "./remote-url.ts";

export interface OpenedRemote extends Remote {
  /** Folder of refs in which this remote's things are kept here. */
  readonly kept: string;
}

export interface Remotes {
  /**
   * @param remote a name of Git's config, a URL, or a folder
   * @throws NotesError NOT_CONFIGURED no such name; INVALID_PARAMS no URL that can be synced with
   */
  open(remote: string): Promise<OpenedRemote>;
  /** Whether Git's config has a remote of this name. */
  isNamed(remote: string): Promise<boolean>;
  /** Whether it is here, and a commit. */
  isCommit(id: CommitId): boolean;
  read(ref: string): CommitId | null;
  list(folder: string): readonly { readonly name: string; readonly id: CommitId }[];
  /** Null removes it. @throws NotesError STORAGE, REPO_BUSY */
  write(ref: string, id: CommitId | null): Promise<void>;
  /** Commits that `to` has and `after` lacks; 0 where one of them isn't here. */
  count(after: CommitId | null, to: CommitId): Promise<number>;
  /** A commit that `to` has and `after` lacks, and that was purged here; null: there is none. */
  purgedBetween(after: CommitId | null, to: CommitId): Promise<CommitId | null>;
  /**
   * Note that a remote's history was rewritten to this head, or that it no longer matters.
   * @param isSet it is the remote that is set: no other one's is told from then on
   */
  setDiverged(remote: Pick<OpenedRemote, "kept">, head: CommitId | null, isSet: boolean): Promise<void>;
}

const LIMIT_MS = 10 * 60_000;
const KEPT = "refs/notesd/remotes";

/** @param login for a remote over HTTP; null: Git's credential helper is asked */
export function openRemotes(
  parts: StoreParts,
  around: {
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly login: Login | null;
    /** Ends whatever is asked of a remote. */
    readonly signal?: AbortSignal;
  },
): Remotes {
  const { gitdir, root, ref, objects, log, locks } = parts;
  const branch = ref.slice("refs/heads/".length);

  const read = (name: string) => readRef(gitdir, name);
  const isCommit = (id: CommitId) => objects.find(id)?.type === "commit";
  const logOf = (all: GitObjects) => openRepositoryLog(parts.history, all).log;
  const whole = new Map<string, Set<CommitId>>();
  const purged = () => purgedIds(gitdir);

  const namedUrl = async (remote: string) =>
    (await readGitConfig(join(gitdir, "config"))).get(`remote.${remote}.url`)?.[0];

  async function urlOf(remote: string): Promise<string> {
    const named = await namedUrl(remote);
    if (named !== undefined) return named;
    if (/^[\w-][\w.-]*$/.test(remote))
      throw new NotesError(
        "NOT_CONFIGURED",
        `There is no remote ${remote}. Set one with notesd init --remote URL or git remote add ${remote} URL.`,
        { setting: "sync.remote" },
      );
    return remote;
  }

  return {
    async open(remote) {
      const text = await urlOf(remote);
      const { kind, url } = parseRemoteUrl(text);
      const shown = scrub(remote);
      const kept = `${KEPT}/${createHash("sha256").update(scrub(url)).digest("hex").slice(0, 16)}`;
      const common = {
        gitdir,
        branch,
        shown,
        env: around.env,
        limitMs: LIMIT_MS,
        purged,
        ...(around.signal ? { signal: around.signal } : {}),
      };
      if (kind === "native")
        return {
          kept,
          ...nativeRemote({
            ...common,
            kept,
            read,
            isCommit,
            url: /^\.\.?\//.test(url) ? resolve(root, url) : url,
          }),
        };
      const credentials = credentialsOf({ gitdir, url, given: around.login, env: around.env });
      const haves = () => [readRef(gitdir, `${kept}/synced`), readRef(gitdir, ref)].flatMap((id) => id ?? []);
      const found = whole.get(kept) ?? new Set();
      whole.set(kept, found);
      return {
        kept,
        ...httpRemote({ ...common, url, objects, log, logOf, haves, credentials, whole: found }),
      };
    },
    isNamed: async (remote) => (await namedUrl(remote)) !== undefined,
    isCommit,
    read,
    list: (folder) => listRefs(gitdir, folder),
    write: (name, id) => (id === null ? deleteLocalRef(locks, gitdir, name) : writeLocalRef(parts, name, id)),
    async count(after, to) {
      if ([after, to].some((id) => id !== null && !objects.has(id))) return 0;
      return (await log.commitsBetween(after, to)).length;
    },
    async purgedBetween(after, to) {
      const ids = purged();
      if (ids.size === 0) return null;
      return (await log.commitsBetween(after, to)).find((id) => ids.has(id)) ?? null;
    },
    setDiverged: ({ kept }, head, isSet) =>
      withStorageErrors("noting what a remote did", () => markDiverged(gitdir, kept, head, isSet)),
  };
}
