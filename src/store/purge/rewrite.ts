/**
 * The new history: objects that must go, made again without what is purged, from their leaves up. Order, dates, authors
 * and merges stay; signatures of others go, since they no longer hold. A commit that our key proved is proved again, so
 * that identity, trust and remembered requests stay what they were.
 * Invariant: what needs no change keeps its id, and nothing of the old history is touched here.
 */
import { parseCommit, signCommit } from "../../domain/commit-proof.ts";
import { NotesError } from "../../domain/errors.ts";
import type { CommitId } from "../../domain/note.ts";
import { parseHeader } from "../history/commit-header.ts";
import type { ObjectId } from "../objects/object-id.ts";
import type { GitObjects } from "../objects/objects.ts";
import { isFolder, treeNode } from "../trees/tree-node.ts";
import type { NewObjects } from "./new-objects.ts";
import { cutObject, joinObject, tagTarget } from "./raw-object.ts";
import { below, newNames, type ObjectKind, type Rewriting } from "./rewriting.ts";
import type { Survey } from "./survey.ts";

export interface Rewrite {
  /** Null: it goes. @throws NotesError STORAGE it isn't here */
  blob(id: ObjectId): ObjectId | null;
  /** Each file that stays of a root tree: its path, and its path in the new one; UTF-8. @cost the whole tree */
  paths(root: ObjectId): Iterable<readonly [string, string]>;
  /** What a ref is to hold instead; null: nothing is left of it. */
  object(id: ObjectId): Promise<ObjectId | null>;
  /** Commits that were made again so far: old id to new one. */
  readonly commits: ReadonlyMap<CommitId, CommitId>;
  /** Signatures that no longer hold and were left out. */
  readonly signatures: number;
  /** Commits with a `Note-Proof` that isn't ours: whoever's it is, it no longer holds. */
  readonly lostProofs: number;
}

interface RewriteParts {
  readonly objects: Pick<GitObjects, "find">;
  readonly survey: Pick<Survey, "tainted">;
  readonly rewriting: Rewriting;
  readonly proofKey: Uint8Array;
  readonly out: NewObjects;
}

const PROOF_LINE = /\nNote-Proof: [0-9a-f]{64}\n$/;
const PROOF_LINE_BYTES = "Note-Proof: \n".length + 64;
/** As Git finds it behind a tag's message. */
const TAG_SIGNATURE = /^-----BEGIN (?:PGP SIGNATURE|PGP MESSAGE|SSH SIGNATURE|SIGNED MESSAGE)-----/m;
/** Signatures, and copies of signed tags. */
const SIGNED = /^(?:gpgsig|mergetag)/;

