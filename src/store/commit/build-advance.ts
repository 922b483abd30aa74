/**
 * From a wish to move the branch to what will be published: the commit where it is a merge, and for every path that
 * differs what lies there now and what shall. Nothing is written here.
 * Invariant: what a person has in a file or staged, and no commit holds, refuses the move.
 */
import { NotesError } from "../../domain/errors.ts";
import type { BlobId, CommitId, RepoPath } from "../../domain/note.ts";
import { repoPath } from "../../domain/note-path.ts";
import { slicer } from "../../lib/slicer.ts";
import { type Advance, type AdvanceOutcome, type Entry, type EntryChange, sameEntry } from "../advance.ts";
import { diskBlob, isExecutable, type Look, lookAt, type PlainFolders } from "../files/disk-look.ts";
import { isLinkLike, standsAsLink } from "../files/links.ts";
import type { GitIndex } from "../git-index/git-index.ts";
import { commitId } from "../objects/object-id.ts";
import { packBuilder } from "../objects/pack-bytes.ts";
import type { StoreParts } from "../store-parts.ts";
import { diffEntries } from "../trees/entry-diff.ts";
import type { Chain, ChangedPath, Ground } from "./build-chain.ts";
import { buildCommit } from "./commit-build.ts";

export type AdvanceRefusal = Exclude<AdvanceOutcome, { readonly kind: "moved" }>;

/** A chain that moves nothing. */
export const emptyChain = (base: CommitId | null): Chain => ({
  ...{ base, tip: base, results: [], commits: [], changed: new Map(), folders: new Map(), looks: new Map() },
  ...{ pack: packBuilder(), objects: [] },
});

type Target = Pick<Chain, "pack" | "objects"> & {
  readonly tip: CommitId;
  readonly changes: readonly EntryChange[];
  readonly message: string;
};

/**
 * Build a move.
 *
 * @param ground the branch as it is now
 * @throws NotesError INVALID_PARAMS a message or tree that can't be written; UNKNOWN_COMMIT; CONFLICT no descendant
 */
export async function buildAdvance(
  parts: StoreParts,
  wish: Advance,
  ground: Pick<Ground, "base" | "tree" | "elsewhere">,
): Promise<Chain | AdvanceRefusal> {
  const { base } = ground;
  if (base !== wish.from) return { kind: "lost", tip: base };
  const target =
    wish.kind === "forward" ? await existing(parts, wish, ground.tree) : merge(parts, wish, ground);
  if ("kind" in target) return target;
  const { tip, changes, pack, objects, message } = target;
  for (const { path, after } of changes)
    if (after !== null && repoPath(path) === null)
      return {
        kind: "blocked",
        path,
        why: "is a path that may not be written: Git or a file system would take it for another",
      };
  const chain = {
    base,
    tip,
    results: [],
    commits: [],
    folders: new Map(),
    pack,
    objects,
    move: { atMs: wish.atMs, message },
  };
  if (ground.elsewhere) return { ...chain, changed: new Map(), looks: new Map() };
  const made = new Map(
    objects.flatMap(({ type, id, bytes }) => (type === "blob" ? [[id, bytes] as const] : [])),
  );
  const read = (id: string) => made.get(id) ?? parts.objects.read("blob", id);
  const seen = await lookAtAll(parts, changes, read, wish.leave ?? new Set());
  return "kind" in seen ? seen : { ...chain, ...seen };
}

async function existing(
  parts: StoreParts,
  { from, to, why, rewritten = false }: Extract<Advance, { kind: "forward" }>,
  tree: string | null,
): Promise<Target> {
  if (from !== null && !rewritten && !(await parts.log.isAncestor(from, to)))
    throw new NotesError(
      "CONFLICT",
      `${to} does not descend from the branch's tip ${from}; nothing was moved.`,
      {
        commit: to,
      },
    );
  const changes = await diffEntries(
    (id) => parts.objects.read("tree", id),
    tree,
    (await parts.log.header(to)).tree,
  );
  return { tip: to, changes, pack: packBuilder(), objects: [], message: why };
}

function merge(
  { trees, proofKey }: StoreParts,
  wish: Extract<Advance, { kind: "merge" }>,
  { tree }: Pick<Ground, "tree">,
): Target | AdvanceRefusal {
  const pack = packBuilder();
  const objects: { type: "blob" | "tree" | "commit"; id: string; bytes: Uint8Array }[] = [];
  const put = (type: "blob" | "tree" | "commit", id: string, bytes: Uint8Array) => {
    if (!pack.has(id)) objects.push({ type, id, bytes });
    pack.add(type, id, bytes);
  };
  trees.start(tree);
  // What goes makes room: a folder may come where a file was, and a file where a folder was.
  for (const { path, expected, entry, bytes } of [...wish.files].sort(
    (a, b) => Number(a.entry !== null) - Number(b.entry !== null),
  )) {
    if (!sameEntry(trees.entryAt(path), expected)) {
      trees.rollback();
      return { kind: "lost", tip: wish.from };
    }
    if (bytes !== undefined && entry !== null) put("blob", entry.id, bytes);
    trees.put(path, entry);
  }
  const root = trees.write(({ id, bytes, edit }) => {
    if (!pack.has(id)) objects.push({ type: "tree", id, bytes });
    pack.add("tree", id, bytes, edit);
  });
  const raw = buildCommit(wish, root, [wish.from, wish.theirs], proofKey);
  const tip = commitId(raw);
  put("commit", tip, raw);
  const changes = wish.files.map(({ path, expected, entry }) => ({ path, before: expected, after: entry }));
  return { tip, changes, pack, objects, message: `merge ${wish.theirs}` };
}

