/**
 * A store in memory: real Git objects in Maps, a working tree that tests edit. Passes the same contract suite
 * as the store on disk; nothing is durable and nothing waits.
 */
import { parseCommit } from "../../../src/domain/commit-proof.ts";
import { NotesError } from "../../../src/domain/errors.ts";
import type { Author, CommitEvents } from "../../../src/domain/event.ts";
import { blobIdOf } from "../../../src/domain/identity.ts";
import type { BlobId, CommitId, RepoPath } from "../../../src/domain/note.ts";
import { repoPath } from "../../../src/domain/note-path.ts";
import { type Advance, type AdvanceOutcome, sameEntry } from "../../../src/store/advance.ts";
import { buildCommit, checkDrafts } from "../../../src/store/commit/commit-build.ts";
import { createGitLog } from "../../../src/store/history/git-log.ts";
import type {
  Draft,
  DraftOutcome,
  FileWish,
  KeptConflict,
  NoteStore,
  RepoState,
} from "../../../src/store/note-store.ts";
import { refuseBusy } from "../../../src/store/refs/refuse-busy.ts";
import { diffEntries, entryInTree } from "../../../src/store/trees/entry-diff.ts";
import { noteFilter } from "../../../src/store/trees/note-filter.ts";
import { MemoryObjects } from "./memory-objects.ts";
import { MemoryWorkTree } from "./memory-work-tree.ts";

interface MemoryStoreOptions {
  readonly branch?: string;
  /** Default notes, memory. */
  readonly roots?: readonly string[];
  /** 32 bytes; default all zero. */
  readonly proofKey?: Uint8Array;
  /** Milliseconds since the epoch; stamps working files. */
  readonly now?: () => number;
}

/** What a person does to a memory store, for tests. */
interface MemoryPerson {
  /** Save a working file (null deletes it), as an editor would. */
  save(path: string, content: string | Uint8Array | null): void;
  /** The working file's text, or null. */
  text(path: string): string | null;
  stage(...paths: string[]): void;
  /** Commit files without proof and move the branch there; working files and base are left alone. */
  commit(
    files: Readonly<Record<string, string | null>>,
    options?: { parents?: CommitId[]; message?: string; author?: Author; atMs?: number; move?: boolean },
  ): CommitId;
  /** Move the branch, as a pull or a reset would. */
  moveTip(tip: CommitId): void;
  setState(state: RepoState | null): void;
}

export interface MemoryStore extends NoteStore {
  readonly workTree: MemoryWorkTree;
  readonly person: MemoryPerson;
  readonly objects: MemoryObjects;
}

const PERSON: Author = { name: "A Person", email: "person@example.org" };

