/**
 * One group's way from drafts to a durable ref, storage §3 steps 2 to 8: build, pack, intent, locks, checks,
 * publication, sync. Trying again on a new tip is here too; what happens after the answer is `settle.ts`.
 */
import { NotesError } from "../../domain/errors.ts";
import type { CommitId } from "../../domain/note.ts";
import type { PlainFolders } from "../files/disk-look.ts";
import { dropPrepared, type PreparedFile, prepareFiles } from "../files/prepare-files.ts";
import { indexMode, indexSignature } from "../git-index/git-index.ts";
import type { Draft } from "../note-store.ts";
import { type WrittenPack, writePack } from "../objects/pack-writer.ts";
import { type HeldLocks, prepareAll } from "../refs/git-lock.ts";
import type { Prepared } from "../refs/own-locks.ts";
import { readRef } from "../refs/refs.ts";
import { refuseBusy } from "../refs/refuse-busy.ts";
import { withStorageErrors } from "../storage-error.ts";
import type { StoreParts } from "../store-parts.ts";
import { buildChain, type Chain, type Ground } from "./build-chain.ts";
import { linksOf, type NextIndex, nextIndex } from "./next-index.ts";
import { filesAsSeen, type Published, publish } from "./publication.ts";

/** Lost races after which a group is built under the locks. */
const MAX_FREE_ATTEMPTS = 6;
/** Attempts after which somebody writes the files faster than we can look. */
const MAX_ATTEMPTS = 12;

export interface PublishedGroup extends Published {
  /** Name of the intent that stands until every file is durable; null while HEAD is elsewhere. */
  readonly intent: string | null;
  readonly files: readonly PreparedFile[];
  /** Signatures of the Git index before and after, both taken under the locks; null when it isn't level. */
  readonly indexMoved: { readonly from: string; readonly to: string } | null;
}

export interface CommittedGroup {
  readonly chain: Chain;
  /** Null when every draft dropped out: nothing was written. */
  readonly published: PublishedGroup | null;
}

/**
 * Commit a group.
 *
 * @param before asked with the tip that is built on, before any file is looked at
 * @returns when the ref is durable and the Git index level with it
 * @throws NotesError REPO_BUSY, STORAGE, INVALID_PARAMS: nothing of the group was committed
 */
export function commitGroup(
  parts: StoreParts,
  drafts: readonly Draft[],
  before: (tip: CommitId | null) => Promise<void> = async () => {},
): Promise<CommittedGroup> {
  return publishBuilt(parts, async (ground) => {
    await before(ground.base);
    return buildChain(drafts, ground);
  });
}

/** What shall be published on the branch as it is; asked again when somebody moved it meanwhile. */
export type Build = (ground: Ground) => Chain | Promise<Chain>;

/**
 * Publish what is built, as `commitGroup`.
 * @returns `published` is null where the chain moves nothing
 */
export async function publishBuilt(parts: StoreParts, build: Build): Promise<CommittedGroup> {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const group = await withStorageErrors("committing", () =>
      attempt > MAX_FREE_ATTEMPTS ? underLocks(parts, build) : once(parts, build, null),
    );
    if (group !== null) return group;
  }
  throw new NotesError(
    "REPO_BUSY",
    "Notes or branch change faster than a commit can follow; try again later.",
    {
      state: "locked",
      path: parts.ref,
      retry_after_ms: 1_000,
    },
  );
}

/** Build with the locks held, so that no other Git can win again. */
async function underLocks(parts: StoreParts, build: Build): Promise<CommittedGroup | null> {
  const { locks, ref } = parts;
  const names = ["index", "HEAD", ref];
  const held = await locks.acquire(
    await prepareAll(
      locks,
      names.map((name) => [name, ""]),
    ),
  );
  try {
    return await once(parts, build, held);
  } finally {
    held.release();
  }
}

/** What a group has on disk before its commit point, to be taken back when it is lost. */
interface Written {
  pack: WrittenPack | null;
  files: readonly PreparedFile[];
  intent: string | null;
  prepared: readonly Prepared[];
}

/** One attempt; null: somebody moved the branch or a file meanwhile, and everything was taken back. */
async function once(
  parts: StoreParts,
  build: Build,
  lockedBefore: HeldLocks | null,
): Promise<CommittedGroup | null> {
  const state = parts.state();
  refuseBusy(state);
  const elsewhere = state.state === "elsewhere";
  const base = parts.branch.toBuildOn();
  const tree = base === null ? null : (await parts.log.header(base)).tree;
  const plain: PlainFolders = new Set();
  const chain = await build({
    base,
    tree,
    elsewhere,
    fileModes: parts.fileModes,
    trees: parts.trees,
    proofKey: parts.proofKey,
    look: (path) => parts.workTree.look(path, plain),
    believed: parts.workTree.base,
  });
  if (chain.tip === base || chain.tip === null) return { chain, published: null };
  parts.onStep("built");
  const written: Written = { pack: null, files: [], intent: null, prepared: [] };
  let published: UnderLocks | null = null;
  let held = lockedBefore;
  try {
    const index = await write(parts, chain, elsewhere, written, lockedBefore === null);
    if (held === null) {
      held = await parts.locks.acquire(written.prepared);
    } else {
      held.replace(parts.ref, Buffer.from(`${chain.tip}\n`));
      if (index !== null) held.replace("index", index.bytes);
    }
    parts.onStep("locked");
    published = await underTheLocks(parts, chain, written.files, index, elsewhere, held);
  } finally {
    // Locks taken by `underLocks` are its own to give back.
    if (lockedBefore === null) held?.release();
    if (published === null) await takeBack(parts, written);
  }
  if (published === null) return null;
  parts.onStep("released");
  return { chain, published: await makeDurable(parts, chain, written, published) };
}

