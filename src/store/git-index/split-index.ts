/**
 * Git's split index: `index` holds what differs from a shared index, and the `link` extension says which of its
 * entries are replaced (they come first, without names) and which are gone. All that Git writes is read; we write
 * the same form, so that what a group costs follows the paths that changed since the shared index was made.
 * @see gitformat-index(5), "Split index"
 */
import { ewahBytes, readEwah } from "./ewah.ts";
import {
  extensionBytes,
  headerBytes,
  type ParsedIndex,
  refuse,
  renamedEntry,
  withChecksum,
} from "./index-bytes.ts";
import {
  type Change,
  type EntryRun,
  entryBytes,
  type IndexImage,
  isExtended,
  nameOf,
  runLength,
  stageOf,
  standing,
} from "./index-image.ts";

const ID_BYTES = 20;
const NO_NAME = Buffer.alloc(0);

/** The name of the shared index that a split one stands on, 40 hex digits; null: it stands on none. */
export function sharedName({ link }: ParsedIndex): string | null {
  const name = link?.toString("hex", 0, ID_BYTES) ?? null;
  return name === null || /^0*$/.test(name) ? null : name;
}

/**
 * A split index over its shared one.
 * @throws NotesError STORAGE the two don't fit
 */
export function joinSplit(parsed: ParsedIndex, name: string, run: EntryRun): IndexImage {
  const { link, tree, resolveUndo } = parsed;
  const gone = link === null ? null : readEwah(link, ID_BYTES, runLength(run));
  const replaced = link === null || gone === null ? null : readEwah(link, gone.end, runLength(run));
  if (gone === null || replaced === null) throw refuse("is split, and its link is damaged");
  const count = runLength(parsed);
  if (replaced.positions.length > count)
    throw refuse("is split, and has fewer entries than its link replaces");
  const now = new Map<number, Buffer | null>(gone.positions.map((at) => [at, null]));
  replaced.positions.forEach((at, n) => {
    now.set(at, renamedEntry(entryBytes(parsed, n), nameAt(run, at)));
  });
  const added = new Map<string, Buffer[]>();
  for (let n = replaced.positions.length; n < count; n++) {
    const entry = entryBytes(parsed, n);
    const key = nameOf({ bytes: entry, start: 0 }).toString("latin1");
    added.set(key, [...(added.get(key) ?? []), entry]);
  }
  const keys = new Set([...[...now.keys()].map((at) => nameAt(run, at).toString("latin1")), ...added.keys()]);
  const changes = [...keys].map((text): Change => {
    const key = Buffer.from(text, "latin1");
    const { at, over } = standing({ run, changes: [] }, key);
    const kept = Array.from({ length: over }, (_, n) => {
      const entry = now.get(at + n);
      return entry === undefined ? entryBytes(run, at + n) : entry;
    });
    const entries = [...kept.filter((entry) => entry !== null), ...(added.get(text) ?? [])];
    entries.sort((a, b) => stageOf({ bytes: a, start: 0 }) - stageOf({ bytes: b, start: 0 }));
    return { key, at, over, entries };
  });
  changes.sort((a, b) => a.key.compare(b.key));
  const isPlain = changes.every(({ entries }) => !entries.some((bytes) => isExtended({ bytes, start: 0 })));
  const version = isPlain ? run.version : 3;
  return { version, run, shared: name, changes, tree, resolveUndo };
}

const nameAt = (run: EntryRun, index: number) => nameOf({ bytes: run.bytes, start: run.starts[index] ?? 0 });

/**
 * The `index` file of an image that stands on a shared index.
 * @param name 40 hex digits of the shared index, which is durable
 * @cost follows the changes, not the entries
 */
export function splitBytes(image: IndexImage, name: string): Buffer {
  const gone: number[] = [];
  const replaced: number[] = [];
  const first: Buffer[] = [];
  const then: Buffer[] = [];
  for (const { at, over, entries } of image.changes) {
    const [entry] = entries;
    if (over === 1 && entries.length === 1 && entry !== undefined) {
      replaced.push(at);
      first.push(renamedEntry(entry, NO_NAME));
      continue;
    }
    for (let n = 0; n < over; n++) gone.push(at + n);
    then.push(...entries);
  }
  const link = Buffer.concat([Buffer.from(name, "hex"), ewahBytes(gone), ewahBytes(replaced)]);
  const parts = [headerBytes(image.version, first.length + then.length), ...first, ...then];
  return withChecksum([...parts, extensionBytes("link", link), ...extensionsOf(image)]);
}

/** The extensions that we keep, as they lie in the file. */
export function extensionsOf({ tree, resolveUndo }: IndexImage): Buffer[] {
  return [
    ...(tree === null ? [] : [extensionBytes("TREE", tree.bytes)]),
    ...(resolveUndo === null ? [] : [extensionBytes("REUC", resolveUndo)]),
  ];
}