type Seen = Pick<Chain, "changed" | "looks" | "links">;

/** Look at every path that will change, and refuse what a person would lose. */
async function lookAtAll(
  parts: StoreParts,
  changes: readonly EntryChange[],
  read: (id: string) => Uint8Array,
  leave: ReadonlySet<RepoPath>,
): Promise<Seen | AdvanceRefusal> {
  const { notes } = parts;
  const { index } = parts.index.read();
  const changed = new Map<RepoPath, ChangedPath>();
  const looks = new Map<RepoPath, Look>();
  const links: NonNullable<Chain["links"]>[number][] = [];
  const dirty: RepoPath[] = [];
  const turn = slicer();
  let plain: PlainFolders = new Set();
  const gone: string[] = [];
  // What goes first, so that its place is free for what comes.
  for (const change of [...changes].sort((a, b) => Number(a.after !== null) - Number(b.after !== null))) {
    const { path, before, after } = change;
    const base = notes.file(path) ? parts.table.base(path) : null;
    const look = lookAt(rulesOf(parts), path, parts.table.known(path), plain);
    const indexed = indexedAs(index, change, { base, isNote: notes.file(path), look });
    if (isLinkLike(before) || isLinkLike(after)) links.push({ ...change, indexed: indexed ?? null });
    const [from, to] = [blobOf(before), blobOf(after)];
    const pause = turn();
    if (pause !== null) {
      await pause;
      plain = new Set();
    }
    const isLink = before?.mode === "120000" && standsAsLink(parts.root, path, before, read);
    if (isLink) gone.push(path);
    const wasLink = isLink || gone.some((link) => path.startsWith(`${link}/`));
    let left = false;
    if (indexed === undefined) dirty.push(path);
    else if (!wasLink) {
      const fault = faultOf(look, { from, to, base, isNote: notes.file(path) });
      left = fault === "dirty" && leave.has(path) && !isLinkLike(after);
      if (fault === "dirty" && !left) dirty.push(path);
      if (fault !== null && fault !== "dirty") return { kind: "blocked", path, why: fault };
    }
    if (from === null && to === null) continue;
    looks.set(path, wasLink ? { kind: "absent" } : look);
    changed.set(path, {
      before: from,
      after: to,
      get bytes() {
        return to === null ? null : read(to);
      },
      held: false,
      executable: after?.mode === "100755",
      later: wasLink,
      indexed: indexed ?? null,
      remode: left ? null : remodeOf(parts, look, change),
      left,
    });
  }
  return dirty.length > 0 ? { kind: "dirty", paths: dirty } : { changed, looks, links };
}

// The id of a regular file's entry is a blob.
const blobOf = (entry: Entry | null) => (entry === null || isLinkLike(entry) ? null : (entry.id as BlobId));

/** Files of every kind and size: they are compared, never adopted. */
const rulesOf = ({ root, intents }: StoreParts) => ({
  root,
  maxBytes: Number.MAX_SAFE_INTEGER,
  isPrepared: intents.isPrepared,
  nowMs: Date.now,
  anyBytes: true,
});

/**
 * What the Git index holds there: before, after or what the file was last known to hold; undefined: what a person
 * staged, a deletion too.
 */
function indexedAs(
  index: GitIndex,
  { path, before, after }: EntryChange,
  { base, isNote, look }: { base: BlobId | null; isNote: boolean; look: Look },
) {
  const entries = index.at(path);
  const [entry] = entries;
  if (entry === undefined) {
    // A note that was never placed is nobody's deletion; of other files no base is kept.
    if (before === null || (isNote && base === null)) return null;
    return after === null && look.kind === "absent" ? null : undefined;
  }
  if (entry.intentToAdd && before === null) return null;
  if (entries.length > 1 || entry.stage > 0 || entry.intentToAdd) return undefined;
  return [before?.id, after?.id, base].includes(entry.id) ? entry.id : undefined;
}

/** `dirty`, why the path can't be written, or null when it can. */
function faultOf(
  look: Look,
  {
    from,
    to,
    base,
    isNote,
  }: { from: BlobId | null; to: BlobId | null; base: BlobId | null; isNote: boolean },
): string | null {
  if (look.kind === "unfit") return look.reason;
  const disk = diskBlob(look);
  if (disk === to || disk === from) return null;
  // A file that is gone is no text that could be lost; a note that a person deleted is a deletion to adopt.
  if (disk === null) return isNote && base !== null ? "dirty" : null;
  return isNote && disk === base ? null : "dirty";
}

/** The permission that a working file must come to have; null: as it is. */
function remodeOf(
  { fileModes }: StoreParts,
  look: Look,
  { before, after }: EntryChange,
): "executable" | "plain" | null {
  if (!fileModes || after === null || isLinkLike(after)) return null;
  const wanted = after.mode === "100755";
  if (look.kind !== "file") return wanted ? "executable" : null;
  // Where the branch's mode didn't change, what a person made of the file's stays.
  if (before?.mode === after.mode || isExecutable(look) === wanted) return null;
  return wanted ? "executable" : "plain";
}