/**
 * Steps 3 and 4 and what the locks will carry: objects, working files beside them, Git index, intent. Their
 * syncs run side by side: all are durable when this returns, and a crash before that finds no commit point.
 */
async function write(
  parts: StoreParts,
  chain: Chain,
  elsewhere: boolean,
  written: Written,
  withLocks: boolean,
): Promise<NextIndex | null> {
  const { gitdir, ref, intents } = parts;
  const packing = (async () => {
    if (chain.objects.length > 0) written.pack = await writePack(gitdir, chain.pack.finish());
  })();
  const rest = async (): Promise<NextIndex | null> => {
    if (!elsewhere) written.files = await prepareFiles(chain, intents);
    const index = nextIndex(parts, chain, written.files);
    const files = written.files.map((f) => f.intent);
    const { base: from, tip: to } = chain;
    const opening =
      elsewhere || to === null ? null : intents.open({ format: 1, ref, from, to, files, ...linksOf(chain) });
    const locking = withLocks && to !== null ? prepareLocks(parts, to, index, elsewhere) : null;
    const [intent, prepared] = await Promise.allSettled([opening, locking]);
    if (intent.status === "fulfilled") written.intent = intent.value;
    if (prepared.status === "fulfilled") written.prepared = prepared.value ?? [];
    if (intent.status === "rejected") throw intent.reason;
    if (prepared.status === "rejected") throw prepared.reason;
    return index;
  };
  const [pack, index] = await Promise.allSettled([packing, rest()]);
  if (pack.status === "rejected") throw pack.reason;
  if (index.status === "rejected") throw index.reason;
  parts.onStep("packed");
  parts.onStep("intent");
  return index.value;
}

/** Step 5, in the order in which Git takes them. */
function prepareLocks(parts: StoreParts, tip: string, index: NextIndex | null, elsewhere: boolean) {
  const { locks, gitdir, ref } = parts;
  const wanted: Parameters<typeof locks.prepare>[] = [
    ["HEAD", ""],
    [ref, `${tip}\n`],
  ];
  if (!elsewhere) wanted.unshift(["index", index?.bytes ?? "", indexMode(gitdir)]);
  return prepareAll(locks, wanted);
}

type UnderLocks = Published & Pick<PublishedGroup, "indexMoved">;

/** Steps 6 and 7, without a turn of the loop but for very many files. Null: what we built on is no more. */
async function underTheLocks(
  parts: StoreParts,
  chain: Chain,
  files: readonly PreparedFile[],
  index: NextIndex | null,
  elsewhere: boolean,
  held: HeldLocks,
): Promise<UnderLocks | null> {
  const { root, gitdir, ref, intents, onStep, foreign } = parts;
  foreign.look();
  const state = parts.state();
  refuseBusy(state);
  const moved = readRef(gitdir, ref) !== chain.base || (state.state === "elsewhere") !== elsewhere;
  if (moved || !(await filesAsSeen(root, files))) return null;
  const from = indexSignature(gitdir);
  let next = index;
  if (next !== null && from !== next.signature) {
    next = nextIndex(parts, chain, files);
    if (next !== null) held.replace("index", next.bytes);
  }
  onStep("checked");
  const readBlob = (id: string) => parts.objects.read("blob", id);
  const publication = {
    ...{ root, gitdir, ref, chain, files, intents, elsewhere, index: next !== null, onStep },
    ...{ readBlob, refMoved: foreign.settle },
  };
  const published = await publish(publication, held);
  try {
    const to = next !== null && published.indexed ? parts.index.wrote(next.index) : indexSignature(gitdir);
    foreign.settle();
    const indexMoved = published.indexed && !elsewhere ? { from, to } : null;
    return { ...published, indexMoved };
  } catch (error) {
    return { ...published, indexMoved: null, trouble: published.trouble ?? error };
  }
}

/** Step 8, before the answer. Nothing here can make the commits undone, so nothing here throws. */
async function makeDurable(
  parts: StoreParts,
  chain: Chain,
  written: Written,
  published: UnderLocks,
): Promise<PublishedGroup> {
  let trouble = published.trouble;
  const isWaitedFor = parts.durability === "full";
  const synced = parts.refSync
    .sync()
    .then(() => written.pack?.release())
    .catch((error: unknown) => {
      // The .keep stands on until the stop or the next start; the sync is owed, and done before the intent goes.
      if (isWaitedFor) trouble ??= error;
      else
        parts.troubled(
          "a commit stands, but could not be made durable yet",
          error,
          "synced again in the background",
        );
    });
  if (isWaitedFor) await synced;
  for (const { type, id, bytes } of chain.objects) {
    parts.objects.remember(type, id, Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes));
  }
  for (const { id, tree, parents, draft } of chain.commits) {
    const seconds = Math.floor(draft.atMs / 1000);
    parts.log.learn(id, { tree, parents, authoredS: seconds, committedS: seconds });
  }
  parts.onStep("durable");
  return { ...published, trouble, intent: written.intent, files: written.files };
}

async function takeBack(parts: StoreParts, { pack, files, intent, prepared }: Written): Promise<void> {
  parts.locks.discard(prepared);
  const steps = [
    () => intent !== null && parts.intents.close([intent]),
    () => dropPrepared(files, parts.intents),
    // A person's Git may have seen its objects already, and written none of its own: only the .keep goes.
    () => pack?.release(),
  ];
  for (const step of steps) {
    try {
      step();
    } catch (error) {
      parts.troubled(
        "what a write left that did not happen could not be cleared",
        error,
        "cleared at the next start",
      );
    }
  }
}