export function rewriteObjects({ objects, survey, rewriting, proofKey, out }: RewriteParts): Rewrite {
  const { tainted } = survey;
  const blobs = new Map<ObjectId, ObjectId | null>();
  const trees = new Map<string, ObjectId>();
  const commits = new Map<CommitId, CommitId>();
  let signatures = 0;
  let lostProofs = 0;

  function read(kind: ObjectKind, id: ObjectId): Buffer {
    const found = objects.find(id);
    if (found?.type === kind) return found.bytes;
    throw new NotesError("STORAGE", `The ${kind} ${id} is missing. Run git fsck; nothing was changed.`, {
      object: id,
    });
  }

  function blob(id: ObjectId): ObjectId | null {
    if (!tainted.has(id)) return id;
    const known = blobs.get(id);
    if (known !== undefined) return known;
    const bytes = rewriting.blob(id, read("blob", id));
    const made = bytes === null ? null : out.add("blob", bytes);
    blobs.set(id, made);
    return made;
  }

  /** @param gone files below it that go, relative */
  function tree(id: ObjectId, gone = NOTHING): ObjectId {
    if (gone.size === 0 && !tainted.has(id)) return id;
    const key = gone.size === 0 ? id : [id, ...gone].join("\0");
    const known = trees.get(key);
    if (known !== undefined) return known;
    const entries = entriesAfter(id, gone).map(({ mode, to, newName }) => ({ mode, name: newName, id: to }));
    // Only a root is ever kept empty.
    const made = entries.length === 0 ? EMPTY_TREE : out.add("tree", treeBytes(entries));
    trees.set(key, made);
    return made;
  }

  /** What stays of a folder, with its new name and content. */
  function entriesAfter(id: ObjectId, gone: ReadonlySet<string>) {
    const kept = treeNode(read("tree", id))
      .entries()
      .flatMap((entry) => {
        const { mode } = entry;
        const text = Buffer.from(entry.name, "latin1").toString("utf8");
        if (!isFolder(mode) && gone.has(text)) return [];
        const inside = below(gone, text);
        const to = mode === "160000" ? entry.id : isFolder(mode) ? folder(entry.id, inside) : blob(entry.id);
        return to === null ? [] : [{ ...entry, to, inside }];
      });
    const names = newNames(
      rewriting,
      kept.map(({ name }) => name),
    );
    return kept.map((entry) => ({ ...entry, newName: names.get(entry.name) ?? entry.name }));
  }

  /** Null: nothing is left in it, and Git keeps no empty folders. */
  function folder(id: ObjectId, gone: ReadonlySet<string>): ObjectId | null {
    const to = tree(id, gone);
    return to === EMPTY_TREE && id !== EMPTY_TREE ? null : to;
  }

  function rootTree(id: ObjectId): ObjectId {
    const to = tree(id, goneFrom(id));
    return to === EMPTY_TREE && id !== EMPTY_TREE ? out.add("tree", Buffer.alloc(0)) : to;
  }

  function* paths(root: ObjectId): Generator<readonly [string, string]> {
    function* walk(
      id: ObjectId,
      gone: ReadonlySet<string>,
      from: string,
      to: string,
    ): Generator<readonly [string, string]> {
      for (const { name, newName, id: child, mode, inside } of entriesAfter(id, gone)) {
        const [before, after] = [from + utf8(name), to + utf8(newName)];
        if (isFolder(mode)) yield* walk(child, inside, `${before}/`, `${after}/`);
        else yield [before, after];
      }
    }
    yield* walk(root, goneFrom(root), "", "");
  }

  const goneFrom = (root: ObjectId) => new Set(rewriting.cutting?.cuts.get(root)?.keys() ?? []);

  function makeCommit(id: CommitId, raw: Buffer): CommitId {
    const { headers, message } = cutObject(raw);
    const made = headers.flatMap(({ name, bytes }) => {
      if (SIGNED.test(name)) {
        signatures++;
        return [];
      }
      const target = bytes.toString("latin1", name.length + 1, name.length + 41);
      if (name === "tree") return [Buffer.from(`tree ${rootTree(target)}\n`)];
      // As written by Git: 40 hex digits.
      if (name === "parent") return [Buffer.from(`parent ${commits.get(target as CommitId) ?? target}\n`)];
      return [rewriting.header(bytes)];
    });
    const text = message ?? Buffer.alloc(0);
    const isProved = parseCommit(id, raw, proofKey).proved !== null;
    if (!isProved) {
      if (PROOF_LINE.test(text.toString("latin1", Math.max(0, text.length - 80)))) lostProofs++;
      return out.add("commit", joinObject(made, message && rewriting.message(message))) as CommitId;
    }
    const unproved = text.subarray(0, text.length - PROOF_LINE_BYTES);
    const proved = Buffer.from(signCommit(joinObject(made, rewriting.message(unproved)), proofKey));
    // The id is that of the bytes just added.
    const to = out.add("commit", proved) as CommitId;
    if (parseCommit(to, proved, proofKey).proved === null)
      throw new NotesError("INTERNAL", `The commit ${id} can't be proved without what is purged.`);
    return to;
  }

  async function commit(wanted: CommitId): Promise<CommitId> {
    const waiting = [wanted];
    for (let id = waiting.at(-1); id !== undefined; id = waiting.at(-1)) {
      if (!tainted.has(id) || commits.has(id)) {
        waiting.pop();
        continue;
      }
      const raw = read("commit", id);
      const before = parseHeader(id, raw).parents.filter((one) => tainted.has(one) && !commits.has(one));
      if (before.length > 0) {
        waiting.push(...before);
        continue;
      }
      commits.set(id, makeCommit(id, raw));
      waiting.pop();
      await out.room();
    }
    return commits.get(wanted) ?? wanted;
  }

  async function object(id: ObjectId): Promise<ObjectId | null> {
    const kind = tainted.get(id);
    switch (kind) {
      case undefined:
        return id;
      case "blob":
        return blob(id);
      case "tree":
        return rootTree(id);
      case "commit":
        // It is one, as the survey saw.
        return commit(id as CommitId);
      case "tag":
        return tag(id);
    }
  }

  async function tag(id: ObjectId): Promise<ObjectId | null> {
    const raw = read("tag", id);
    const to = await object(tagTarget(raw).id);
    if (to === null) return null;
    const { headers, message } = cutObject(raw);
    const signed = message === null ? -1 : message.toString("latin1").search(TAG_SIGNATURE);
    if (signed >= 0) signatures++;
    const text = signed >= 0 && message !== null ? message.subarray(0, signed) : message;
    const made = headers.flatMap(({ name, bytes }) => {
      if (SIGNED.test(name)) return [];
      return [name === "object" ? Buffer.from(`object ${to}\n`) : rewriting.header(bytes)];
    });
    return out.add("tag", joinObject(made, text && rewriting.message(text)));
  }

  return {
    blob,
    paths,
    object,
    commits,
    get signatures() {
      return signatures;
    },
    get lostProofs() {
      return lostProofs;
    },
  };
}

const NOTHING: ReadonlySet<string> = new Set();
const utf8 = (name: string) => Buffer.from(name, "latin1").toString("utf8");
const EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

interface Entry {
  readonly mode: string;
  /** Raw bytes as latin1. */
  readonly name: string;
  readonly id: ObjectId;
}

/** Git sorts a folder as if its name ended in a slash; names are compared as bytes. */
function treeBytes(entries: readonly Entry[]): Buffer {
  const keyOf = ({ name, mode }: Entry) => (isFolder(mode) ? `${name}/` : name);
  const sorted = [...entries].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  return Buffer.concat(
    sorted.flatMap(({ mode, name, id }) => [
      Buffer.from(`${mode} ${name}\0`, "latin1"),
      Buffer.from(id, "hex"),
    ]),
  );
}