/** Open an empty store; nothing is kept after it is dropped. */
export function openMemoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  const {
    branch = "main",
    roots = ["notes", "memory"],
    proofKey = new Uint8Array(32),
    now = Date.now,
  } = options;
  const objects = new MemoryObjects();
  const notes = noteFilter(roots);
  const workTree = new MemoryWorkTree(notes, now, () => state.state !== "elsewhere");
  workTree.blobBytes = (id) => objects.get("blob", id);
  const log = createGitLog({
    readCommit: (id) => objects.get("commit", id),
    readTree: (id) => objects.get("tree", id),
    parse: (id, raw) => parseCommit(id, raw, proofKey),
    notes,
  });
  const kept = new Map<string, KeptConflict>();
  let staged = new Map<RepoPath, BlobId | null>();
  let tip: CommitId | null = null;
  let state: RepoState = { state: "ok" };

  const readTree = (id: string) => objects.get("tree", id);
  const treeOf = async (commit: CommitId | null) =>
    commit === null ? objects.emptyTree : (await log.header(commit)).tree;

  async function build(draft: Draft, parent: CommitId | null, tree: string): Promise<CommitEvents> {
    let next = tree;
    for (const { path, bytes } of draft.files) {
      next = objects.patch(next, path, bytes === null ? null : (objects.put("blob", bytes) as BlobId));
    }
    const parents = [...(parent === null ? [] : [parent]), ...(draft.mergeParents ?? [])];
    const id = objects.put("commit", buildCommit(draft, next, parents, proofKey)) as CommitId;
    return log.eventsOf(id);
  }

  async function commit(drafts: readonly Draft[]) {
    checkDrafts(drafts);
    if (state.state !== "ok" && state.state !== "elsewhere" && state.state !== "unborn") {
      throw new NotesError("REPO_BUSY", `A ${state.state} is under way; finish or abort it.`, {
        state: state.state,
      });
    }
    const elsewhere = state.state === "elsewhere";
    const base = tip;
    const outcomes: DraftOutcome[] = [];
    const held = new Map<RepoPath, BlobId | null>();
    const placed = new Map<RepoPath, Uint8Array | null>();
    let at = tip;
    for (const draft of drafts) {
      const tree = await treeOf(at);
      const refusal = conflictOf(tree, draft.files) ?? dirtyOf(draft, held);
      if (refusal !== null) {
        outcomes.push(refusal);
        continue;
      }
      const events = await build(draft, at, tree);
      at = events.commit.id;
      outcomes.push({ kind: "committed", events, pending: [] });
      for (const { path, bytes } of draft.files) {
        if (draft.origin === "disk") held.set(path, idOf(bytes));
        placed.set(path, bytes);
      }
    }
    tip = at;
    if (tip !== null && state.state === "unborn") state = { state: "ok" };
    for (const [path, bytes] of elsewhere ? [] : placed) {
      if (workTree.blob(path) !== idOf(bytes)) workTree.put(path, bytes);
      workTree.accept(path, idOf(bytes));
    }
    return { base, tip, outcomes };
  }

  function conflictOf(tree: string, files: readonly FileWish[]): DraftOutcome | null {
    for (const { path, expected } of files) {
      const current = objects.lookUp(tree, path);
      if (current === undefined) return { kind: "blocked", path, why: "lies where no file can" };
      if (current !== expected) return { kind: "conflict", path, current };
    }
    return null;
  }

  /** Each working file must hold what is believed of it, or already what this draft wants. */
  function dirtyOf(draft: Draft, held: ReadonlyMap<RepoPath, BlobId | null>): DraftOutcome | null {
    const elsewhere = state.state === "elsewhere";
    if (elsewhere && draft.origin === "door") return null;
    const paths = draft.files.filter(({ path, bytes, onDisk }) => {
      const disk = workTree.blob(path);
      const known = held.has(path) ? held.get(path) : workTree.base(path);
      const believed = onDisk === undefined ? (known ?? null) : onDisk;
      return elsewhere || (disk !== idOf(bytes) && (draft.origin === "disk" || disk !== believed));
    });
    return paths.length > 0 ? { kind: "dirty", paths: paths.map((f) => f.path) } : null;
  }

  async function advance(wish: Advance): Promise<AdvanceOutcome> {
    refuseBusy(state);
    if (tip !== wish.from) return { kind: "lost", tip };
    if (
      wish.kind === "forward" &&
      wish.rewritten !== true &&
      tip !== null &&
      !(await log.isAncestor(tip, wish.to))
    )
      throw new NotesError("CONFLICT", `${wish.to} does not descend from ${tip}.`, { commit: wish.to });
    let next = wish.kind === "forward" ? (await log.header(wish.to)).tree : await treeOf(tip);
    const wishes = wish.kind === "merge" ? wish.files : [];
    for (const { path, expected } of wishes)
      if (!sameEntry(entryInTree(readTree, await treeOf(tip), path), expected)) return { kind: "lost", tip };
    for (const { path, entry, bytes } of [...wishes].sort(
      (a, b) => Number(a.entry !== null) - Number(b.entry !== null),
    )) {
      if (bytes !== undefined) objects.put("blob", bytes);
      next = objects.replace(next, path, entry);
    }
    const changes = await diffEntries(readTree, await treeOf(tip), next);
    const wrong = changes.find(({ path, after }) => after !== null && repoPath(path) === null);
    if (wrong !== undefined) return { kind: "blocked", path: wrong.path, why: "may not be written" };
    const isSaved = ({ path, before, after }: (typeof changes)[0]) =>
      ![before?.id ?? null, after?.id ?? null, workTree.base(path)].includes(workTree.blob(path));
    const isLeft = (change: (typeof changes)[0]) => wish.leave?.has(change.path) === true && isSaved(change);
    const dirty = changes.filter(
      (change) =>
        state.state !== "elsewhere" && (staged.has(change.path) || (isSaved(change) && !isLeft(change))),
    );
    if (dirty.length > 0) return { kind: "dirty", paths: dirty.map(({ path }) => path) };
    const left = new Set(changes.filter(isLeft).map(({ path }) => path));
    if (wish.kind === "forward") tip = wish.to;
    else {
      const raw = buildCommit(wish, next, [wish.from, wish.theirs], proofKey);
      tip = objects.put("commit", raw) as CommitId;
    }
    if (state.state === "unborn") state = { state: "ok" };
    for (const { path, after } of state.state === "elsewhere" ? [] : changes) {
      if (left.has(path)) continue;
      workTree.put(path, after === null ? null : objects.get("blob", after.id));
      if (notes.file(path)) workTree.accept(path, (after?.id ?? null) as BlobId | null);
    }
    return { kind: "moved", tip, pending: [] };
  }

  async function resolveCommit(text: string): Promise<CommitId> {
    const found = /^[0-9a-f]{7,40}$/.test(text) ? objects.commitsLike(text) : [];
    const [only] = found;
    if (only !== undefined && found.length === 1) return only;
    const many =
      found.length > 1 ? "names several commits; give more digits" : "is no commit of this repository";
    throw new NotesError("UNKNOWN_COMMIT", `${JSON.stringify(text)} ${many}.`, { commit: text });
  }

  const marks = new Map<string, CommitId>();
  const person: MemoryPerson = {
    save: (path, content) => workTree.put(path as RepoPath, toBytes(content)),
    text: (path) => workTree.text(path as RepoPath),
    stage(...paths) {
      staged = new Map((paths as RepoPath[]).map((path) => [path, workTree.blob(path)]));
    },
    commit(files, { parents, message = "by hand\n", author = PERSON, atMs = now(), move = true } = {}) {
      const all = parents ?? (tip === null ? [] : [tip]);
      let tree = all[0] === undefined ? objects.emptyTree : /^tree (.{40})/.exec(rawText(all[0]))?.[1];
      for (const [path, text] of Object.entries(files)) {
        const blob = text === null ? null : (objects.put("blob", Buffer.from(text)) as BlobId);
        tree = objects.patch(tree ?? objects.emptyTree, path, blob);
      }
      const who = `${author.name} <${author.email}> ${Math.floor(atMs / 1000)} +0000`;
      const parentLines = all.map((p) => `parent ${p}\n`).join("");
      const raw = `tree ${tree}\n${parentLines}author ${who}\ncommitter ${who}\n\n${message}`;
      const id = objects.put("commit", Buffer.from(raw)) as CommitId;
      if (move) tip = id;
      return id;
    },
    moveTip(to) {
      tip = to;
    },
    setState(next) {
      state = next ?? { state: "ok" };
    },
  };
  const rawText = (id: CommitId) => Buffer.from(objects.get("commit", id)).toString();

  return {
    branch,
    workTree,
    person,
    objects,
    tip: async () => tip,
    isShallow: false,
    state: async () => (state.state === "ok" && tip === null ? { state: "unborn" } : state),
    commit,
    advance,
    entries: async (from, to) => diffEntries(readTree, await treeOf(from), await treeOf(to)),
    entryAt: async (at, path) => entryInTree(readTree, await treeOf(at), path),
    readBlob: async (id) => objects.get("blob", id),
    blobAt: log.blobAt,
    list: log.list,
    diff: log.diff,
    history: log.history,
    commitInfo: log.info,
    resolveCommit,
    commitAt: (atMs) => log.commitAt(tip, atMs),
    isAncestor: log.isAncestor,
    followHead: async () => ({ tip, paths: [], told: false }),
    mergeBases: log.mergeBases,
    pending: () => [],
    takenBack: async () => null,
    levelIndex: async () => [],
    laggingIndex: async () => [],
    foreignGit() {},
    async roomBesideGit() {},
    async finishPush() {},
    staged: async () => new Set(state.state === "elsewhere" ? [] : staged.keys()),
    stagedTexts: async () => new Set([...staged.values()].flatMap((blob) => blob ?? [])),
    async keepConflict(conflict, bytes) {
      if (bytes !== undefined) objects.put("blob", bytes);
      const key = `${conflict.note_id}\0${conflict.theirs}`;
      if (kept.has(key)) return false;
      kept.set(key, conflict);
      return true;
    },
    async forgetConflict({ note_id, theirs }) {
      kept.delete(`${note_id}\0${theirs}`);
    },
    conflicts: async () => [...kept].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, c]) => c),
    async dropConflicts(noteId) {
      for (const [key, { note_id }] of kept) if (note_id === noteId) kept.delete(key);
    },
    reviewMark: async (name) => marks.get(name) ?? null,
    async setReviewMark(name, commit) {
      marks.set(name, commit);
    },
    close: () => workTree.flush(),
  };
}

function idOf(bytes: Uint8Array | null): BlobId | null {
  return bytes === null ? null : blobIdOf(bytes);
}

function toBytes(content: string | Uint8Array | null): Uint8Array | null {
  return typeof content === "string" ? Buffer.from(content) : content;
}
