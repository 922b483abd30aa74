/**
 * Makes working files and their Git index entries hold what the branch holds, after somebody moved the branch
 * without them. Requests of one turn of the loop are carried out together, under one taking of the locks.
 * Invariant: a file is replaced only while it holds what the caller saw.
 */
import { promises, unlinkSync } from "node:fs";
import { NotesError } from "../../domain/errors.ts";
import type { BlobId, RepoPath } from "../../domain/note.ts";
import { fsyncFolder, orAbsent } from "../../lib/durable-file.ts";
import { type IndexEdit, indexMode } from "../git-index/git-index.ts";
import { returnAside } from "../recovery/roll-forward.ts";
import { type HeldLocks, prepareAll } from "../refs/git-lock.ts";
import { readHead } from "../refs/refs.ts";
import { refuseBusy } from "../refs/refuse-busy.ts";
import { asStorageError, withStorageErrors } from "../storage-error.ts";
import type { StoreParts } from "../store-parts.ts";
import { diskBlob, type Look } from "./disk-look.ts";
import { isVacant, lstatNow, signatureOf, signatureText } from "./file-signature.ts";
import { placeFile } from "./place.ts";
import { syncFiles } from "./sync-files.ts";

interface Request {
  readonly path: RepoPath;
  readonly tip: BlobId | null;
  readonly expected: BlobId | null;
  /** What it was known to hold when it was asked for. */
  readonly base: BlobId | null;
  readonly done: (brought: boolean) => void;
  readonly failed: (error: unknown) => void;
}

interface Ready extends Request {
  readonly look: Look;
  /** Name in `prepared/`; null: the file goes, or holds the blob already. */
  readonly prepared: string | null;
}

type BringForward = (path: RepoPath, tip: BlobId | null, expected: BlobId | null) => Promise<boolean>;

/** Files placed under one taking of the locks, without a turn of the loop: some 20 ms. */
const MOST_AT_ONCE = 256;

/** @param alone runs work while no commit is under way */
export function openBringForward(
  parts: () => StoreParts,
  alone: (work: () => Promise<void>) => Promise<void>,
): BringForward {
  let batch: Request[] = [];
  const carry = () => {
    const all = batch;
    batch = [];
    for (let start = 0; start < all.length; start += MOST_AT_ONCE) {
      const requests = all.slice(start, start + MOST_AT_ONCE);
      alone(() => bringAll(parts(), requests)).catch((error: unknown) => {
        for (const request of requests) request.failed(error);
      });
    }
  };
  return (path, tip, expected) =>
    new Promise((done, failed) => {
      if (batch.length === 0) setImmediate(carry);
      batch.push({ path, tip, expected, base: parts().table.base(path), done, failed });
    });
}

/** HEAD is at our branch and nothing is under way: the files are this branch's. */
function atOurBranch(parts: StoreParts): boolean {
  const head = readHead(parts.gitdir);
  if (head.kind !== "branch" || head.ref !== parts.ref) return false;
  try {
    refuseBusy(parts.state());
    return true;
  } catch (error) {
    if (error instanceof NotesError && error.code === "REPO_BUSY") return false;
    throw error;
  }
}

async function bringAll(parts: StoreParts, requests: readonly Request[]): Promise<void> {
  const ready: Ready[] = [];
  for (const request of requests) {
    const look = parts.workTree.look(request.path);
    if (!atOurBranch(parts) || diskBlob(look) !== request.expected) request.done(false);
    else ready.push({ ...request, look, prepared: await prepare(parts, request) });
  }
  if (ready.length === 0) return;
  try {
    const brought = await placeUnderLocks(parts, ready);
    // First the index, as under the locks: without it a file that outlived a power cut would look staged away.
    await fsyncFolder(parts.gitdir);
    await syncFiles(parts.root, brought);
    // One that the disk refused has its own answer already.
    for (const { path, done } of ready) done(brought.has(path));
  } finally {
    for (const { prepared } of ready) {
      if (prepared !== null) orAbsent(() => unlinkSync(parts.intents.prepared(prepared)));
    }
  }
}

async function prepare({ intents, objects }: StoreParts, { tip, expected }: Request): Promise<string | null> {
  if (tip === null || tip === expected) return null;
  const name = intents.newName();
  await withStorageErrors("writing a working file", () =>
    promises.writeFile(intents.prepared(name), objects.read("blob", tip), { flag: "wx" }),
  );
  return name;
}

async function placeUnderLocks(parts: StoreParts, ready: readonly Ready[]): Promise<Set<RepoPath>> {
  const { gitdir, locks, table, notes } = parts;
  const held = await locks.acquire(
    await prepareAll(locks, [
      ["index", "", indexMode(gitdir)],
      ["HEAD", ""],
    ]),
  );
  const brought = new Set<RepoPath>();
  try {
    if (!atOurBranch(parts)) return brought;
    const standing = ready.filter((one) => isAsSeen(parts, one));
    // First the index: a crash in between leaves a file to bring forward, never an old entry that looks staged.
    levelIndex(parts, standing, held);
    for (const one of standing) {
      if (!placed(parts, one)) continue;
      brought.add(one.path);
      if (notes.file(one.path)) table.setBase(one.path, one.tip);
    }
    table.write();
    parts.foreign.settle();
  } finally {
    held.release();
  }
  return brought;
}

/** Place one file; the disk's refusal of it is that request's alone. */
function placed(parts: StoreParts, one: Ready): boolean {
  try {
    return placeOne(parts, one);
  } catch (error) {
    one.failed(asStorageError(error, `placing ${one.path}`));
    return false;
  }
}

function isAsSeen({ root, table }: StoreParts, { path, look, base }: Ready): boolean {
  if (table.base(path) !== base) return false;
  const now = lstatNow(`${root}/${path}`);
  if (look.kind !== "file") return isVacant(now);
  return now !== null && signatureText(signatureOf(now)) === signatureText(signatureOf(look.stat));
}

function levelIndex(parts: StoreParts, ready: readonly Ready[], held: HeldLocks): void {
  const { index } = parts.index.read();
  const edits = ready.flatMap(({ path, tip, expected, look, prepared }): IndexEdit[] => {
    const entry = index.at(path).find((e) => e.stage === 0)?.id ?? null;
    // An entry that holds neither what lay on disk nor base is what a person staged.
    const behind = [expected, parts.workTree.base(path)].find((blob) => blob === entry);
    if (behind === undefined || behind === tip) return [];
    const file = prepared === null ? null : lstatNow(parts.intents.prepared(prepared));
    const stat = file ?? (tip !== null && look.kind === "file" ? look.stat : null);
    return [{ path, expected: behind, blob: tip, stat }];
  });
  if (edits.length === 0) return;
  const { index: next, bytes } = index.edit(edits);
  held.replace("index", bytes);
  held.publish("index");
  parts.index.wrote(next);
}

function placeOne({ root, intents }: StoreParts, { path, tip, expected, look, prepared }: Ready): boolean {
  if (tip === expected) return true;
  const replaced = look.kind === "file" ? signatureOf(look.stat) : null;
  const aside = intents.newName();
  const placed = placeFile(root, {
    path,
    replaced,
    prepared: prepared === null ? null : intents.prepared(prepared),
    aside: intents.aside(aside),
  });
  returnAside({ root, intents }, { path, replaced, aside });
  return placed === "placed";
}
