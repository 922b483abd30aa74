/**
 * `daemon.verify`: the index against one rebuilt from Git, blobs against their ids, working files against the
 * branch. Looks only; repairing is the reconciler's.
 */
import { NotesError } from "../domain/errors.ts";
import { blobIdOf } from "../domain/identity.ts";
import type { BlobId } from "../domain/note.ts";
import { compareInTurns } from "../index/compare.ts";
import type { NoteIndex } from "../index/note-index.ts";
import type { DiskFile, NoteStore, TreeFile } from "../store/note-store.ts";
import { isAtHome } from "../store/refs/at-home.ts";
import type { VerifyProblem } from "./notebook.ts";

interface VerifyDeps {
  readonly store: NoteStore;
  readonly index: NoteIndex;
  /** An empty index that reads files as `index` does. */
  newIndex(): NoteIndex;
}

export interface Verified {
  readonly digest: string;
  /** Empty when history could not be read through; `problems` says where. */
  readonly rebuilt: string;
  readonly equal: boolean;
  readonly problems: VerifyProblem[];
}

/**
 * Verify everything. Writes may go on: the comparison waits until both indexes stand at one head.
 * @cost all of history once, every blob of the tip once, one look at each working file
 */
export async function verifyNotebook(deps: VerifyDeps): Promise<Verified> {
  const { store, index } = deps;
  const head = index.head;
  const blobs = head === null ? [] : await blobProblems(store, await store.list(head));
  const files = await fileProblems(store);
  const { digest, rebuilt, problems } = await compare(deps);
  const twice = index.duplicates().map(({ id, kept, other, servedAs }) => ({
    kind: "duplicate_id",
    path: other,
    detail: `${id} belongs to ${kept}; this file is served as ${servedAs}. Give it an id of its own or none.`,
  }));
  const named = index.disagreements().map(({ path, reason }) => ({
    kind: "disagrees",
    path,
    detail: `${reason}. The path is what counts: correct the words, or move the file where they belong.`,
  }));
  return {
    digest,
    rebuilt,
    equal: problems.length === 0 && rebuilt === digest,
    problems: [...problems, ...blobs, ...files, ...twice, ...named],
  };
}

/** How often the two are compared between turns; under writers that never pause it is then done at once. */
const COMPARES_IN_TURNS = 5;

/** Rebuild, follow the head until level, and compare where both stand there still. */
async function compare({ store, index, newIndex }: VerifyDeps) {
  const other = newIndex();
  const read = (id: BlobId) => store.readBlob(id);
  async function follow(): Promise<void> {
    for (let from = other.head; other.head !== index.head; from = other.head) {
      const to = index.head;
      if (to === null) break;
      if (from === null) await other.rebuild(store.history(null, to), read);
      else {
        const commits = [];
        for await (const events of store.history(from, to)) commits.push(events);
        await other.apply(commits, read, to);
      }
    }
  }
  try {
    for (let left = COMPARES_IN_TURNS; left > 0; left--) {
      await follow();
      const compared = await compareInTurns(index, other);
      if (compared === null) continue;
      const problems = compared.differences.map(({ path, detail }) => ({ kind: "index", path, detail }));
      return { digest: compared.digest, rebuilt: compared.otherDigest, problems };
    }
    await follow();
  } catch (error) {
    if (!(error instanceof NotesError)) throw error;
    const problem = { kind: "corrupt", path: "", detail: `history can't be read through: ${error.message}` };
    return { digest: index.digest(), rebuilt: "", problems: [problem] };
  }
  const problems = index.differences(other).map(({ path, detail }) => ({ kind: "index", path, detail }));
  return { digest: index.digest(), rebuilt: other.digest(), problems };
}

async function blobProblems(store: NoteStore, files: readonly TreeFile[]): Promise<VerifyProblem[]> {
  const problems: VerifyProblem[] = [];
  for (const { path, blob } of files) {
    const detail = await blobFault(store, blob);
    if (detail) problems.push({ ...detail, path });
  }
  return problems;
}

async function blobFault(store: NoteStore, blob: BlobId): Promise<Omit<VerifyProblem, "path"> | null> {
  try {
    const bytes = await store.readBlob(blob);
    return blobIdOf(bytes) === blob
      ? null
      : { kind: "corrupt", detail: `blob ${blob} holds other bytes than it is named for` };
  } catch (error) {
    if (!(error instanceof NotesError)) throw error;
    const kind = error.code === "UNKNOWN_COMMIT" ? "missing" : "corrupt";
    return { kind, detail: `blob ${blob} can't be read: ${error.message}` };
  }
}

/** Working files against the tip. While HEAD is elsewhere or a merge is under way they are not the branch's. */
async function fileProblems(store: NoteStore): Promise<VerifyProblem[]> {
  const tip = await store.tip();
  if (tip === null || !isAtHome(await store.state())) return [];
  const held = new Map((await store.list(tip)).map(({ path, blob }) => [path, blob]));
  const scanned = await store.workTree.scan();
  const seen = new Set(scanned.map(({ path }) => path));
  const unscanned = [...held.keys()].filter((path) => !seen.has(path));
  const disk = [...scanned, ...(await store.workTree.scan(unscanned))];
  return disk.flatMap((file) => {
    const fault = fileFault(file, held.get(file.path) ?? null, store.workTree.base(file.path));
    return fault ? [{ ...fault, path: file.path }] : [];
  });
}

/** An edit that waits to be committed is no problem: its base is the tip. */
function fileFault(
  file: DiskFile,
  tip: BlobId | null,
  base: BlobId | null,
): Omit<VerifyProblem, "path"> | null {
  if (file.kind === "unfit") return { kind: "orphan", detail: `never committed: ${file.reason}` };
  if (file.kind === "absent") {
    return tip === null ? null : { kind: "missing", detail: "the branch holds this note, the disk does not" };
  }
  if (tip === null) return { kind: "orphan", detail: orphanDetail(base) };
  if (file.blob !== tip && file.blob === base) {
    return { kind: "stale", detail: `the file holds ${file.blob}, the branch ${tip}, and nobody edited it` };
  }
  return null;
}

const orphanDetail = (base: BlobId | null) =>
  base === null
    ? "a file that is not committed yet"
    : "the branch deleted this note, the file still lies here";
